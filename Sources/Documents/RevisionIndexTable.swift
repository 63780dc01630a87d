/// The indices of a tree's revisions, and the numbers of its leaves. It makes many additions to a tree fast:
/// without it each look-up walks over the tree.
///
/// A hash table with open addressing. The keys come from peers, so the hash includes random numbers, and a
/// peer can't choose keys that collide.
struct RevisionIndexTable: Sendable {
  /// How many leaves are no tombstones.
  private(set) var openLeaves = 0
  /// How many leaves are tombstones.
  private(set) var closedLeaves = 0

  /// Indices plus 1; 0 for a free slot. The number of slots is a power of two; at most half of them are used.
  private var slots: [UInt32]
  private let multiplier = UInt64.random(in: .min ... .max) | 1
  private let seed = UInt64.random(in: .min ... .max)

  init(_ nodes: [RevisionTree.Node]) {
    var capacity = 64
    while capacity < nodes.count * 4 { capacity *= 2 }
    slots = Array(repeating: 0, count: capacity)
    for index in nodes.indices {
      slots[slot(of: nodes[index].revision, among: nodes)] = UInt32(index + 1)
      if nodes[index].isLeaf { count(isDeleted: nodes[index].isDeleted, 1) }
    }
  }

  /// The index of a revision; nil when unknown.
  func index(of revision: RevisionID, among nodes: [RevisionTree.Node]) -> Int? {
    let entry = Int(slots[slot(of: revision, among: nodes)])
    return entry == 0 ? nil : entry - 1
  }

  /// Adds the last of the nodes, which is a new leaf.
  /// - Returns: whether there is room for one more node.
  mutating func addLast(of nodes: [RevisionTree.Node]) -> Bool {
    guard let last = nodes.last else { return true }
    slots[slot(of: last.revision, among: nodes)] = UInt32(nodes.count)
    count(isDeleted: last.isDeleted, 1)
    return nodes.count < slots.count / 2
  }

  /// Counts the leaves again after `node` got a child.
  mutating func noLongerLeaf(_ node: RevisionTree.Node) {
    if node.isLeaf { count(isDeleted: node.isDeleted, -1) }
  }

  private mutating func count(isDeleted: Bool, _ change: Int) {
    if isDeleted { closedLeaves += change } else { openLeaves += change }
  }

  /// The slot of a revision, or the free slot for it.
  private func slot(of revision: RevisionID, among nodes: [RevisionTree.Node]) -> Int {
    var slot = hash(of: revision) & (slots.count - 1)
    while slots[slot] != 0, nodes[Int(slots[slot]) - 1].revision != revision {
      slot = (slot + 1) & (slots.count - 1)
    }
    return slot
  }

  private func hash(of revision: RevisionID) -> Int {
    let digest: UInt64
    switch revision.digest {
    case .hash(let high, let low): digest = high &* multiplier ^ low
    case .word(let text): digest = UInt64(truncatingIfNeeded: text.hashValue)
    }
    let mixed = (digest ^ seed ^ UInt64(revision.generation)) &* multiplier
    return Int(truncatingIfNeeded: mixed >> 32)
  }
}
