package import Documents
package import JSON
import Stores

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

  /// The positions of these ids, relative to neighbours that stay in the list. Ids that the list does not have are
  /// left out.
  /// - Parameter leaving: ids that do not stay.
  func positions(of ids: Set<HotelID>, leaving: Set<HotelID>) -> [HotelID: BookmarkPosition] {
    var indices: [HotelID: BookmarkPosition] = [:]
    var (after, waiting) = (nil as HotelID?, [] as [HotelID])
    for (number, id) in hotels.enumerated() {
      let stays = !leaving.contains(id)
      if stays {
        for earlier in waiting { indices[earlier]?.before = id }
        waiting.removeAll(keepingCapacity: true)
      }
      if ids.contains(id) {
        indices[id] = BookmarkPosition(number: number, after: after, before: nil)
        waiting.append(id)
      }
      if stays { after = id }
    }
    return indices
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

  /// The union of lists: the ids of the first in its order, then the ids that each further list adds.
  package static func union(_ lists: some Sequence<BookmarkList>) -> BookmarkList {
    var union = BookmarkList()
    for list in lists { union.append(list.hotels) }
    return union
  }
}

extension BookmarkList {
  /// Reads the list from a stored body: its `hotels`, strings or numbers as ``HotelID/init(entry:)`` reads them.
  /// Other elements, empty ids and repetitions are skipped. When `hotels` is not an array, the list is empty.
  /// - Throws: ``JSONError`` for a body that is not JSON.
  package init(parsing body: [UInt8]) throws(JSONError) {
    let hotels = try ParsedJSON(body, limits: .request).root["hotels"]
    var list = BookmarkList()
    if let hotels { list.append(hotels.elements.lazy.compactMap { HotelID(entry: $0) }) }
    self = list
  }

  /// The list as a document's body. Members of `former` other than `type` and `hotels` are kept, in their order.
  /// - Parameter former: the body that this one replaces; nil for a new list.
  /// - Throws: ``DocumentError`` with code `tooLarge`, or `invalidJSON` when `former` is not JSON.
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

  /// Whether the other members of a list's body leave space for a list in a document.
  static func hasCapacity(in former: [UInt8]) -> Bool {
    guard let empty = try? BookmarkList().body(replacing: former) else { return false }
    return (try? DocumentBody(parsing: empty.bytes, limits: .document)) != nil
  }

