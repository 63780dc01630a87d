import Documents
import JSON
import Stores

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
    let tree = try view.tree(canonical)
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
