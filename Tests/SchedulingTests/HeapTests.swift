import Testing

@testable import Scheduling

@Suite struct HeapTests {
  @Test func trimsOnceAfterEachGreatLoad() {
    let (worth, most) = (Heap.worth, 8 * Heap.worth)
    var load = Heap.Load()
    let loads = [0, 1_000, 0, worth, 1, 0, 0, most, most - worth, most - 2 * worth, 0, 0]
    #expect(
      loads.map { load.falls(to: $0) }
        == [false, false, false, false, false, true, false, false, false, true, true, false])
  }
}