  /// The first ids of the list: as many as fit into a body of the given size in bytes.
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
    for (index, id) in hotels.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      JSONWriter.appendString(id.text, to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
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
  var before: HotelID?

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

/// The limits of bookmarks. `GET /v1/limits` shows every one.
///
/// How many bookmarks a store holds is bounded by its quota of documents and by ``listBytes``.
package enum BookmarkLimits {
  /// The largest body of a hotel, in bytes as stored: 64 KiB.
  package static let hotelBytes = 64 * 1024
  /// The largest body of the list, in bytes: 1 MiB, as of any document. Bookmarking beyond it fails. A merge keeps
  /// the first ids that fit.
  package static let listBytes = 1024 * 1024
  /// The most items in one batch.
  package static let batchItems = 200
  /// The most hotels that restoring an earlier list may add and remove, together. They change in one commit.
  package static let restoredHotels = 1_000
  /// How long an adoption can be undone, in seconds: 24 hours.
  package static let undoSeconds: Int64 = 86_400
  /// The most adopted revisions that a receipt records for an undo.
  package static let undoneRevisions = 4_096
  /// The most bookmarks in one page.
  package static let pageItems = 200
  /// The most ids of the list that one page looks at before it ends early. This bounds the reads of a page when the
  /// list has ids of hotels that do not exist.
  package static let pageScan = 2_000
}

/// All lists of a store, read as one canonical list, and the edits that merge them into it.
///
/// The canonical document may have conflicting leaves. Apps also made lists with random ids or `user::guest`; the
/// service finds them by their type. Their ids are added after the canonical ones, in the order of the documents'
/// ids, and those documents are then deleted. Their conflicting revisions that are not lists are kept. When a list
/// that was merged and deleted comes back by sync, only its differences count; see ``BookmarkMerge``.
struct ListReconciliation {
  /// The most other lists that are read at once. Further ones are read the next time.
  static let maximumOthers = 64
  /// The most revisions of those lists, together. The list that reaches the limit is the last one that is read.
  static let maximumRevisions = 16_384

  /// The merged list.
  let list: BookmarkList
  /// Whether no merge is needed: the canonical document has at most one live leaf, and there is no other list.
  let isSettled: Bool
  private let tree: RevisionTree?
  private let former: [UInt8]?
  /// The list's latest purged revision, when there is no list.
  private let purged: RevisionID?
  private let others: [Other]

  /// A list document beside the canonical one.
  private struct Other {
    let id: DocumentID
    let tree: RevisionTree
    /// Live leaves that are not lists, or that are left for a later merge.
    let unmergedLeaves: Set<RevisionID>
  }

  /// Reads the lists of one state of a store.
  /// - Throws: the view's errors; `integrity` for a list that can't be read.
  init(_ view: any StoreView) throws {
    let canonical = BookmarkList.documentID
    // A merge needs the complete history. Other reads need only its newest part.
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
        id: id, tree: tree, unmergedLeaves: try Self.unmergedLeaves(in: tree, of: id, in: view))
      others.append(other)
      if let side = try Self.side(of: id, tree.purging(other.unmergedLeaves), in: view) {
        list = BookmarkMerge.apply(side, to: list)
      }
    }
    self.isSettled = live.count <= 1 && others.isEmpty
    // Other members that leave no space for the list are dropped. They stay in the document's history only.
    let hasCapacity = isSettled || former.map(BookmarkList.hasCapacity) ?? true
    self.former = hasCapacity ? former : nil
    self.list = list
    self.tree = tree
    purged = try view.former(canonical, tree)
    self.others = others
  }

  /// The ids of the other lists, in order. When there are too many, those that changed first.
  private static func others(in view: any StoreView) throws -> [DocumentID] {
    let lists = try view.changes(
      ofType: BookmarkList.type, after: 0, limit: Self.maximumOthers + 1)
    return lists.map(\.id).filter { $0 != BookmarkList.documentID }
      .prefix(Self.maximumOthers).sorted()
  }

  /// The part of a list that is written: all of it, unless merged lists exceed a document's limit. Then as many ids
  /// as fit, from the first on: the winner's ids before those that other lists add. Hotels whose ids are left out
  /// keep their documents.
  func fitting(_ next: BookmarkList) -> BookmarkList {
    isSettled ? next : next.prefix(fitting: BookmarkLimits.listBytes, replacing: former)
  }

  /// The edits that leave one list document with these ids: a revision below the winner, and tombstones on its
  /// other leaves and on every other list. Empty when nothing would change.
  /// - Parameter limit: how many revision ids to keep along a branch.
  /// - Parameter now: the time at which branches are closed.
  /// - Throws: ``DocumentError`` for a list that is too long to be stored.
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
        other.id, in: other.tree, but: other.unmergedLeaves, limit: limit)
      {
        mutations.append(mutation)
      }
    }
    return mutations
  }

  /// The conflicting live leaves of a list's document that are not lists, and those beyond
  /// ``BookmarkMerge/leavesAtOnce``.
  private static func unmergedLeaves(
    in tree: RevisionTree, of id: DocumentID, in view: any StoreView
  ) throws -> Set<RevisionID> {
    var unmergedLeaves: Set<RevisionID> = []
    for (index, revision) in tree.conflicts.enumerated() {
      guard index + 1 < BookmarkMerge.leavesAtOnce else {
        unmergedLeaves.insert(revision)
        continue
      }
      guard let body = try view.body(id, revision) else { continue }
      let type = try? ParsedJSON(body, limits: .request).root["type"]?.string
      if type?.equalsBytes(of: BookmarkList.type) != true { unmergedLeaves.insert(revision) }
    }
    return unmergedLeaves
  }

  /// - Parameter winner: a revision whose body was read already.
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
