import Crypto
package import Documents
package import Stores

/// The rule that makes one list of a document's conflicting revisions, so that what either side added and
/// what either side removed survives.
///
/// It is that of an observed-remove set (Shapiro and others, "A comprehensive study of convergent and
/// commutative replicated data types", 2011), read from the revision tree instead of from marks in the
/// document, which apps would drop: an id stays if some leaf has it from a revision that added it, and no leaf
/// without it came from there too. Whatever a leaf came from it has seen: its ancestors, and what was merged
/// into them. Where a list that edges part from is no longer known, its ids count as added: an id may come
/// back then, none is lost. No id stays that no leaf has, so what is gone everywhere stays away.
package enum BookmarkMerge {
  /// How many live leaves are merged at once, the winner first. Where there are more, what was merged is merged with
  /// the next ones; so that one transaction's work stays bounded.
  package static let leavesAtOnce = 64

  /// What a document's leaves come to.
  package struct Side: Sendable, Equatable {
    /// The list.
    package let list: BookmarkList
    /// What the canonical list contains of it already; nil for nothing.
    package let base: BookmarkList?
  }

  /// Where the ids of a merged branch went, whose last revision has a tombstone.
  package enum Target: Sendable {
    /// Into a revision of the same document, which the tombstone's id names; see ``closing(_:into:)``.
    case sameDocument
    /// Into the canonical list: the document is another list.
    case canonicalList
  }

  /// Merges a document's live leaves, of which it looks at the first ``leavesAtOnce``.
  /// - Parameter list: reads a revision's list; nil for a revision whose body is no longer known. Asked for
  ///   live leaves, and for inner revisions only where branches part.
  /// - Returns: nil for a document without a live leaf.
  /// - Throws: what `list` throws.
  package static func resolve<Failure: Error>(
    _ tree: RevisionTree, target: Target = .sameDocument,
    list: (RevisionID) throws(Failure) -> BookmarkList?
  ) throws(Failure) -> Side? {
    let live = tree.liveLeaves
    guard let leaf = live.first else { return nil }
    guard live.count <= leavesAtOnce else {
      let later = Set(live.dropFirst(leavesAtOnce).map(\.revision))
      return try resolve(tree.purging(later), target: target, list: list)
    }
    // The usual case: nothing to merge, whatever was merged before.
    if target == .sameDocument, live.count == 1 {
      return Side(list: try list(leaf.revision) ?? BookmarkList(), base: nil)
    }
    let graph = try MergeGraph(tree, target: target, list: list)
    let base = graph.mergedLists
    let union = BookmarkList.union(graph.headsInOrder.compactMap { graph.nodes[$0].list })
    let stays = union.hotels.filter { id in
      let lacking = graph.headsLacking(id)
      if base.contains(id), lacking == 0 { return true }
      let seen = target == .canonicalList ? MergeGraph.merged : 0
      return lacking | seen == 0 || graph.isAdded(id, unseenBy: lacking | seen)
    }
    return Side(list: BookmarkList(stays), base: base.hotels.isEmpty ? nil : base)
  }

  /// Changes a list by what another document's leaves come to.
  package static func apply(_ side: Side, to list: BookmarkList) -> BookmarkList {
    var result = list
    if let base = side.base { result.remove(Set(base.subtracting(side.list))) }
    result.append(side.list.subtracting(side.base ?? BookmarkList()))
    return result
  }
}

extension MergeGraph {
  /// The heads as they give the list its order: who came from most before the others, but those last that
  /// say what was said before.
  fileprivate var headsInOrder: [Int] {
    let isStill = { (head: Int) in
      let node = nodes[head]
      return node.sources.contains { nodes[$0].list == node.list }
    }
    return headsByAncestry.filter { !isStill($0) } + headsByAncestry.filter(isStill)
  }

  /// All ids of revisions that were merged into another document.
  fileprivate var mergedLists: BookmarkList {
    .union(nodes.lazy.filter { $0.isClosed && $0.heads & Self.merged != 0 }.compactMap(\.list))
  }

