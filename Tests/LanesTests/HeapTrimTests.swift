import Testing

@testable import Lanes

@Suite struct HeapTrimTests {
  @Test func trimsOnceAfterEachGreatLoad() {
    var heap = HeapTrim()
    let loads = [
      0, 1_000, 0, HeapTrim.worth, HeapTrim.worth / 2, 0, 0, 2 * HeapTrim.worth, HeapTrim.worth - 1,
      0,
    ]
    #expect(
      loads.map { heap.takesFall(to: $0) }
        == [false, false, false, false, false, true, false, false, true, false])
  }
}
