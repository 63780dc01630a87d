/// A dictionary that holds so many entries at most: one more drops the entry that was not asked for
/// longest. Every step takes constant time.
struct BoundedLRU<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Slot: Sendable {
    var key: Key
    var value: Value
    var older: Int?
    var newer: Int?
  }

  private let capacity: Int
  private var places: [Key: Int] = [:]
  private var slots: [Slot] = []
  private var oldest: Int?
  private var newest: Int?

  /// An empty one.
  init(capacity: Int) { self.capacity = max(1, capacity) }

  /// How many entries there are.
  var count: Int { slots.count }

  /// All values, in no order that means anything.
  var values: [Value] { slots.map(\.value) }

  /// An entry, which becomes the newest. Setting nil removes it.
  subscript(key: Key) -> Value? {
    mutating get {
      guard let place = places[key] else { return nil }
      touch(place)
      return slots[place].value
    }
    set {
      guard let newValue else { return remove(key) }
      if let place = places[key] {
        slots[place].value = newValue
        touch(place)
      } else {
        if slots.count >= capacity, let oldest { remove(slots[oldest].key) }
        places[key] = slots.count
        slots.append(Slot(key: key, value: newValue))
        link(slots.count - 1)
      }
    }
  }

  /// Removes every entry that fits; visits them all.
  mutating func removeAll(where fits: (Value) -> Bool) {
    for key in slots.filter({ fits($0.value) }).map(\.key) { remove(key) }
  }

  /// Removes every entry.
  mutating func removeAll() { self = BoundedLRU(capacity: capacity) }

  private mutating func remove(_ key: Key) {
    guard let place = places.removeValue(forKey: key) else { return }
    unlink(place)
    let last = slots.count - 1
    if place != last {
      // The last slot moves into the gap, so that slots stay dense.
      let moved = slots[last]
      slots[place] = moved
      places[moved.key] = place
      if let older = moved.older { slots[older].newer = place } else { oldest = place }
      if let newer = moved.newer { slots[newer].older = place } else { newest = place }
    }
    slots.removeLast()
  }

  private mutating func touch(_ place: Int) {
    guard newest != place else { return }
    unlink(place)
    link(place)
  }

  private mutating func link(_ place: Int) {
    slots[place].older = newest
    slots[place].newer = nil
    if let newest { slots[newest].newer = place } else { oldest = place }
    newest = place
  }

  private mutating func unlink(_ place: Int) {
    let (older, newer) = (slots[place].older, slots[place].newer)
    if let older { slots[older].newer = newer } else { oldest = newer }
    if let newer { slots[newer].older = older } else { newest = older }
  }
}
