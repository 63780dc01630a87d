/// A dictionary with a maximum number of entries. When it is full, a new entry replaces the least recently used
/// one. Reading and writing an entry take constant time.
struct BoundedLRU<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Slot: Sendable {
    var key: Key
    var value: Value
    var older: Int?
    var newer: Int?
  }

  private let capacity: Int
  private var indices: [Key: Int] = [:]
  private var slots: [Slot] = []
  private var oldest: Int?
  private var newest: Int?

  /// Makes an empty dictionary.
  init(capacity: Int) { self.capacity = max(1, capacity) }

  /// All values, in no particular order.
  var values: [Value] { slots.map(\.value) }

  /// An entry. Reading or writing it makes it the newest. Setting nil removes it.
  subscript(key: Key) -> Value? {
    mutating get {
      guard let index = indices[key] else { return nil }
      touch(index)
      return slots[index].value
    }
    set {
      guard let newValue else { return remove(key) }
      if let index = indices[key] {
        slots[index].value = newValue
        touch(index)
      } else {
        if slots.count >= capacity, let oldest { remove(slots[oldest].key) }
        indices[key] = slots.count
        slots.append(Slot(key: key, value: newValue))
        link(slots.count - 1)
      }
    }
  }

  /// Removes all entries whose values match; visits all entries.
  mutating func removeAll(where fits: (Value) -> Bool) {
    for key in slots.filter({ fits($0.value) }).map(\.key) { remove(key) }
  }

  mutating func removeAll() { self = BoundedLRU(capacity: capacity) }

  private mutating func remove(_ key: Key) {
    guard let index = indices.removeValue(forKey: key) else { return }
    unlink(index)
    let last = slots.count - 1
    if index != last {
      // The last slot moves into the gap, so that the slots stay contiguous.
      let moved = slots[last]
      slots[index] = moved
      indices[moved.key] = index
      if let older = moved.older { slots[older].newer = index } else { oldest = index }
      if let newer = moved.newer { slots[newer].older = index } else { newest = index }
    }
    slots.removeLast()
  }

  private mutating func touch(_ index: Int) {
    guard newest != index else { return }
    unlink(index)
    link(index)
  }

  private mutating func link(_ index: Int) {
    slots[index].older = newest
    slots[index].newer = nil
    if let newest { slots[newest].newer = index } else { oldest = index }
    newest = index
  }

  private mutating func unlink(_ index: Int) {
    let (older, newer) = (slots[index].older, slots[index].newer)
    if let older { slots[older].newer = newer } else { oldest = newer }
    if let newer { slots[newer].older = older } else { newest = older }
  }
}
