import Crypto
package import Documents
import Scheduling
package import Stores

/// The rule that merges the lists of a document's conflicting revisions into one. The result keeps the additions and
/// the removals of all revisions.
///
/// It is an observed-remove set (Shapiro and others, "A comprehensive study of convergent and commutative
/// replicated data types", 2011). Its state is read from the revision tree and not from marks in the document,
/// which apps would drop. An id stays if some leaf has it from a revision that added it, and no leaf without the id
/// descends from that revision. A leaf descends from its ancestors and from everything that was merged into them.
/// If the list of a revision at which branches part is no longer known, its ids count as added: a removed id may
/// come back then, but no id is lost. An id that no leaf has is never in the result.
package enum BookmarkMerge {
  /// The most live leaves that are merged at once, the winner first. If there are more, the result is merged with
  /// the next ones. This bounds the work of one transaction.
  package static let leavesAtOnce = 64
  /// The most revisions with one name (``name(of:)``) into which a branch may have been merged, the lowest ones. No two
  /// revisions share a name by chance, but a peer may send thousands, and thousands of tombstones with it.
  package static let namesakes = 4

  /// The merged list of a document's leaves.
  package struct Side: Sendable, Equatable {
    package let list: BookmarkList
    /// The part of it that was merged into the canonical list before; nil for nothing.
    package let base: BookmarkList?
  }

  /// What a branch was merged into. Its last revision has a tombstone.
  package enum Target: Sendable {
    /// A revision of the same document. The tombstone's id names it; see ``closing(_:into:)``.
    case sameDocument
    /// The canonical list. The document is another list.
    case canonicalList
  }

  /// Begins to merge the first ``leavesAtOnce`` live leaves of a document, in slices.
  /// - Parameter list: reads a revision's list; nil when the body is no longer known. It is called for live leaves,
  ///   and for inner revisions only where branches part.
  /// - Returns: nil for a document without a live leaf.
  /// - Throws: what `list` throws.
  static func begin<Failure: Error>(
    _ tree: RevisionTree, target: Target, list: (RevisionID) throws(Failure) -> BookmarkList?
  ) throws(Failure) -> ListMerge? {
    let live = tree.liveLeaves
    guard let leaf = live.first else { return nil }
    guard live.count <= leavesAtOnce else {
      let later = Set(live.dropFirst(leavesAtOnce).map(\.revision))
      return try begin(tree.purging(later), target: target, list: list)
    }
    // The usual case: there is nothing to merge.
    if target == .sameDocument, live.count == 1 {
      return ListMerge(of: try list(leaf.revision) ?? BookmarkList())
    }
    return ListMerge(try MergeGraph(tree, target: target, list: list), target)
  }

  /// Applies another document's merged list to a list.
  package static func apply(_ side: Side, to list: BookmarkList) -> BookmarkList {
    var result = list
    if let base = side.base { result.remove(Set(base.subtracting(side.list))) }
    result.append(side.list.subtracting(side.base ?? BookmarkList()))
    return result
  }

  /// Merges the lists of a store when a commit leaves the canonical list with several live leaves or writes a list
  /// under another id. Merges a hotel when a commit leaves it with several live leaves. The merge runs before that
  /// commit is acknowledged.
  ///
  /// A merge that fails (the store or the disk is full), or before which the process ends, loses nothing. The leaves
  /// stay, readers see them merged, and the next such commit, change of bookmarks or opening of the store tries again.
  ///
  /// When damage destroyed a revision of the list, the list is repaired; see ``restoreList(of:after:at:)``.
  /// - Parameter now: the stores' clock.
  package static func follower(now: @escaping @Sendable () -> Timestamp) -> CommitFollower {
    CommitFollower(
      concerns: { concerns($0) },
      follow: { store, ids, context in
        // If lists can't be merged, hotels can.
        do { try await store.mergeLists(at: now(), as: context) } catch is DocumentError {}
        // In other databases the owners resolve conflicts.
        if case .named = store.name { return }
        let hotels = ids.filter { $0 != BookmarkList.documentID }
        try await store.mergeHotels(hotels, at: now(), as: context)
      },
      restore: { store, damage in
        try await restoreList(of: store, after: damage, at: now())
      })
  }

  /// Whether the conflicts of a document are merged in a store, as ``follower(now:)`` does it.
  /// - Parameter body: one of its revisions.
  package static func merges(_ body: DocumentBody, in store: StoreName) -> Bool {
    if case .named = store { return false }
    guard let type = body.type else { return false }
    // A list under another id is merged into the canonical one.
    return type.equalsBytes(of: Hotel.type) || type.equalsBytes(of: BookmarkList.type)
  }

  /// Whether a mutation leaves something to merge. A merge's own commit does not: it leaves one live leaf and
  /// tombstones. If it leaves more leaves than it can merge at once, the next run finds nothing to write.
  static func concerns(_ mutation: Mutation) -> Bool {
    guard mutation.id != BookmarkList.documentID else { return mutation.tree.openLeafCount > 1 }
    guard let winner = mutation.tree.winner, !winner.isDeleted else { return false }
    // After a deletion another leaf wins. It may be a list, and its body is not available here.
    guard let body = mutation.body(of: winner.revision) else { return true }
    guard let type = body.type else { return false }
    return type.equalsBytes(of: BookmarkList.type)
      || type.equalsBytes(of: Hotel.type) && mutation.tree.openLeafCount > 1
  }

  /// The edit that gives a list or a hotel one live revision. It adds a revision below the winner (below the
  /// tombstone of a deleted document; the first one of a new document). It adds tombstones that name this revision
  /// on the other live leaves, up to ``leavesAtOnce`` leaves in all.
  ///
  /// It depends on the tree's leaves and the body alone, so that a replay elsewhere makes the same revisions.
  /// Branches that were closed long ago are removed; see ``RevisionTree/shrinkClosedBranches(on:unrecorded:)``.
  /// - Parameter losers: the leaves to close, if not all of them.
  /// - Parameter former: the revision from which a list that does not exist continues; see
  ///   ``PurgedRevisions/latest``.
  /// - Parameter limit: how much history to keep.
  /// - Parameter now: the time at which branches are closed.
  /// - Throws: `invalidRevision` for a leaf in the last generation.
  package static func write(
    _ body: DocumentBody, of id: DocumentID = BookmarkList.documentID, onto tree: RevisionTree?,
    after former: RevisionID? = nil, closing losers: [RevisionID]? = nil,
    limit: HistoryLimits,
    at now: Timestamp
  ) throws -> Mutation {
    let live = (tree?.liveLeaves ?? []).prefix(leavesAtOnce).map(\.revision)
    let merged = try Edit.put(
      id, in: tree, base: live.first, after: former, body: body, limit: limit)
    var joined = merged.tree
    if live.count > 2 { joined.prepareForMany() }
    var closed: [RevisionID] = []
    for loser in losers ?? Array(live.dropFirst()) {
      let tombstone = closing(loser, into: merged.revision)
      guard tombstone.generation <= RevisionID.maximumGeneration else {
        throw DocumentError(.invalidRevision, "The document has no generation left")
      }
      try joined.insert(tombstone, below: loser, isDeleted: true, within: limit)
      closed.append(tombstone)
    }
    joined.prune(to: limit)
    let removesClosedBranches = joined.shrinkClosedBranches(on: now.day)
    var mutation = Mutation(id: id, tree: joined, revision: merged.revision, body: body)
    mutation.closed = closed.filter { joined[$0] != nil }
    mutation.removesClosedBranches = removesClosedBranches
    return mutation
  }

  /// The id of the tombstone that closes a losing leaf. The tombstone's body is empty. Its id names the revision
  /// that the leaf was merged into, so that every replica of the tree knows it.
  ///
  /// Layout of the digest: the merged revision's name (see ``name(of:)``), then the first 8 bytes of the
  /// SHA-256 over the byte 2, the leaf's id as text, the byte 0, the merged revision's id as text.
  static func closing(_ loser: RevisionID, into merged: RevisionID) -> RevisionID {
    let text = [2] + Array(loser.description.utf8) + [0] + Array(merged.description.utf8)
    let check = Hex.string(Array(SHA256.hash(data: text)).prefix(8))
    return RevisionID(generation: loser.generation + 1, digest: name(of: merged) + check)
  }

  /// The part of a revision that a tombstone's id contains: the first 16 digits of its digest.
  static func name(of revision: RevisionID) -> Substring { revision.digest.text.prefix(16) }
}