  /// The heads whose lists don't have an id.
  fileprivate func headsLacking(_ id: HotelID) -> Heads {
    var lacking: Heads = 0
    for (bit, head) in heads.enumerated() where nodes[head].list?.contains(id) != true {
      lacking |= 1 << Heads(bit)
    }
    return lacking
  }
}

extension BookmarkMerge {
  /// Merges the lists of a store as soon as a commit leaves the canonical one with several live leaves or
  /// puts a list under another id, and a hotel as soon as it has several, before that commit is acknowledged.
  ///
  /// A merge that fails (the store is full, the disk is) loses nothing: the leaves stay, readers see them
  /// merged, and the next such commit or change of bookmarks tries again.
  ///
  /// Where damage took a revision of the list, it is put together again; see ``restoreList(of:after:at:)``.
  /// - Parameter now: the stores' clock.
  package static func follower(now: @escaping @Sendable () -> Timestamp) -> CommitFollower {
    CommitFollower(
      concerns: { concerns($0) },
      follow: { store, ids in
        _ = try await store.mergeLists(at: now())
        // In other databases conflicts are their owners' to resolve.
        if case .named = store.name { return }
        try await store.mergeHotels(ids.filter { $0 != BookmarkList.documentID }, at: now())
      },
      restore: { store, damage in
        try await restoreList(of: store, after: damage, at: now())
      })
  }

  /// Whether a mutation leaves something to merge. What a merge commits does not: one live leaf, and
  /// tombstones. Where it leaves more than it can merge at once, the next look finds nothing to write.
  static func concerns(_ mutation: Mutation) -> Bool {
    guard mutation.id != BookmarkList.documentID else {
      return mutation.tree.openLeafCount > 1
    }
    guard let winner = mutation.tree.winner, !winner.isDeleted else { return false }
    // A leaf that wins since another was deleted may be a list; its body is not at hand here.
    guard let body = mutation.body(of: winner.revision) else { return true }
    guard let type = body.type else { return false }
    return type.equalsBytes(of: BookmarkList.type)
      || type.equalsBytes(of: Hotel.type) && mutation.tree.openLeafCount > 1
  }
}

extension BookmarkMerge {
  /// The edit that makes a list or a hotel say one thing: a revision below the winner (or the tombstone, or
  /// the first of all), and tombstones that name it on the other live leaves, the first ``leavesAtOnce`` of them all.
  ///
  /// It depends on the tree's leaves and the body alone, so a replay elsewhere makes the same revisions.
  /// Branches that were closed before are let go of; see ``RevisionTree/shrinkClosedBranches(on:)``.
  /// - Parameter losers: the leaves to close, where they are not all of those.
  /// - Parameter former: what a list goes on from that is not there; see ``PurgedRevisions/latest``.
  /// - Parameter limit: how much history to keep.
  /// - Parameter now: when branches are closed.
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
    let letsGo = joined.shrinkClosedBranches(on: now.day)
    var mutation = Mutation(id: id, tree: joined, revision: merged.revision, body: body)
    mutation.closed = closed.filter { joined[$0] != nil }
    mutation.letsGo = letsGo
    return mutation
  }

  /// The id of the tombstone that closes a losing leaf. It carries nothing, but its id names the revision
  /// that the leaf was merged into, so that whoever has the tree can tell.
  ///
  /// Layout of the digest: the merged revision's name (see ``name(of:)``), then the first 8 bytes of the
  /// SHA-256 over the byte 2, the leaf's id as text, the byte 0, the merged revision's id as text.
  static func closing(_ loser: RevisionID, into merged: RevisionID) -> RevisionID {
    let text = [2] + Array(loser.description.utf8) + [0] + Array(merged.description.utf8)
    let check = Hex.string(Array(SHA256.hash(data: text)).prefix(8))
    return RevisionID(generation: loser.generation + 1, digest: name(of: merged) + check)
  }

  /// What a tombstone's id says of the revision that it names: the first 16 digits of its digest.
  static func name(of revision: RevisionID) -> Substring { revision.digest.text.prefix(16) }
}

