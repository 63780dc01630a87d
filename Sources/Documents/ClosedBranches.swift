import Crypto

/// What a tree remembers of branches that merges closed: when the ones that it still holds were closed, and which it
/// has let go of since. These are ``marks``: no leaves, of no length but their own.
package struct ClosedBranches: Sendable, Equatable {
  /// How many closed branches a tree holds whole, the newest.
  package static let maximumStanding = 64
  /// How many marks are kept, the newest: 184 KiB.
  package static let maximumMarks = 4_096
  /// How many days a closed branch is held, and how many its mark is kept after that.
  package static let days = 90

  /// Branches that the tree holds, in the order in which they were closed.
  var standing: [ClosedBranch] = []
  /// Branches that the tree let go of, each in ``ClosedBranch/byteCount`` bytes, the oldest first. They are searched
  /// as they are: to read a list would else be to read thousands of them.
  private(set) var marks: [UInt8] = []

  /// None.
  init() {}

  /// Reads what an encoded tree ends with.
  /// - Throws: `damaged` for bytes that ``ClosedBranch/append(to:)`` does not make.
  init(
    standing: Slice<UnsafeRawBufferPointer>, marks: Slice<UnsafeRawBufferPointer>
  ) throws(DocumentError) {
    let size = ClosedBranch.byteCount
    let damaged = DocumentError(.damaged, "The stored revision tree is damaged")
    for index in stride(from: standing.startIndex, to: standing.endIndex, by: size) {
      let end = min(index + size, standing.endIndex)
      guard let branch = ClosedBranch(standing[index..<end]) else { throw damaged }
      self.standing.append(branch)
    }
    guard marks.count.isMultiple(of: size) else { throw damaged }
    // The tree's checksum covers them; of thousands only the flags are looked at each time.
    for index in stride(from: marks.startIndex, to: marks.endIndex, by: size) {
      guard ClosedBranch.flagPlaces.allSatisfy({ marks[index + $0] <= 1 }) else { throw damaged }
    }
    self.marks = Array(marks)
  }

  /// Whether there is nothing to remember.
  var isEmpty: Bool { standing.isEmpty && marks.isEmpty }
  /// How many branches are remembered by a mark alone.
  var markCount: Int { marks.count / ClosedBranch.byteCount }

  /// Whether a branch that the tree let go of ended in this revision, or in a tombstone below it.
  func hasMark(of revision: RevisionID) -> Bool {
    hasMark(ofTombstone: revision) || hasMark(ofLeaf: revision)
  }

  /// Whether this is the last revision, before its tombstone, of a branch that the tree let go of.
  func hasMark(ofLeaf revision: RevisionID) -> Bool {
    contains(ClosedBranch(leaf: revision), at: ClosedBranch.leafBytes)
  }

  private func hasMark(ofTombstone revision: RevisionID) -> Bool {
    contains(ClosedBranch(tombstone: revision, leaf: nil, day: 0), at: ClosedBranch.tombstoneBytes)
  }

  /// Looks for the same generation and the same bytes in one part of the marks.
  private func contains(_ wanted: ClosedBranch, at part: Range<Int>) -> Bool {
    guard !marks.isEmpty else { return false }
    let pattern = wanted.bytes
    let size = ClosedBranch.byteCount
    return marks.withUnsafeBytes { all in
      pattern.withUnsafeBytes { pattern in
        // Most marks are told from the wanted one by their digest's last bytes.
        let rare = part.upperBound - MemoryLayout<UInt64>.size
        let wanted = pattern.loadUnaligned(fromByteOffset: rare, as: UInt64.self)
        var start = 0
        while start + size <= all.count {
          if all.loadUnaligned(fromByteOffset: start + rare, as: UInt64.self) == wanted,
            Self.equal(all, from: start, pattern, in: part),
            Self.equal(all, from: start, pattern, in: ClosedBranch.generationBytes)
          {
            return true
          }
          start += size
        }
        return false
      }
    }
  }

  private static func equal(
    _ marks: UnsafeRawBufferPointer, from start: Int, _ pattern: UnsafeRawBufferPointer,
    in range: Range<Int>
  ) -> Bool {
    for index in range where marks[start + index] != pattern[index] { return false }
    return true
  }

  /// Remembers a branch by a mark alone from this day on.
  mutating func mark(_ branch: ClosedBranch, on day: Int) {
    var branch = branch
    branch.day = day
    marks += branch.bytes
  }

  /// Forgets marks that have been kept long enough, and the oldest of too many. A clock that was set back keeps them
  /// longer.
  mutating func forgetOldMarks(on day: Int) {
    let size = ClosedBranch.byteCount
    var count = max(0, markCount - Self.maximumMarks)
    while (count + 1) * size <= marks.count,
      let oldest = ClosedBranch(marks[count * size..<(count + 1) * size]),
      day - oldest.day > Self.days
    {
      count += 1
    }
    marks.removeFirst(count * size)
  }
}

