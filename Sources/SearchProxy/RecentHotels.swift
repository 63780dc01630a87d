import Documents
package import Hotels

/// Hotels by id, the least recently used dropped first once there are too many or they are too
/// large. A value.
package struct RecentHotels: Sendable {
  /// Hotels kept: twenty full pages of search.
  package static let defaultMaximumCount = 2_000
  /// Bytes kept, as ``cost(of:)`` counts them: 4 MiB.
  package static let defaultMaximumBytes = 4 * 1024 * 1024
  /// What a hotel costs beside its texts, in bytes: its digest, keys and places, roughly.
  package static let overheadBytes = 256

  private struct Entry {
    let hotel: Hotel
    var lastUse: UInt64
  }

  private struct Use {
    let id: HotelID
    let number: UInt64
  }

  private let maximumCount: Int
  private let maximumBytes: Int
  private var entries: [HotelID: Entry] = [:]
  /// Uses in their order. All but a hotel's last are stale; they are passed over when their turn
  /// comes.
  private var uses: [Use] = []
  /// The uses before this place are done with.
  private var firstUse = 0
  private var useNumber: UInt64 = 0

  /// The cost of all hotels kept, in bytes.
  package private(set) var bytes = 0

  /// Keeps so many hotels and bytes at most.
  package init(
    maximumCount: Int = RecentHotels.defaultMaximumCount,
    maximumBytes: Int = RecentHotels.defaultMaximumBytes
  ) {
    self.maximumCount = maximumCount
    self.maximumBytes = maximumBytes
  }

  /// The number of hotels kept.
  package var count: Int { entries.count }

  /// What a hotel counts for, in bytes.
  package static func cost(of hotel: Hotel) -> Int {
    hotel.body.bytes.count + hotel.id.text.utf8.count + overheadBytes
  }

  /// Keeps a hotel as the one used last, in place of any of the same id. One too large for all the
  /// room there is drops that of the same id and is not kept.
  package mutating func remember(_ hotel: Hotel) {
    forget(hotel.id)
    let cost = Self.cost(of: hotel)
    guard cost <= maximumBytes, maximumCount > 0 else { return }
    entries[hotel.id] = Entry(hotel: hotel, lastUse: 0)
    bytes += cost
    use(hotel.id)
    while entries.count > maximumCount || bytes > maximumBytes { dropOldest() }
  }

  /// The hotel of an id, which counts as used; nil if it is not kept.
  package mutating func hotel(_ id: HotelID) -> Hotel? {
    guard let entry = entries[id] else { return nil }
    use(id)
    return entry.hotel
  }

  private mutating func forget(_ id: HotelID) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    bytes -= Self.cost(of: entry.hotel)
  }

  private mutating func use(_ id: HotelID) {
    useNumber &+= 1
    entries[id]?.lastUse = useNumber
    uses.append(Use(id: id, number: useNumber))
    // Keeps the stale uses fewer than the live ones, so each use pays for one move at most.
    if uses.count > 64, uses.count > 2 * entries.count {
      uses = uses[firstUse...].filter { entries[$0.id]?.lastUse == $0.number }
      firstUse = 0
    }
  }

  private mutating func dropOldest() {
    while firstUse < uses.count {
      let use = uses[firstUse]
      firstUse += 1
      guard entries[use.id]?.lastUse == use.number else { continue }
      forget(use.id)
      return
    }
  }
}
