import Documents

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
    for place in edges.order where edges.heads[place] & ~Self.merged != 0 {
      let sources = Set(edges.parents[place].flatMap { standIns[$0] }).sorted()
      let isHead = edges.isHead(place)
      guard isHead || edges.parts[place] > 1 || (edges.isClosed[place] && target == .canonicalList)
      else {
        standIns[place] = sources
        continue
      }
      let known = try list(tree.nodes[place].revision)
      standIns[place] = [nodes.count]
      if isHead { headPlaces[place] = nodes.count }
      nodes.append(
        Node(
          list: known ?? (isHead ? BookmarkList() : nil), sources: sources,
          heads: edges.heads[place],
          isClosed: edges.isClosed[place]))
    }
    heads = edges.live.compactMap { headPlaces[$0] }
    headsByAncestry = edges.headsByAncestry.compactMap { headPlaces[$0] }
  }

  /// Whether an id was added by a revision that none of these heads came from, and was never taken away on
  /// the way from there to some head.
  func isAdded(_ id: HotelID, unseenBy lacking: Heads) -> Bool {
    var isAlive = [Bool](repeating: false, count: nodes.count)
    for (place, node) in nodes.enumerated() {
      guard let list = node.list, list.contains(id), node.heads & lacking == 0 else { continue }
      let origins = node.sources.filter { nodes[$0].list?.contains(id) ?? true }
      isAlive[place] =
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
    for (bit, place) in live.enumerated() { heads[place] = 1 << MergeGraph.Heads(bit) }
    addMerges(of: nodes, target: target)
    for place in order.reversed() where heads[place] != 0 {
      for parent in parents[place] {
        heads[parent] |= heads[place]
        if heads[place] & ~MergeGraph.merged != 0 { parts[parent] += 1 }
      }
    }
  }

  func isHead(_ place: Int) -> Bool { live.contains(place) }

  /// The live leaves, first those that came from most revisions; the winner before its equals.
  var headsByAncestry: [Int] {
    let counts = live.indices.map { bit in heads.count { $0 & (1 << MergeGraph.Heads(bit)) != 0 } }
    return live.indices.sorted { (counts[$1], $0) < (counts[$0], $1) }.map { live[$0] }
  }

  private mutating func addMerges(of nodes: [RevisionTree.Node], target: BookmarkMerge.Target) {
    var byName: [Substring: [Int]] = [:]
    for (place, node) in nodes.enumerated() where !node.isDeleted {
      byName[BookmarkMerge.name(of: node.revision), default: []].append(place)
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
