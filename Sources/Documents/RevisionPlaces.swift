/// Where a tree's revisions stand and how many leaves it has, for who adds many to it: without this each look-up is a
/// walk over the tree.
///
/// A hash table with open addressing. What it is keyed by comes from peers, so that its slots depend on a random number.
struct RevisionPlaces: Sendable {
  /// How many leaves are no tombstones.
  private(set) var openLeaves = 0
  /// How many leaves are tombstones.
  private(set) var closedLeaves = 0

  /// Places counted from 1; 0 for a free slot. A power of two in number, and at most half of them taken.
  private var slots: [UInt32]
  private let multiplier = UInt64.random(in: .min ... .max) | 1
  private let seed = UInt64.random(in: .min ... .max)

  /// The places of these nodes.
  init(_ nodes: [RevisionTree.Node]) {
    var capacity = 64
    while capacity < nodes.count * 4 { capacity *= 2 }
    slots = Array(repeating: 0, count: capacity)
    for place in nodes.indices {
      slots[slot(of: nodes[place].revision, among: nodes)] = UInt32(place + 1)
      if nodes[place].isLeaf { count(isDeleted: nodes[place].isDeleted, 1) }
    }
  }

  /// Where a revision stands; nil when unknown.
  func place(of revision: RevisionID, among nodes: [RevisionTree.Node]) -> Int? {
    let place = Int(slots[slot(of: revision, among: nodes)])
    return place == 0 ? nil : place - 1
  }

  /// Takes in the last of the nodes, a new leaf.
  /// - Returns: whether there is room for a further one.
  mutating func addLast(of nodes: [RevisionTree.Node]) -> Bool {
    guard let last = nodes.last else { return true }
    slots[slot(of: last.revision, among: nodes)] = UInt32(nodes.count)
    count(isDeleted: last.isDeleted, 1)
    return nodes.count < slots.count / 2
  }

  /// A leaf has a child now.
  mutating func noLongerLeaf(_ node: RevisionTree.Node) {
    if node.isLeaf { count(isDeleted: node.isDeleted, -1) }
  }

  private mutating func count(isDeleted: Bool, _ change: Int) {
    if isDeleted { closedLeaves += change } else { openLeaves += change }
  }

  /// The slot of a revision, or the free one where it belongs.
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
