import StoreTesting
import Stores
import TestSupport
import Testing

@testable import Accounts

/// Compares the bounded dictionary with a slow and simple one.
struct BoundedLRUTests {
  @Test(arguments: UInt64(1)...20)
  func itHoldsWhatAPlainListWouldHold(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let capacity = Int.random(in: 1...8, using: &generator)
    var lru = BoundedLRU<Int, Int>(capacity: capacity)
    var list: [(key: Int, value: Int)] = []
    for step in 0..<2_000 {
      let key = Int.random(in: 0..<12, using: &generator)
      let index = list.firstIndex { $0.key == key }
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<4:
        #expect(lru[key] == index.map { list[$0].value })
        if let index { list.append(list.remove(at: index)) }
      case 4..<8:
        lru[key] = step
        if let index { list.remove(at: index) }
        list.append((key, step))
        if list.count > capacity { list.removeFirst() }
      case 8:
        lru[key] = nil
        if let index { list.remove(at: index) }
      default:
        lru.removeAll { $0.isMultiple(of: 3) }
        list.removeAll { $0.value.isMultiple(of: 3) }
      }
      #expect(lru.values.count == list.count)
    }
  }
}
