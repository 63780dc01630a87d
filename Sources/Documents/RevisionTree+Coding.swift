extension RevisionTree {
  /// The layout's version, the first byte of an encoded tree.
  private static let layoutVersion: UInt8 = 1
  /// The same layout; after the nodes follow two counts of closed branches, and then the branches.
  private static let markedVersion: UInt8 = 2
  /// Added to the version when older revisions are kept apart; their number ``older`` then comes before the
  /// count.
  private static let piecesVersion: UInt8 = 2

  /// The bits of the flag byte before each node.
  private enum Flag {
    static let deleted: UInt8 = 1
    static let leaf: UInt8 = 2
    /// The digest is 32 hex digits, stored as 16 bytes.
    static let hash: UInt8 = 4
    /// The parent is the node before, one generation lower, so neither parent nor generation is written.
    static let follows: UInt8 = 8
    static let root: UInt8 = 16
    /// The highest value of a flag byte.
    static let all: UInt8 = 31
  }

  /// The tree as an engine stores it.
  ///
  /// A version byte; ``older``, if it is not 0; the number of nodes; then for each node a flag byte, the
  /// parent's index and the generation where needed, and the digest; then the closed branches, if there are
  /// any. Integers are LEB128.
  package var encoded: [UInt8] {
    var bytes: [UInt8] = [closed.isEmpty ? Self.layoutVersion : Self.markedVersion]
    bytes.reserveCapacity(nodes.count * 18 + 8)
    if older > 0 {
      bytes[0] += Self.piecesVersion
      Self.append(older, to: &bytes)
    }
    Self.append(nodes.count, to: &bytes)
    // The loop uses indices: a loop over nodes copies each of them, up to a thousand at each edit of a long
    // history.
    for index in nodes.indices {
      let parent = nodes[index].parent
      let generation = nodes[index].revision.generation
      let follows =
        parent == index - 1 && index > 0
        && nodes[index - 1].revision.generation + 1 == generation
      var flags: UInt8 = 0
      if nodes[index].isDeleted { flags |= Flag.deleted }
      if nodes[index].isLeaf { flags |= Flag.leaf }
      if case .hash = nodes[index].revision.digest { flags |= Flag.hash }
      if follows { flags |= Flag.follows }
      if parent == nil { flags |= Flag.root }
      bytes.append(flags)
      if !follows {
        if let parent { Self.append(parent, to: &bytes) }
        Self.append(generation, to: &bytes)
      }
      switch nodes[index].revision.digest {
      case .hash(let high, let low):
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { bytes.append(contentsOf: $0) }
      case .word(let text):
        Self.append(text.utf8.count, to: &bytes)
        bytes += text.utf8
      }
    }
    if !closed.isEmpty { appendClosed(to: &bytes) }
    return bytes
  }

  /// Decodes an encoded tree.
  /// - Throws: ``DocumentError`` with code `damaged` for bytes that ``encoded`` can't produce.
  package init(decoding bytes: UnsafeRawBufferPointer) throws(DocumentError) {
    var reader = Reader(bytes: bytes)
    var version = try reader.byte()
    if version > Self.markedVersion, version <= Self.markedVersion + Self.piecesVersion {
      version -= Self.piecesVersion
      older = try reader.integer()
      guard older > 0 else { throw Reader.damaged }
    }
    guard version == Self.layoutVersion || version == Self.markedVersion else {
      throw Reader.damaged
    }
    let count = try reader.integer()
    // Each node takes two bytes or more. A higher count is damage, and memory must not be allocated for it.
    guard count <= bytes.count / 2 else { throw Reader.damaged }
    (nodes, byteCount) = ([], older * RevisionID.storedHashBytes)
    nodes.reserveCapacity(count)
    var generation = 0
    for index in 0..<count {
      // Most nodes of a long history have this form. One call reads all their fields.
      if index > 0, let node = reader.follower(of: generation, at: index) {
        nodes.append(node)
        byteCount += RevisionID.storedHashBytes
        generation += 1
      } else {
        let node = try Self.node(at: index, after: nodes, from: &reader)
        nodes.append(node)
        byteCount += node.revision.storedBytes
        generation = node.revision.generation
      }
    }
    if version == Self.markedVersion { closed = try Self.closed(from: &reader) }
    guard reader.isAtEnd, hasLeavesWhereItEnds, older < nodes.first?.revision.generation ?? 1
    else { throw Reader.damaged }
  }

  /// The closed branches alone, in the same form as at the end of ``encoded``; empty when there are none.
  package var closedBytes: [UInt8] {
    var bytes: [UInt8] = []
    if !closed.isEmpty { appendClosed(to: &bytes) }
    return bytes
  }

  /// Takes over the closed branches of another copy of the tree, from its ``closedBytes``.
  /// - Throws: ``DocumentError`` with code `damaged` for bytes that `closedBytes` can't produce.
  package mutating func remember(closed bytes: [UInt8]) throws(DocumentError) {
    let found = bytes.withUnsafeBytes { bytes in
      Result { () throws(DocumentError) in
        var reader = Reader(bytes: bytes)
        let closed = try Self.closed(from: &reader)
        guard reader.isAtEnd else { throw Reader.damaged }
        return closed
      }
    }
    closed = try found.get()
  }

  private func appendClosed(to bytes: inout [UInt8]) {
    Self.append(closed.standing.count, to: &bytes)
    Self.append(closed.markCount, to: &bytes)
    for branch in closed.standing { bytes += branch.bytes }
    bytes += closed.marks
  }

  private static func closed(from reader: inout Reader) throws(DocumentError) -> ClosedBranches {
    let counts = (standing: try reader.integer(), marks: try reader.integer())
    let most = reader.bytes.count / ClosedBranch.byteCount
    guard counts.standing <= most, counts.marks <= most, counts.standing + counts.marks > 0 else {
      throw Reader.damaged
    }
    return try ClosedBranches(
      standing: try reader.bytes(counts.standing * ClosedBranch.byteCount),
      marks: try reader.bytes(counts.marks * ClosedBranch.byteCount))
  }

  /// Whether exactly the nodes without children are marked as leaves.
  private var hasLeavesWhereItEnds: Bool {
    var isLeaf = [Bool](repeating: true, count: nodes.count)
    for index in nodes.indices { if let parent = nodes[index].parent { isLeaf[parent] = false } }
    return nodes.indices.allSatisfy { nodes[$0].isLeaf == isLeaf[$0] }
  }

  private static func node(
    at index: Int, after nodes: [Node], from reader: inout Reader
  ) throws(DocumentError) -> Node {
    let flags = try reader.byte()
    guard flags <= Flag.all, flags & Flag.follows == 0 || flags & Flag.root == 0 else {
      throw Reader.damaged
    }
    var parent: Int?
    let generation: Int
    if flags & Flag.follows != 0 {
      guard let previous = nodes.last else { throw Reader.damaged }
      parent = index - 1
      generation = previous.revision.generation + 1
    } else {
      if flags & Flag.root == 0 {
        let found = try reader.integer()
        guard found < index else { throw Reader.damaged }
        parent = found
      }
      generation = try reader.integer()
      if let parent {
        let step = generation - nodes[parent].revision.generation
        guard step > 1 || step == 1 && parent < index - 1 else { throw Reader.damaged }
      }
    }
    guard (1...RevisionID.maximumGeneration).contains(generation) else { throw Reader.damaged }
    return Node(
      revision: RevisionID(
        generation: generation, digest: try digest(isHash: flags & Flag.hash != 0, from: &reader)),
      parent: parent, isDeleted: flags & Flag.deleted != 0, isLeaf: flags & Flag.leaf != 0)
  }

  private static func digest(
    isHash: Bool, from reader: inout Reader
  ) throws(DocumentError) -> RevisionDigest {
    guard !isHash else { return .hash(high: try reader.word(), low: try reader.word()) }
    let text = String(decoding: try reader.bytes(try reader.integer()), as: UTF8.self)
    guard let digest = try? RevisionID.checkedDigest(text), case .word = digest else {
      throw Reader.damaged
    }
    return digest
  }

  private static func append(_ value: Int, to bytes: inout [UInt8]) {
    var rest = UInt64(value)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Reads bytes and checks every bound.
  private struct Reader {
    static let damaged = DocumentError(.damaged, "The stored revision tree is damaged")
    let bytes: UnsafeRawBufferPointer
    var position = 0

    var isAtEnd: Bool { position == bytes.count }

    mutating func byte() throws(DocumentError) -> UInt8 {
      guard position < bytes.count else { throw Self.damaged }
      defer { position += 1 }
      return bytes[position]
    }

    mutating func bytes(_ count: Int) throws(DocumentError) -> Slice<UnsafeRawBufferPointer> {
      guard count <= bytes.count - position else { throw Self.damaged }
      defer { position += count }
      return bytes[position..<position + count]
    }

    /// The next node, if its digest is a hash and its parent is the node before; nil for any other node.
    mutating func follower(of generation: Int, at index: Int) -> Node? {
      guard bytes.count - position >= 17, generation < RevisionID.maximumGeneration else {
        return nil
      }
      let flags = bytes[position]
      guard flags & ~(Flag.deleted | Flag.leaf) == Flag.hash | Flag.follows else { return nil }
      let high = bytes.loadUnaligned(fromByteOffset: position + 1, as: UInt64.self)
      let low = bytes.loadUnaligned(fromByteOffset: position + 9, as: UInt64.self)
      position += 17
      return Node(
        revision: RevisionID(
          generation: generation + 1,
          digest: .hash(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))),
        parent: index - 1, isDeleted: flags & Flag.deleted != 0, isLeaf: flags & Flag.leaf != 0)
    }

    /// Eight bytes, big-endian.
    mutating func word() throws(DocumentError) -> UInt64 {
      guard bytes.count - position >= 8 else { throw Self.damaged }
      defer { position += 8 }
      return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    mutating func integer() throws(DocumentError) -> Int {
      var value: UInt64 = 0
      for shift in stride(from: UInt64(0), to: 56, by: 7) {
        let next = try byte()
        value |= UInt64(next & 0x7F) << shift
        if next & 0x80 == 0 {
          // A last byte of zero is invalid: the integer has a shorter form.
          guard next != 0 || shift == 0 else { throw Self.damaged }
          return Int(value)
        }
      }
      throw Self.damaged
    }
  }
}

extension RevisionID {
  /// Bytes of a stored hash with its flag byte.
  static let storedHashBytes = 17

  /// Bytes of a stored revision, without its generation.
  var storedBytes: Int {
    switch digest {
    case .hash: Self.storedHashBytes
    case .word(let text): 2 + text.utf8.count
    }
  }
}