/// The origin of the live revisions of a list's document: the branches of its tree, and the merges that tombstones
/// name (``BookmarkMerge/closing(_:into:)``).
///
/// The graph holds the revisions whose lists decide a merge: the live leaves, and those at which edges part. Edges
/// lead from lower generations to higher ones only, so that a forged tombstone can't make a cycle.
struct MergeGraph: Sendable {
  /// A revision with its list.
  struct Node: Sendable {
    /// Its list; nil for an inner revision whose body is no longer known.
    let list: BookmarkList?
    /// The indices of the nearest nodes from which it was made.
    let sources: [Int]
    /// The heads that descend from it, or are it.
    let heads: Heads
    /// Whether it has a child that is a tombstone without a successor.
    let isClosed: Bool
  }

  /// A set of live leaves: bit 0 is the winner. The highest bit is ``merged``.
  typealias Heads = UInt128

  /// Stands for the other document into which a list's document was merged.
  static let merged: Heads = 1 << 127

  /// Lower generations first.
  private(set) var nodes: [Node] = []
  /// The indices of the live leaves, winner first.
  private(set) var heads: [Int] = []
  /// The indices of the live leaves, those with the most ancestors first. Of equals, the winner comes first.
  private(set) var headsByAncestry: [Int] = []

  /// An empty graph.
  init() {}

