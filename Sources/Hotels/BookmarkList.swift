package import Documents
import Scheduling

/// The list of bookmarks, a value: `{"type":"bookmarkedhotels","hotels":[ids, oldest first]}`.
package struct BookmarkList: Sendable, Equatable {
  /// The id of the canonical list's document.
  package static let documentID = DocumentID(stored: "bookmarkedhotels")
  /// The `type` of every list: the canonical one, and those that apps made.
  package static let type = "bookmarkedhotels"

  /// The bookmarked hotels, oldest first, each once.
  package private(set) var hotels: [HotelID]
  private var members: Set<HotelID>

  /// Makes a list. The first occurrence of a repeated id counts.
  package init(_ hotels: [HotelID] = []) {
    var members: Set<HotelID> = []
    self.hotels = hotels.filter { members.insert($0).inserted }
    self.members = members
  }

  package static func == (left: BookmarkList, right: BookmarkList) -> Bool {
    left.hotels == right.hotels
  }

  /// Whether the list has the id.
  package func contains(_ id: HotelID) -> Bool { members.contains(id) }

  /// Appends ids in order. Ids that the list has already keep their positions.
  package mutating func append(_ ids: some Sequence<HotelID>) {
    for id in ids where members.insert(id).inserted { hotels.append(id) }
  }

  /// Inserts ids at their former positions; see ``BookmarkPosition``. An id that the list has already keeps its
  /// position. Takes time proportional to the list's length.
  mutating func insert(_ returning: [(id: HotelID, position: BookmarkPosition)]) {
    let anchors = returning.flatMap { [$0.position.after, $0.position.before].compactMap(\.self) }
    let found = indices(of: Set(anchors))
    let coming = returning.map { item in
      (
        index: item.position.index(among: found) ?? item.position.number, item.id,
        item.position.number
      )
    }.sorted { ($0.index, $0.2) < ($1.index, $1.2) }
    var rest = coming[...]
    var next: [HotelID] = []
    next.reserveCapacity(hotels.count + coming.count)
    for index in 0...hotels.count {
      while let item = rest.first, item.index <= index || index == hotels.count {
        if members.insert(item.1).inserted { next.append(item.1) }
        rest.removeFirst()
      }
      if index < hotels.count { next.append(hotels[index]) }
    }
    hotels = next
  }

  /// The indices of these ids, oldest first, from 0. Ids that the list does not have are left out.
  private func indices(of ids: Set<HotelID>) -> [HotelID: Int] {
    var indices: [HotelID: Int] = [:]
    for (index, id) in hotels.enumerated() where ids.contains(id) { indices[id] = index }
    return indices
  }

  /// The positions of those of these ids that are in a part of the list, relative to neighbours that stay in the list.
  /// - Parameter leaving: ids that do not stay.
  /// - Parameter range: indices of the list.
  func positions(
    of ids: Set<HotelID>, leaving: Set<HotelID>, in range: Range<Int>
  ) -> [HotelID: BookmarkPosition] {
    var positions: [HotelID: BookmarkPosition] = [:]
    // Neighbours may leave together, so each search goes on where the last one has ended.
    var (begun, after, next) = (0, HotelID?.none, 0)
    for number in range where ids.contains(hotels[number]) {
      after = hotels[begun..<number].last { !leaving.contains($0) } ?? after
      begun = number
      next = max(next, number + 1)
      while next < hotels.count, leaving.contains(hotels[next]) { next += 1 }
      positions[hotels[number]] = BookmarkPosition(
        number: number, after: after, before: next < hotels.count ? hotels[next] : nil)
    }
    return positions
  }

  /// Removes ids. The others keep their order.
  package mutating func remove(_ ids: Set<HotelID>) {
    guard !ids.isDisjoint(with: members) else { return }
    hotels.removeAll { ids.contains($0) }
    members.subtract(ids)
  }

  /// The ids of this list that the other does not have, in this list's order.
  package func subtracting(_ other: BookmarkList) -> [HotelID] {
    hotels.filter { !other.contains($0) }
  }

  /// Makes an empty list, for the entries of a body of so many bytes.
  init(ofBytes bytes: Int) {
    self.init()
    // To make room for 30,000 ids among as many takes some milliseconds in one piece.
    members.reserveCapacity(bytes / 12)
  }

  /// Appends the ids of a body's entries, some at least, until the slice is over: strings or numbers, as
  /// ``HotelID/init(entry:)`` reads them. Other elements, empty ids and repetitions are skipped.
  /// - Returns: whether none is left.
  mutating func take(from entries: inout JSONElements, within slice: Slice) -> Bool {
    var count = 0
    while let entry = entries.next() {
      if let id = HotelID(entry: entry), members.insert(id).inserted { hotels.append(id) }
      count += 1
      if count.isMultiple(of: Self.entriesAtOnce), slice.isOver { return false }
    }
    return true
  }

  /// After how many entries the clock is looked at.
  private static let entriesAtOnce = 64

  /// The list as a document's body. Members of `former` other than `type` and `hotels` are kept, in their order.
  /// - Parameter former: the body that this one replaces; nil for a new list.
  /// - Throws: ``DocumentError`` with code `tooLarge`, or `invalidJSON` when `former` is not JSON.
  package func body(replacing former: [UInt8]? = nil) throws -> DocumentBody {
    try DocumentBody(parsing: try text(replacing: former), limits: .request)
  }

  /// The bytes of the ``body(replacing:)``.
  func text(replacing former: [UInt8]?) throws -> [UInt8] {
    var ids: [UInt8] = []
    for (index, id) in hotels.enumerated() {
      if index > 0 { ids.append(UInt8(ascii: ",")) }
      JSONWriter.appendString(id.text, to: &ids)
    }
    return try Self.text(of: ids, replacing: former)
  }

  /// The bytes of a body.
  /// - Parameter ids: the texts of the ids, with commas between them.
  static func text(of ids: [UInt8], replacing former: [UInt8]?) throws -> [UInt8] {
    var known: ParsedJSON?
    if let former {
      do { known = try ParsedJSON(former, limits: .request) } catch { throw DocumentError(error) }
    }
    return JSONWriter.object(reserving: ids.count + 256) { writer in
      var missing = ["type", "hotels"]
      func append(_ name: String) {
        if name.equalsBytes(of: "hotels") {
          writer.member(name, raw: [UInt8(ascii: "[")] + ids + [UInt8(ascii: "]")])
        } else {
          writer.member(name, type)
        }
      }
      if let known {
        for member in known.root.members {
          if let name = missing.first(where: { member.nameEquals($0) }) {
            append(name)
            missing.removeAll { member.nameEquals($0) }
          } else {
            writer.member(member)
          }
        }
      }
      for name in missing { append(name) }
    }
  }

  /// Whether the other members of a list's body leave space for a list in a document.
  static func hasCapacity(in former: [UInt8]) -> Bool {
    guard let empty = try? BookmarkList().body(replacing: former) else { return false }
    return (try? DocumentBody(parsing: empty.bytes, limits: .document)) != nil
  }
}

/// A bookmark's former position in the list, so that an undo can restore it. It is relative to the neighbours,
/// because other bookmarks may come and go.
package struct BookmarkPosition: Sendable, Equatable {
  /// How many bookmarks were older.
  let number: Int
  /// The next older bookmark that stayed in the list; nil for none.
  let after: HotelID?
  /// The next newer bookmark that stayed in the list; nil for none.
  let before: HotelID?

  /// The index for the bookmark in the present list.
  ///
  /// A neighbour that was unbookmarked and bookmarked again has moved to the end, so the smaller index counts.
  /// - Parameter found: the present indices of the neighbours.
  /// - Returns: nil when the list has neither neighbour any more.
  func index(among found: [HotelID: Int]) -> Int? {
    guard let after else { return 0 }
    return [found[after].map { $0 + 1 }, before.flatMap { found[$0] }].compactMap(\.self).min()
  }
}