/// How the live revisions of a list's document came about: along the branches of its tree, and by the merges
/// that tombstones name (``BookmarkMerge/closing(_:into:)``).
///
/// It holds the revisions whose lists decide a merge: the live leaves, and those where edges part. Edges go
/// from lower generations to higher ones only, so that no forged tombstone makes a circle.
struct MergeGraph {
  /// A revision with its list.
  struct Node {
    /// What it says; nil for an inner revision whose body is no longer known.
    let list: BookmarkList?
    /// The closest nodes that it was made from, by their places.
    let sources: [Int]
    /// The heads that came from it, or are it.
    let heads: Heads
    /// Whether a tombstone without a successor stands right below it.
    let isClosed: Bool
  }

  /// A set of live leaves, bit by bit from the winner on. One bit is kept for ``merged``.
  typealias Heads = UInt128

  /// Stands for whatever a list document was merged into that is another document.
  static let merged: Heads = 1 << 127

  /// Lower generations first.
  private(set) var nodes: [Node] = []
  /// The live leaves' places, winner first.
  private(set) var heads: [Int] = []
  /// The live leaves' places, first those that came from most revisions; the winner before its equals.
  private(set) var headsByAncestry: [Int] = []

  /// Follows a tree.
  /// - Parameter target: where tombstones say that lists went.
  /// - Parameter list: reads a revision's list; nil for a body that is no longer known.
  /// - Throws: what `list` throws.
  init<Failure: Error>(
    _ tree: RevisionTree, target: BookmarkMerge.Target,
    list: (RevisionID) throws(Failure) -> BookmarkList?
  ) throws(Failure) {
    let edges = MergeEdges(tree, target: target)
    var headPlaces: [Int: Int] = [:]
    // What stands for a revision that is no node: the nodes that it came from.
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
      if isHead { headPlaces[index] = nodes.count }
      nodes.append(
        Node(
          list: known ?? (isHead ? BookmarkList() : nil), sources: sources,
          heads: edges.heads[index],
          isClosed: edges.isClosed[index]))
    }
    heads = edges.live.compactMap { headPlaces[$0] }
    headsByAncestry = edges.headsByAncestry.compactMap { headPlaces[$0] }
  }

  /// Whether an id was added by a revision that none of these heads came from, and was never taken away on
  /// the way from there to some head.
  func isAdded(_ id: HotelID, unseenBy lacking: Heads) -> Bool {
    var isAlive = [Bool](repeating: false, count: nodes.count)
    for (index, node) in nodes.enumerated() {
      guard let list = node.list, list.contains(id), node.heads & lacking == 0 else { continue }
      let origins = node.sources.filter { nodes[$0].list?.contains(id) ?? true }
      isAlive[index] =
        origins.isEmpty || origins.contains { nodes[$0].list == nil || isAlive[$0] }
    }
    return heads.contains { isAlive[$0] }
  }
}

/// A tree's edges and those of its merges, for every revision by its place in the tree.
private struct MergeEdges {
  /// What each was made from.
  var parents: [[Int]]
  /// How many of what was made from it lead to a head.
  var parts: [Int]
  /// The heads that it leads to.
  var heads: [MergeGraph.Heads]
  /// Whether a tombstone without a successor stands right below it.
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

  /// The live leaves, first those that came from most revisions; the winner before its equals.
  var headsByAncestry: [Int] {
    let counts = live.indices.map { bit in heads.count { $0 & (1 << MergeGraph.Heads(bit)) != 0 } }
    return live.indices.sorted { (counts[$1], $0) < (counts[$0], $1) }.map { live[$0] }
  }

  private mutating func addMerges(of nodes: [RevisionTree.Node], target: BookmarkMerge.Target) {
    var byName: [Substring: [Int]] = [:]
    for (index, node) in nodes.enumerated() where !node.isDeleted {
      byName[BookmarkMerge.name(of: node.revision), default: []].append(index)
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