  /// Builds the graph of a tree.
  /// - Parameter target: what tombstones say that branches were merged into.
  /// - Parameter list: reads a revision's list; nil when the body is no longer known.
  /// - Throws: what `list` throws.
  init<Failure: Error>(
    _ tree: RevisionTree, target: BookmarkMerge.Target,
    list: (RevisionID) throws(Failure) -> BookmarkList?
  ) throws(Failure) {
    let edges = MergeEdges(tree, target: target)
    var headIndices: [Int: Int] = [:]
    // For a revision that is not a node: the nodes from which it was made.
    var standIns = [[Int]](repeating: [], count: tree.nodes.count)
    for index in edges.order where edges.heads[index] & ~Self.merged != 0 {
      let sources = Set(edges.parents[index].flatMap { standIns[$0] }).sorted()
      let isHead = edges.isHead(index)
      guard isHead || edges.parts[index] > 1 || (edges.isClosed[index] && target == .canonicalList)
      else {
        standIns[index] = sources
        continue
      }
      let known = try list(tree.nodes[index].revision)
      standIns[index] = [nodes.count]
      if isHead { headIndices[index] = nodes.count }
      nodes.append(
        Node(
          list: known ?? (isHead ? BookmarkList() : nil), sources: sources,
          heads: edges.heads[index],
          isClosed: edges.isClosed[index]))
    }
    heads = edges.live.compactMap { headIndices[$0] }
    headsByAncestry = edges.headsByAncestry.compactMap { headIndices[$0] }
  }
}

/// The edges of a tree and of its merges, by a revision's index in the tree.
private struct MergeEdges {
  /// The revisions from which each was made.
  var parents: [[Int]]
  /// How many of its children lead to a head.
  var parts: [Int]
  /// The heads that descend from it.
  var heads: [MergeGraph.Heads]
  /// Whether it has a child that is a tombstone without a successor.
  var isClosed: [Bool]
  /// Lower generations first.
  let order: [Int]
  /// The live leaves, winner first.
  let live: [Int]

  init(_ tree: RevisionTree, target: BookmarkMerge.Target) {
    let nodes = tree.nodes
    parents = nodes.map { $0.parent.map { [$0] } ?? [] }
    parts = Array(repeating: 0, count: nodes.count)
    heads = Array(repeating: 0, count: nodes.count)
    isClosed = Array(repeating: false, count: nodes.count)
    order = nodes.indices.sorted { nodes[$0].revision < nodes[$1].revision }
    live = order.reversed().filter { nodes[$0].isLeaf && !nodes[$0].isDeleted }
    for (bit, index) in live.enumerated() { heads[index] = 1 << MergeGraph.Heads(bit) }
    addMerges(of: nodes, target: target)
    for index in order.reversed() where heads[index] != 0 {
      for parent in parents[index] {
        heads[parent] |= heads[index]
        if heads[index] & ~MergeGraph.merged != 0 { parts[parent] += 1 }
      }
    }
  }

  func isHead(_ index: Int) -> Bool { live.contains(index) }

  /// The live leaves, those with the most ancestors first. Of equals, the winner comes first.
  var headsByAncestry: [Int] {
    let counts = live.indices.map { bit in heads.count { $0 & (1 << MergeGraph.Heads(bit)) != 0 } }
    return live.indices.sorted { (counts[$1], $0) < (counts[$0], $1) }.map { live[$0] }
  }

  private mutating func addMerges(of nodes: [RevisionTree.Node], target: BookmarkMerge.Target) {
    var byName: [Substring: [Int]] = [:]
    for index in order where !nodes[index].isDeleted {
      let name = BookmarkMerge.name(of: nodes[index].revision)
      guard byName[name]?.count ?? 0 < BookmarkMerge.namesakes else { continue }
      byName[name, default: []].append(index)
    }
    for tombstone in nodes where tombstone.isLeaf && tombstone.isDeleted {
      guard let loser = tombstone.parent else { continue }
      isClosed[loser] = true
      guard target == .sameDocument else {
        heads[loser] |= MergeGraph.merged
        continue
      }
      let (lost, name) = (nodes[loser].revision, BookmarkMerge.name(of: tombstone.revision))
      for merged in byName[name] ?? [] where nodes[merged].revision.generation > lost.generation {
        guard BookmarkMerge.closing(lost, into: nodes[merged].revision) == tombstone.revision
        else { continue }
        parents[merged].append(loser)
      }
    }
  }
}
