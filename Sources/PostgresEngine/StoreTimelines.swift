import Stores

/// The timelines of the servers that have written to a store, and the store's epoch on each.
///
/// PostgreSQL begins a higher timeline when a standby becomes the primary (see ``NewestTimeline``). A standby that was not
/// synchronous may lack the last commits of the former primary, while clients have seen them. The new primary then gives
/// their sequence numbers to other changes. So the first write on a higher timeline begins another epoch, and notes how far
/// the store reached on the timeline before. A client that has seen more starts over; all others continue.
struct StoreTimelines: Sendable, Equatable {
  /// How many former epochs are kept. Clients with positions of older ones start over.
  static let maximumFormer = 16

  /// The timeline of the last write; 0 if it is not known.
  private(set) var newest: Int64 = 0
  /// The present epoch; nil for that of the store's header, as long as there was one timeline.
  private(set) var epoch: String?
  /// The epochs on the timelines before, oldest first.
  private(set) var former: [FormerEpoch] = []

  /// A store that nobody has written to.
  init() {}

  /// Reads the column.
  /// - Parameter bytes: what ``bytes`` has returned.
  /// - Throws: `damaged` for any other bytes.
  init(_ bytes: [UInt8]) throws {
    let words = bytes.split(separator: UInt8(ascii: " ")).map {
      String(decoding: $0, as: UTF8.self)
    }
    guard let first = words.first.flatMap({ Int64($0) }) else {
      throw ServiceError.damaged("the timelines of a store can't be read")
    }
    newest = first
    epoch = words.count > 1 ? words[1] : nil
    former = words.dropFirst(2).map { word in
      let parts = word.utf8.split(separator: UInt8(ascii: ":"))
      let last = parts.last.flatMap { Int64(Substring($0)) } ?? 0
      return FormerEpoch(epoch: String(parts.first.map { Substring($0) } ?? ""), last: last)
    }
  }

  /// The column: the timeline, the epoch, and the former epochs each with its last sequence number, in words.
  var bytes: [UInt8] {
    let words = ["\(newest)"] + (epoch.map { [$0] } ?? []) + former.map { "\($0.epoch):\($0.last)" }
    return Array(words.joined(separator: " ").utf8)
  }

  /// Notes a write.
  /// - Parameter timeline: the server's timeline.
  /// - Parameter header: the store's header before the write.
  mutating func note(_ timeline: Int64, after header: StoreHeader) {
    guard timeline != newest else { return }
    defer { newest = timeline }
    guard newest > 0 else { return }
    former.append(FormerEpoch(epoch: epoch ?? header.epoch, last: header.lastSequence))
    former = former.suffix(Self.maximumFormer)
    epoch = StoreHeader.freshEpoch()
  }
}
