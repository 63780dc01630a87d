/// Old revisions of one history, each the parent of the next, that are stored apart from the tree of newer
/// revisions.
///
/// An edit adds a child to a leaf, so it does not need ancestors that are many steps away from every leaf. An
/// engine may keep those in pieces, which an edit neither reads nor writes. The tree then says how many
/// revisions are missing (``RevisionTree/older``). Such a tree is enough for questions about leaves, their
/// newest ancestors and limits. To read a complete history, or to merge a peer's history, use the complete
/// tree (``RevisionTree/completed(by:)``).
package struct HistoryPiece: Sendable, Equatable {
  /// How many revisions a full piece has. Its first generation is a multiple of this number.
  package static let revisions = 32
  /// How many steps each revision of a piece is away from every leaf, at least. This is more than the number
  /// of ancestors whose bodies are kept.
  static let steps = 32

  /// The generation of the first (oldest) revision.
  package let generation: Int
  /// The revisions. Each is one byte, 1 for a tombstone and 0 otherwise, and the 16 bytes of its digest.
  package let bytes: [UInt8]

  package var count: Int { bytes.count / RevisionID.storedHashBytes }
  /// The generation of the last (newest) revision. It wraps, because a damaged row can name any generation.
  package var last: Int { generation &+ count &- 1 }

  /// Creates a piece from stored bytes. ``RevisionTree/completed(by:)`` checks the bytes.
  package init(generation: Int, bytes: [UInt8]) {
    self.generation = generation
    self.bytes = bytes
  }

  fileprivate init(_ nodes: ArraySlice<RevisionTree.Node>) {
    generation = nodes.first?.revision.generation ?? 0
    bytes = [UInt8](unsafeUninitializedCapacity: nodes.count * RevisionID.storedHashBytes) {
      buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      for index in nodes.indices {
        guard case .hash(let high, let low) = nodes[index].revision.digest else { continue }
        bytes[count] = nodes[index].isDeleted ? 1 : 0
        bytes.storeBytes(of: high.bigEndian, toByteOffset: count + 1, as: UInt64.self)
        bytes.storeBytes(of: low.bigEndian, toByteOffset: count + 9, as: UInt64.self)
        count += RevisionID.storedHashBytes
      }
    }
  }

  /// The first generation of the piece that contains this generation.
  package static func start(of generation: Int) -> Int { generation / revisions * revisions }

  static let damaged = DocumentError(.damaged, "A piece of the history is missing or damaged")

  /// Appends the revisions from generation `first` on; each is a child of the one before it.
  fileprivate func append(
    from first: Int, to nodes: inout [RevisionTree.Node]
  ) throws(DocumentError) {
    let size = RevisionID.storedHashBytes
    let skipped = max(first - generation, 0)
    guard bytes.count % size == 0, skipped <= count else { throw Self.damaged }
    let areFlags = bytes.withUnsafeBytes { bytes in
      var areFlags = true
      for start in stride(from: skipped * size, to: bytes.count, by: size) {
        areFlags = areFlags && bytes[start] <= 1
        let high = bytes.loadUnaligned(fromByteOffset: start + 1, as: UInt64.self)
        let low = bytes.loadUnaligned(fromByteOffset: start + 9, as: UInt64.self)
        let digest = RevisionDigest.hash(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
        nodes.append(
          RevisionTree.Node(
            revision: RevisionID(generation: generation + start / size, digest: digest),
            parent: nodes.isEmpty ? nil : nodes.count - 1, isDeleted: bytes[start] == 1,
            isLeaf: false))
      }
      return areFlags
    }
    guard areFlags else { throw Self.damaged }
  }
}

extension RevisionTree {
  /// The generation of the oldest revision: of the oldest that is kept apart, or of the first node.
  package var oldestGeneration: Int { (nodes.first?.revision.generation ?? 0) - older }

  /// Removes old revisions from the start of the tree as pieces.
  ///
  /// They form a line: each revision is the parent of the next. All of them are too far from every leaf to be
  /// needed by an edit. Nothing is removed from a short tree or from a tree that branches near its start.
  /// - Returns: the removed revisions, oldest first.
  package mutating func takePieces() -> [HistoryPiece] {
    let end = endOfPieces
    guard end > 0 else { return [] }
    var pieces: [HistoryPiece] = []
    var start = 0
    while start < end {
      let generation = nodes[start].revision.generation
      let next = HistoryPiece.start(of: generation) + HistoryPiece.revisions - generation
      pieces.append(HistoryPiece(nodes[start..<min(start + next, end)]))
      start += next
    }
    nodes.removeFirst(end)
    for index in nodes.indices {
      guard let parent = nodes[index].parent else { continue }
      nodes[index].parent = parent < end ? nil : parent - end
    }
    older += end
    finder = nil
    return pieces
  }

  /// How many nodes ``takePieces()`` removes. The next generation is always the first one of a piece.
  private var endOfPieces: Int {
    guard nodes.count > HistoryPiece.revisions + HistoryPiece.steps,
      case let allowance = allowances(HistoryPiece.steps)
    else { return 0 }
    var end = 0
    var line = 0
    while line + 1 < nodes.count, allowance[line + 1] == 0, nodes[line + 1].parent == line,
      nodes[line + 1].revision.generation == nodes[line].revision.generation + 1,
      case .hash = nodes[line].revision.digest
    {
      line += 1
      if nodes[line].revision.generation % HistoryPiece.revisions == 0 { end = line }
    }
    guard end > 0 else { return 0 }
    // The line ends at the first node that has a second child.
    let first = nodes.indices.dropFirst().lazy.filter { index in
      let parent = self.nodes[index].parent
      return parent.map { $0 < end && index != $0 + 1 } ?? false
    }.map { self.nodes[$0].parent ?? 0 }.min()
    guard let first, first < end else { return end }
    let generation = HistoryPiece.start(of: nodes[first].revision.generation)
    return max(0, generation - nodes[0].revision.generation)
  }

  /// The complete tree: this tree with its pieces.
  /// - Parameter pieces: all pieces of the tree, oldest first. Revisions before those that ``older`` counts
  ///   are ignored.
  /// - Throws: `damaged` when a piece is missing or invalid.
  package func completed(by pieces: [HistoryPiece]) throws(DocumentError) -> RevisionTree {
    guard older > 0, let first = nodes.first?.revision.generation else { return self }
    var all: [Node] = []
    all.reserveCapacity(older + nodes.count)
    var next = first - older
    for piece in pieces where piece.last >= next {
      guard piece.generation <= next else { throw HistoryPiece.damaged }
      try piece.append(from: next, to: &all)
      next = piece.last + 1
    }
    guard next == first, all.count == older else { throw HistoryPiece.damaged }
    return completed(by: &all)
  }

  /// The complete tree, made with the revisions of an earlier, complete state.
  /// - Throws: `damaged` when that state does not have the missing revisions.
  package func completed(from whole: RevisionTree) throws(DocumentError) -> RevisionTree {
    guard older > 0, let first = nodes.first else { return self }
    guard let index = whole.index(of: first.revision),
      case let line = whole.line(at: index).dropFirst().prefix(older), line.count == older
    else { throw HistoryPiece.damaged }
    var all: [Node] = []
    for var node in line.reversed() {
      (node.parent, node.isLeaf) = (all.isEmpty ? nil : all.count - 1, false)
      all.append(node)
    }
    return completed(by: &all)
  }

  private func completed(by line: inout [Node]) -> RevisionTree {
    for (index, var node) in nodes.enumerated() {
      node.parent = index == 0 ? older - 1 : node.parent.map { $0 + older }
      line.append(node)
    }
    var whole = self
    (whole.nodes, whole.older, whole.finder) = (line, 0, nil)
    return whole
  }

  /// Forgets the oldest of the revisions that are kept apart.
  /// - Parameter count: how many of them stay at most.
  package mutating func forgetOlder(to count: Int) {
    let dropped = max(0, older - max(count, 0))
    older -= dropped
    byteCount -= dropped * RevisionID.storedHashBytes
  }

  /// Forgets revisions that are kept apart and more than `limit` steps from every leaf; the leaf is the first
  /// step.
  mutating func forgetOlder(beyond limit: Int) {
    guard older > 0 else { return }
    let steps = isLine ? limit - nodes.count + 1 : allowances(limit)[0]
    forgetOlder(to: steps - 1)
  }
}
