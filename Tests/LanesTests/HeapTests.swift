import Testing

@testable import Lanes

@Suite struct HeapTests {
  @Test func trimsOnceAfterEachGreatLoad() {
    var heap = Heap()
    let loads = [
      0, 1_000, 0, Heap.worth, Heap.worth / 2, 0, 0, 2 * Heap.worth, Heap.worth - 1,
      0,
    ]
    #expect(
      loads.map { heap.takesFall(to: $0) }
        == [false, false, false, false, false, true, false, false, true, false])
  }
}
