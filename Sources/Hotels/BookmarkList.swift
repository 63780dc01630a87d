package import Documents
package import JSON

/// The list of bookmarks: `{"type":"bookmarkedhotels","hotels":[ids, oldest first]}`. A value.
package struct BookmarkList: Sendable, Equatable {
  /// The canonical list's document.
  package static let documentID = DocumentID(stored: "bookmarkedhotels")
  /// The `type` of any list, canonical or an app's own.
  package static let type = "bookmarkedhotels"

  /// The bookmarked hotels, oldest first, each once.
  package private(set) var hotels: [HotelID]
  private var members: Set<HotelID>

  /// A list; repeated ids count where they stand first.
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

  /// Puts ids at the end, in order; those that the list has already stay where they are.
  package mutating func append(_ ids: some Sequence<HotelID>) {
    for id in ids where members.insert(id).inserted { hotels.append(id) }
  }

  /// Puts ids back where they were; see ``BookmarkPlace``. One that the list has stays where it is. Takes as long as
  /// the list is.
  mutating func insert(_ returning: [(id: HotelID, place: BookmarkPlace)]) {
    let anchors = returning.flatMap { [$0.place.after, $0.place.before].compactMap(\.self) }
    let found = places(of: Set(anchors))
    let coming = returning.map { item in
      (index: item.place.index(among: found) ?? item.place.number, item.id, item.place.number)
    }.sorted { ($0.index, $0.2) < ($1.index, $1.2) }
    var rest = coming[...]
    var next: [HotelID] = []
    next.reserveCapacity(hotels.count + coming.count)
    for place in 0...hotels.count {
      while let item = rest.first, item.index <= place || place == hotels.count {
        if members.insert(item.1).inserted { next.append(item.1) }
        rest.removeFirst()
      }
      if place < hotels.count { next.append(hotels[place]) }
    }
    hotels = next
  }

  /// Where these ids stand, from the oldest on, 0 being the first; without those that the list does not have.
  private func places(of ids: Set<HotelID>) -> [HotelID: Int] {
    var places: [HotelID: Int] = [:]
    for (place, id) in hotels.enumerated() where ids.contains(id) { places[id] = place }
    return places
  }

  /// The places of these ids, those that the list has, as seen from ids that stay.
  /// - Parameter leaving: ids that don't.
  func places(of ids: Set<HotelID>, leaving: Set<HotelID>) -> [HotelID: BookmarkPlace] {
    var places: [HotelID: BookmarkPlace] = [:]
    var (after, waiting) = (nil as HotelID?, [] as [HotelID])
    for (number, id) in hotels.enumerated() {
      let stays = !leaving.contains(id)
      if stays {
        for earlier in waiting { places[earlier]?.before = id }
        waiting.removeAll(keepingCapacity: true)
      }
      if ids.contains(id) {
        places[id] = BookmarkPlace(number: number, after: after, before: nil)
        waiting.append(id)
      }
      if stays { after = id }
    }
    return places
  }

  /// Takes ids out; the others keep their order.
  package mutating func remove(_ ids: Set<HotelID>) {
    guard !ids.isDisjoint(with: members) else { return }
    hotels.removeAll { ids.contains($0) }
    members.subtract(ids)
  }

  /// The ids of this list that the other does not have, in this list's order.
  package func subtracting(_ other: BookmarkList) -> [HotelID] {
    hotels.filter { !other.contains($0) }
  }

  /// All ids of all lists: those of the first in its order, then what each further one adds.
  package static func union(_ lists: some Sequence<BookmarkList>) -> BookmarkList {
    var union = BookmarkList()
    for list in lists { union.append(list.hotels) }
    return union
  }
}

extension BookmarkList {
  /// Reads the list in a stored body: its `hotels`, text or numbers as ``HotelID/init(entry:)`` reads them.
  /// Whatever else stands there, empty ids and repetitions are passed over; `hotels` that is no array is
  /// an empty list.
  /// - Throws: ``JSONError`` for a body that is no JSON.
  package init(parsing body: [UInt8]) throws(JSONError) {
    let hotels = try ParsedJSON(body, limits: .request).root["hotels"]
    var list = BookmarkList()
    if let hotels { list.append(hotels.elements.lazy.compactMap { HotelID(entry: $0) }) }
    self = list
  }

