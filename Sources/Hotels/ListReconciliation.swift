import Documents
import Stores

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
  /// The most ids of a document's branches that are merged at once, and of other lists that are read at once. The list
  /// that exceeds the limit is the last one, and two branches are merged in any case.
  static let maximumIDs = 50_000

  /// The merged list.
  let list: BookmarkList
  /// Whether no merge is needed: the canonical document has at most one live leaf, and there is no other list.
  let isSettled: Bool
  private let tree: RevisionTree?
  /// The body that a new one replaces.
  let former: [UInt8]?
  /// The list's latest purged revision, when there is no list.
  private let purged: RevisionID?
  private let others: [Other]
  /// The ids of the other lists, also of those that are left for a later merge.
  private let otherIDs: [DocumentID]
  /// The canonical document's live leaves that are merged, but for the winner.
  private let losers: [RevisionID]
  /// The state of the store that was read; nil when there is nothing to merge.
  private let state: StoreInfo?

  /// A list document beside the canonical one, with live leaves that are not lists, or that are left for a later merge.
  private typealias Other = (id: DocumentID, tree: RevisionTree, unmergedLeaves: Set<RevisionID>)

  /// Reads the lists of one state of a store.
  /// - Parameter known: lists that were read before; the lists that are read are added.
  /// - Parameter mustBeSettled: whether to read only a store in which there is nothing to merge.
  /// - Returns: nil if there is, although there must not be.
  /// - Throws: the view's errors; `integrity` for a list that can't be read; ``StoredLists/SliceIsOver``.
  private init?(
    _ view: any StoreView, known: inout StoredLists, settled mustBeSettled: Bool
  ) throws {
    let canonical = BookmarkList.documentID
    let tree = try Self.tree(in: view)
    let live = tree?.liveLeaves ?? []
    otherIDs = try Self.others(in: view)
    isSettled = live.count <= 1 && otherIDs.isEmpty
    guard isSettled || !mustBeSettled else { return nil }
    let former = try live.first.flatMap { leaf in
      try view.body(canonical, leaf.revision)
    }
    if let former, let winner = live.first {
      _ = try known.list(canonical, winner.revision, in: view, body: former)
    }
    var list = BookmarkList()
    var unmergedLeaves: Set<RevisionID> = []
    if let tree {
      unmergedLeaves = try Self.unmergedLeaves(in: tree, of: canonical, in: view, known: &known)
      let side = try Self.side(
        of: canonical, unmergedLeaves.isEmpty ? tree : tree.purging(unmergedLeaves), in: view,
        known: &known)
      if let side { list = side.list }
    }
    losers = live.dropFirst().map(\.revision).filter { !unmergedLeaves.contains($0) }
    var others: [Other] = []
    var (revisions, ids) = (0, 0)
    for id in otherIDs where revisions < Self.maximumRevisions && ids < Self.maximumIDs {
      guard let tree = try view.tree(id) else { continue }
      revisions += tree.nodes.count
      let unmerged = try Self.unmergedLeaves(in: tree, of: id, in: view, known: &known)
      others.append((id, tree, unmerged))
      if let side = try Self.side(of: id, tree.purging(unmerged), in: view, known: &known) {
        ids += side.list.hotels.count
        list = BookmarkMerge.apply(side, to: list)
      }
    }
    state = isSettled ? nil : try view.info()
    // Other members that leave no space for the list are dropped. They stay in the document's history only.
    let hasCapacity = isSettled || former.map(BookmarkList.hasCapacity) ?? true
    self.former = hasCapacity ? former : nil
    self.list = list
    self.tree = tree
    purged = try view.former(canonical, tree)
    self.others = others
  }

  /// The canonical document's tree. A merge needs the complete history. Other reads need only its newest part.
  private static func tree(in view: any StoreView) throws -> RevisionTree? {
    let tree = try view.newest(BookmarkList.documentID)
    return tree?.conflicts.isEmpty == false ? try view.tree(BookmarkList.documentID) : tree
  }

  /// The ids of the other lists, in order. When there are too many, those that changed first.
  private static func others(in view: any StoreView) throws -> [DocumentID] {
    let lists = try view.changes(ofType: BookmarkList.type, after: 0, limit: Self.maximumOthers + 1)
    return lists.map(\.id).filter { $0 != BookmarkList.documentID }
      .prefix(Self.maximumOthers).sorted()
  }

  /// The edits that leave one list document with a body: a revision below the winner, and tombstones on its other leaves and
  /// on every other list. Empty when nothing changes.
  /// - Parameter body: the list's; nil when it does not change.
  /// - Parameter limit: how many revision ids to keep along a branch.
  /// - Parameter now: the time at which branches are closed.
  func mutations(
    writing body: DocumentBody?, limit: HistoryLimits, at now: Timestamp
  ) throws -> [Mutation] {
    guard let body else { return [] }
    var mutations = [
      try BookmarkMerge.write(
        body, onto: tree, after: purged, closing: losers, limit: limit, at: now)
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

  /// The conflicting live leaves that are left for a later merge, or, of documents but the canonical one, are no lists.
  private static func unmergedLeaves(
    in tree: RevisionTree, of id: DocumentID, in view: any StoreView, known: inout StoredLists
  ) throws -> Set<RevisionID> {
    var unmergedLeaves: Set<RevisionID> = []
    var (count, ids) = (1, 0)
    let conflicts = tree.conflicts
    if let winner = tree.winner, !conflicts.isEmpty {
      ids = try known.list(id, winner.revision, in: view)?.list.hotels.count ?? 0
    }
    for revision in conflicts {
      guard count < BookmarkMerge.leavesAtOnce, count < 2 || ids < maximumIDs else {
        unmergedLeaves.insert(revision)
        continue
      }
      guard let stored = try known.list(id, revision, in: view) else { continue }
      if stored.isTyped || id == BookmarkList.documentID {
        count += 1
        ids += stored.list.hotels.count
      } else {
        unmergedLeaves.insert(revision)
      }
    }
    return unmergedLeaves
  }

  private static func side(
    of id: DocumentID, _ tree: RevisionTree, in view: any StoreView, known: inout StoredLists
  ) throws -> BookmarkMerge.Side? {
    if let known = known.side(of: id, tree) { return known }
    let target: BookmarkMerge.Target =
      id == BookmarkList.documentID ? .sameDocument : .canonicalList
    let merge = try BookmarkMerge.begin(tree, target: target) { revision in
      if let stored = try known.list(id, revision, in: view) { return stored.list }
      guard tree[revision]?.isLeaf == true else { return nil }
      throw ServiceError(
        .integrity, "A list of bookmarks can't be read", detail: "\(id) \(revision)")
    }
    return try merge.map { try known.merge(id, tree, $0, in: view) }
  }

  /// Reads the one list of a store; nil when there is something to merge.
  /// - Parameter known: the list as it was read before. A long one is not read here.
  /// - Throws: ``StoredLists/IsLong``.
  init?(settledIn view: any StoreView, knowing known: StoredLists) throws {
    var known = known
    try self.init(view, known: &known, settled: true)
  }

  /// Reads the lists of one state of a store until the slice is over; nil when it is over before.
  /// - Parameter known: the lists that were read in slices before.
  init?(_ view: any StoreView, known: inout StoredLists) throws {
    do { try self.init(view, known: &known, settled: false) } catch is StoredLists.SliceIsOver {
      return nil
    }
  }

  /// The one list of the store as it was read, so that an update need not read it again.
  var known: StoredLists { winner.map { StoredLists(knowing: list, at: $0) } ?? .short }

  /// The list's revision; nil for a new list.
  var winner: RevisionID? { tree?.winner?.revision }

  /// Whether the lists are still in the state that was read. Other documents may have changed: who writes them all the time
  /// does not keep the lists from being merged.
  func isCurrent(in view: any StoreView) throws -> Bool {
    if try view.info() == state { return true }
    let present = try Self.tree(in: view)
    guard present == tree, try view.former(BookmarkList.documentID, present) == purged,
      try Self.others(in: view) == otherIDs
    else { return false }
    return try others.allSatisfy { try view.tree($0.id) == $0.tree }
  }
}
