/// Old revisions of one history that stand one below the other, apart from the tree of those that are newer.
///
/// An edit adds a revision above a leaf. So it needs no revision that is many steps below every leaf: an engine may keep
/// those in pieces, which an edit neither reads nor writes. A tree without them says how many they are
/// (``RevisionTree/older``). It is right in all that is asked of leaves, their newest ancestors and limits; whoever asks
/// for whole histories, or brings one, needs the whole tree (``RevisionTree/completed(by:)``).
package struct HistoryPiece: Sendable, Equatable {
  /// How many revisions a whole piece has: those of the generations from a multiple of this on.
  package static let revisions = 32
  /// How many steps every revision of a piece is at least below each leaf: more than there are ancestors whose bodies
  /// are kept.
  static let steps = 32

  /// The generation of the first revision, the oldest.
  package let generation: Int
  /// The revisions: of each a byte, 1 for a tombstone and 0 otherwise, and the 16 bytes of its digest.
  package let bytes: [UInt8]

  /// How many revisions there are.
  package var count: Int { bytes.count / RevisionID.storedHashBytes }
  /// The generation of the last revision, the newest.
  package var last: Int { generation + count - 1 }

  /// A piece as it is kept; what the bytes say is looked at by ``RevisionTree/completed(by:)``.
  package init(generation: Int, bytes: [UInt8]) {
    self.generation = generation
    self.bytes = bytes
  }

  fileprivate init(_ nodes: ArraySlice<RevisionTree.Node>) {
    generation = nodes.first?.revision.generation ?? 0
    bytes = [UInt8](unsafeUninitializedCapacity: nodes.count * RevisionID.storedHashBytes) {
      buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      for place in nodes.indices {
        guard case .hash(let high, let low) = nodes[place].revision.digest else { continue }
        bytes[count] = nodes[place].isDeleted ? 1 : 0
        bytes.storeBytes(of: high.bigEndian, toByteOffset: count + 1, as: UInt64.self)
        bytes.storeBytes(of: low.bigEndian, toByteOffset: count + 9, as: UInt64.self)
        count += RevisionID.storedHashBytes
      }
    }
  }

  /// The generation in which the piece begins that has this one.
  package static func start(of generation: Int) -> Int { generation / revisions * revisions }

  /// Where a piece is missing, or says what no piece says.
  static let damaged = DocumentError(.damaged, "A piece of the history is missing or damaged")

  /// Adds the revisions from a generation on to nodes that stand one below the other.
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
  /// The generation of the oldest revision below the first node, or of that node.
  package var oldestGeneration: Int { (nodes.first?.revision.generation ?? 0) - older }

  /// Takes those revisions off that stand one below the other from the first node on and are too far below every leaf
  /// for an edit to need them; nothing of trees that are short, or that part too early.
  /// - Returns: what was taken, the oldest first.
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
    for place in nodes.indices {
      guard let parent = nodes[place].parent else { continue }
      nodes[place].parent = parent < end ? nil : parent - end
    }
    older += end
    finder = nil
    return pieces
  }

  /// How many nodes ``takePieces()`` takes: up to a generation in which a piece begins.
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
    // A branch, or a second child, that begins further down ends the line there.
    let first = nodes.indices.dropFirst().lazy.filter { place in
      let parent = self.nodes[place].parent
      return parent.map { $0 < end && place != $0 + 1 } ?? false
    }.map { self.nodes[$0].parent ?? 0 }.min()
    guard let first, first < end else { return end }
    let generation = HistoryPiece.start(of: nodes[first].revision.generation)
    return max(0, generation - nodes[0].revision.generation)
  }

  /// The whole tree: what was taken off put back.
  /// - Parameter pieces: all that were taken off, the oldest first; further revisions of the first are let go of.
  /// - Throws: `damaged` where one is missing, or is none.
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

  /// The whole tree, of which an earlier state is at hand.
  package func completed(from whole: RevisionTree) throws(DocumentError) -> RevisionTree {
    guard older > 0, let first = nodes.first else { return self }
    guard let place = whole.index(of: first.revision),
      case let line = whole.line(at: place).dropFirst().prefix(older), line.count == older
    else { throw HistoryPiece.damaged }
    var all: [Node] = []
    for var node in line.reversed() {
      (node.parent, node.isLeaf) = (all.isEmpty ? nil : all.count - 1, false)
      all.append(node)
    }
    return completed(by: &all)
  }

  private func completed(by line: inout [Node]) -> RevisionTree {
    for (place, var node) in nodes.enumerated() {
      node.parent = place == 0 ? older - 1 : node.parent.map { $0 + older }
      line.append(node)
    }
    var whole = self
    (whole.nodes, whole.older, whole.finder) = (line, 0, nil)
    return whole
  }
}

extension RevisionTree {
  /// Forgets the oldest of those that are kept apart.
  /// - Parameter count: how many stay at most.
  package mutating func forgetOlder(to count: Int) {
    let dropped = max(0, older - max(count, 0))
    older -= dropped
    byteCount -= dropped * RevisionID.storedHashBytes
  }

  /// Forgets those that are kept apart and more than `limit` steps from every leaf, the leaf counted.
  mutating func forgetOlder(beyond limit: Int) {
    guard older > 0 else { return }
    let steps = isLine ? limit - nodes.count + 1 : allowances(limit)[0]
    forgetOlder(to: steps - 1)
  }
}
