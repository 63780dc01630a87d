package import Documents
package import JSON
import Stores

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

/// Whatever lists a store holds, seen as the one canonical list, and the edits that make it so.
///
/// The canonical document may have conflicting leaves; apps made lists of their own with random ids or
/// `user::guest`, known by their type. Those are added after the canonical one, in the order of their ids,
/// and then deleted; conflicting revisions of theirs that are no lists stay as they are. A list that was
/// merged and deleted before and comes back by sync counts with its differences only; see ``BookmarkMerge``.
struct ListReconciliation {
  /// How many lists beside the canonical one are read at once; further ones wait for the next time.
  static let maximumOthers = 64
  /// How many revisions those may have together: the one that has more is the last that is read at once.
  static let maximumRevisions = 16_384

  /// The one list.
  let list: BookmarkList
  /// Whether the canonical document is live with a single leaf and alone, or no list is there at all.
  let isSettled: Bool
  private let tree: RevisionTree?
  private let former: [UInt8]?
  /// The list's latest purged revision, where there is no list.
  private let purged: RevisionID?
  private let others: [Other]

  /// A list document beside the canonical one.
  private struct Other {
    let id: DocumentID
    let tree: RevisionTree
    /// Live leaves that are no lists, or are merged another time.
    let strangers: Set<RevisionID>
  }

  /// Reads the lists of one state of a store.
  /// - Throws: the view's errors; `integrity` for a list that can't be read back.
  init(_ view: any StoreView) throws {
    let canonical = BookmarkList.documentID
    // What was merged matters where there is something to merge.
    var tree = try view.newest(canonical)
    if tree?.conflicts.isEmpty == false { tree = try view.tree(canonical) }
    let live = tree?.liveLeaves ?? []
    let former = try live.first.flatMap { leaf in
      try view.body(canonical, leaf.revision)
    }
    var list = BookmarkList()
    if let tree {
      let winner = live.first.flatMap { leaf in former.map { (leaf.revision, $0) } }
      let side = try Self.side(of: canonical, tree, in: view, winner: winner)
      if let side { list = side.list }
    }
    var others: [Other] = []
    var revisions = 0
    for id in try Self.others(in: view) where revisions < Self.maximumRevisions {
      guard let tree = try view.tree(id) else { continue }
      revisions += tree.nodes.count
      let other = Other(
        id: id, tree: tree, strangers: try Self.strangers(in: tree, of: id, in: view))
      others.append(other)
      if let side = try Self.side(of: id, tree.purging(other.strangers), in: view) {
        list = BookmarkMerge.apply(side, to: list)
      }
    }
    self.isSettled = live.count <= 1 && others.isEmpty
    // Other members than the list's own that leave no room for it stay in the document's history only.
    let hasRoom = isSettled || former.map(BookmarkList.hasRoom) ?? true
    self.former = hasRoom ? former : nil
    self.list = list
    self.tree = tree
    purged = try view.former(canonical, tree)
    self.others = others
  }

  /// The lists beside the canonical one, those that changed first, in the order of their ids.
  private static func others(in view: any StoreView) throws -> [DocumentID] {
    let lists = try view.changes(
      ofType: BookmarkList.type, after: 0, limit: Self.maximumOthers + 1)
    return lists.map(\.id).filter { $0 != BookmarkList.documentID }
      .prefix(Self.maximumOthers).sorted()
  }

  /// What of a list is written: all of it, unless lists are merged to more than a document takes. Then it is as
  /// many ids as fit, from the first on: the winner's before those that the others add. Hotels whose ids are left out
  /// stay documents.
  func fitting(_ next: BookmarkList) -> BookmarkList {
    isSettled ? next : next.prefix(fitting: BookmarkLimits.listBytes, replacing: former)
  }

  /// The edits that leave one list document with these ids: a revision below the winner, tombstones on its
  /// other leaves and on every other list. None when nothing would change.
  /// - Parameter limit: how many revision ids to keep along a branch.
  /// - Parameter now: when branches are closed.
  /// - Throws: ``DocumentError`` for a list too long to be stored at all.
  func mutations(
    writing next: BookmarkList, limit: HistoryLimits, at now: Timestamp
  ) throws -> [Mutation] {
    guard !isSettled || next != list else { return [] }
    var mutations = [
      try BookmarkMerge.write(
        try next.body(replacing: former), onto: tree, after: purged, limit: limit, at: now)
    ]
    for other in others {
      if let mutation = try Edit.deleteAllLeaves(
        other.id, in: other.tree, but: other.strangers, limit: limit)
      {
        mutations.append(mutation)
      }
    }
    return mutations
  }

  /// The live leaves of a document with conflicts that are no lists, though its winner is one, and those that are more
  /// than can be merged at once.
  private static func strangers(
    in tree: RevisionTree, of id: DocumentID, in view: any StoreView
  ) throws -> Set<RevisionID> {
    var strangers: Set<RevisionID> = []
    for (place, revision) in tree.conflicts.enumerated() {
      guard place + 1 < BookmarkMerge.leavesAtOnce else {
        strangers.insert(revision)
        continue
      }
      guard let body = try view.body(id, revision) else { continue }
      let type = try? ParsedJSON(body, limits: .request).root["type"]?.string
      if type?.equalsBytes(of: BookmarkList.type) != true { strangers.insert(revision) }
    }
    return strangers
  }

  /// - Parameter winner: a revision whose body has been read already.
  private static func side(
    of id: DocumentID, _ tree: RevisionTree, in view: any StoreView,
    winner: (revision: RevisionID, body: [UInt8])? = nil
  ) throws -> BookmarkMerge.Side? {
    let target: BookmarkMerge.Target =
      id == BookmarkList.documentID ? .sameDocument : .canonicalList
    return try BookmarkMerge.resolve(tree, target: target) { revision in
      var body = winner?.revision == revision ? winner?.body : nil
      if body == nil { body = try view.body(id, revision) }
      guard let body else {
        guard tree[revision]?.isLeaf == true else { return nil }
        throw ServiceError(
          .integrity, "A list of bookmarks can't be read", detail: "\(id) \(revision)")
      }
      do { return try BookmarkList(parsing: body) } catch {
        throw ServiceError(
          .integrity, "A list of bookmarks can't be read", detail: "\(id) \(revision) \(error)")
      }
    }
  }
}