/// A branch that a merge closed with a tombstone: the tombstone, the revision that it stands below, and the day.
///
/// Its 46 bytes: a byte of flags; the tombstone's generation, eight bytes; what stands for the leaf's and for the
/// tombstone's digest, a byte that tells hashes from words and sixteen bytes each; the day since 1970, three bytes.
/// Integers have their highest byte first. A hash stands for itself, a word (a peer's own) for its SHA-256.
struct ClosedBranch: Sendable, Equatable {
  /// How many bytes one takes.
  static let byteCount = 46
  /// Where the generation stands.
  static let generationBytes = 1..<9
  /// Where the leaf's digest stands.
  static let leafBytes = 9..<26
  /// Where the tombstone's digest stands.
  static let tombstoneBytes = 26..<43

  /// Where the flags stand: each is 0 or 1.
  static let flagPlaces = [0, leafBytes.lowerBound, tombstoneBytes.lowerBound]

  /// The tombstone's generation; the leaf's is one less.
  let generation: Int
  /// The leaf's digest; nil for a tombstone whose parent is not known.
  let leaf: Digest?
  /// The tombstone's digest.
  let tombstone: Digest
  /// When the branch was closed, or when its mark was made, in days since 1970.
  var day: Int

  /// The last day that three bytes tell.
  private static let lastDay = 1 << 24 - 1

  /// What stands for a revision's digest.
  struct Digest: Sendable, Hashable {
    let isWord: Bool
    let high: UInt64
    let low: UInt64

    init(_ digest: RevisionDigest) {
      let hash =
        switch digest {
        case .hash: digest
        case .word(let text): RevisionDigest(hash: SHA256.hash(data: Array(text.utf8)))
        }
      guard case .hash(let high, let low) = hash else {
        (isWord, high, low) = (true, 0, 0)
        return
      }
      self.high = high
      self.low = low
      if case .word = digest { isWord = true } else { isWord = false }
    }

    fileprivate init?(_ bytes: some Sequence<UInt8>) {
      guard let first = bytes.first(where: { _ in true }), first <= 1 else { return nil }
      isWord = first == 1
      guard case .hash(let high, let low) = RevisionDigest(hash: bytes.dropFirst()) else {
        return nil
      }
      self.high = high
      self.low = low
    }

    /// The hash: the digest's own, or what stands for a word.
    var hash: RevisionDigest { .hash(high: high, low: low) }

    fileprivate var bytes: [UInt8] {
      [isWord ? 1 : 0] + withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }
  }

  /// A branch by its tombstone.
  init(tombstone: RevisionID, leaf: RevisionID?, day: Int) {
    generation = tombstone.generation
    self.leaf = leaf.map { Digest($0.digest) }
    self.tombstone = Digest(tombstone.digest)
    self.day = day
  }

  /// What the mark of a leaf has in the places of the generation and the leaf.
  init(leaf: RevisionID) {
    generation = leaf.generation + 1
    self.leaf = Digest(leaf.digest)
    tombstone = Digest(leaf.digest)
    day = 0
  }

  /// Reads one; nil for bytes that ``bytes`` does not make.
  init?(_ encoded: some Collection<UInt8>) {
    let bytes = Array(encoded)
    guard bytes.count == Self.byteCount, bytes[0] <= 1,
      let tombstone = Digest(bytes[Self.tombstoneBytes])
    else { return nil }
    let isRoot = bytes[0] == 0
    guard let leaf = Digest(bytes[Self.leafBytes]),
      !isRoot || bytes[Self.leafBytes].allSatisfy({ $0 == 0 })
    else { return nil }
    let number = bytes[Self.generationBytes].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard number >= 1, number <= UInt64(RevisionID.maximumGeneration) else { return nil }
    generation = Int(number)
    self.leaf = isRoot ? nil : leaf
    self.tombstone = tombstone
    day = bytes[Self.tombstoneBytes.upperBound...].reduce(0) { $0 << 8 | Int($1) }
  }

  /// The mark's bytes.
  var bytes: [UInt8] {
    var bytes: [UInt8] = [leaf == nil ? 0 : 1]
    bytes.reserveCapacity(Self.byteCount)
    withUnsafeBytes(of: UInt64(generation).bigEndian) { bytes.append(contentsOf: $0) }
    bytes += leaf?.bytes ?? [UInt8](repeating: 0, count: Self.leafBytes.count)
    bytes += tombstone.bytes
    let day = min(max(day, 0), Self.lastDay)
    bytes += [UInt8(truncatingIfNeeded: day >> 16), UInt8(truncatingIfNeeded: day >> 8)]
    bytes.append(UInt8(truncatingIfNeeded: day))
    return bytes
  }
}