  /// The list as a document's body. Members of `former` beside `type` and `hotels` stay as they are, in
  /// their places.
  /// - Parameter former: the body that this one replaces; nil for a new list.
  /// - Throws: ``DocumentError`` with code `tooLarge`, or `invalidJSON` when `former` is no JSON.
  package func body(replacing former: [UInt8]? = nil) throws -> DocumentBody {
    var bytes: [UInt8] = [UInt8(ascii: "{")]
    var missing = ["type", "hotels"]
    if let former {
      let parsed: ParsedJSON
      do { parsed = try ParsedJSON(former, limits: .request) } catch { throw DocumentError(error) }
      for member in parsed.root.members {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        if let name = missing.first(where: { member.nameEquals($0) }) {
          append(name, to: &bytes)
          missing.removeAll { member.nameEquals($0) }
        } else {
          bytes += member.rawName
          bytes.append(UInt8(ascii: ":"))
          member.value.appendMinified(to: &bytes)
        }
      }
    }
    for name in missing {
      if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
      append(name, to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
    return try DocumentBody(parsing: bytes, limits: .request)
  }

  /// Whether the other members of a list's body leave a list room in a document.
  static func hasRoom(in former: [UInt8]) -> Bool {
    guard let empty = try? BookmarkList().body(replacing: former) else { return false }
    return (try? DocumentBody(parsing: empty.bytes, limits: .document)) != nil
  }

  /// The first ids of the list: as many as make a body of at most so many bytes.
  /// - Parameter former: the body that this one replaces; nil for a new list.
  func prefix(fitting bytes: Int, replacing former: [UInt8]?) -> BookmarkList {
    var length = (try? BookmarkList().body(replacing: former).bytes.count) ?? 0
    var count = 0
    var text: [UInt8] = []
    for id in hotels {
      text.removeAll(keepingCapacity: true)
      JSONWriter.appendString(id.text, to: &text)
      length += text.count + (count > 0 ? 1 : 0)
      guard length <= bytes else { return BookmarkList(Array(hotels.prefix(count))) }
      count += 1
    }
    return self
  }

  private func append(_ name: String, to bytes: inout [UInt8]) {
    guard name.equalsBytes(of: "hotels") else {
      bytes += #""type":"\#(Self.type)""#.utf8
      return
    }
    bytes += #""hotels":["#.utf8
    for (place, id) in hotels.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      JSONWriter.appendString(id.text, to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
  }
}

/// Where a bookmark stood in the list, so that it can come back to its place: seen from its neighbours, for others come
/// and go.
package struct BookmarkPlace: Sendable, Equatable {
  /// How many bookmarks were older.
  let number: Int
  /// The next older bookmark that stayed; nil for none.
  let after: HotelID?
  /// The next newer bookmark that stayed; nil for none.
  var before: HotelID?

  /// Where that is now.
  ///
  /// A neighbour that was bookmarked anew has moved to the end, so the one that stands earlier counts.
  /// - Parameter found: where the neighbours stand now.
  /// - Returns: nil when neither is there any more.
  func index(among found: [HotelID: Int]) -> Int? {
    guard let after else { return 0 }
    return [found[after].map { $0 + 1 }, before.flatMap { found[$0] }].compactMap(\.self).min()
  }
}

/// What bookmarks may be. Every limit is shown by `GET /v1/limits`.
///
/// How many bookmarks a store holds is bounded by its quota of documents and by ``listBytes``.
package enum BookmarkLimits {
  /// The longest body of a hotel, in bytes as stored: 64 KiB.
  package static let hotelBytes = 64 * 1024
  /// The longest body of the list, in bytes: 1 MiB, as of any document. Bookmarking stops there; a merge
  /// keeps the first ids that fit.
  package static let listBytes = 1024 * 1024
  /// Hotels and ids in one batch, together.
  package static let batchItems = 200
  /// By how many hotels, those that come and those that go, a list that is restored may differ from the present one:
  /// they change in one commit.
  package static let restoredHotels = 1_000
  /// For how long what was taken over from a guest can be undone, in seconds: 24 hours.
  package static let undoSeconds: Int64 = 86_400
  /// How many revisions of a guest's are noted at most, so that they can go again.
  package static let undoneRevisions = 4_096
  /// The most bookmarks in one page.
  package static let pageItems = 200
  /// Ids of the list that one page looks at before it ends early: bounds the reads of a page when a list
  /// names hotels that are not there.
  package static let pageScan = 2_000
}
