import Crypto

/// What a tree remembers of branches that merges closed: when the branches that it still holds were closed,
/// and which branches were removed from it. Of a removed branch only a mark is kept (``marks``).
package struct ClosedBranches: Sendable, Equatable {
  /// How many closed branches a tree holds with their revisions; the newest are kept.
  package static let maximumStanding = 64
  /// How many marks are kept, the newest: 184 KiB.
  package static let maximumMarks = 4_096
  /// How many days a tree holds a closed branch, and how many more days the mark of a removed branch is kept.
  package static let days = 90

  /// The closed branches that the tree holds, in the order in which they were closed.
  var standing: [ClosedBranch] = []
  /// The marks of removed branches, oldest first, each of ``ClosedBranch/byteCount`` bytes. Searches use the
  /// bytes, because otherwise each read of a tree would decode thousands of marks.
  private(set) var marks: [UInt8] = []

  init() {}

  /// Reads the end of an encoded tree.
  /// - Throws: `damaged` for bytes that ``ClosedBranch/bytes`` can't produce.
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
    // The tree's checksum covers the marks, and there may be thousands, so only their flags are checked here.
    for index in stride(from: marks.startIndex, to: marks.endIndex, by: size) {
      guard ClosedBranch.flagOffsets.allSatisfy({ marks[index + $0] <= 1 }) else { throw damaged }
    }
    self.marks = Array(marks)
  }

  var isEmpty: Bool { standing.isEmpty && marks.isEmpty }
  var markCount: Int { marks.count / ClosedBranch.byteCount }

  /// Whether a branch that was removed from the tree ended in this revision, or in a tombstone whose parent
  /// this is.
  func hasMark(of revision: RevisionID) -> Bool {
    hasMark(ofTombstone: revision) || hasMark(ofLeaf: revision)
  }

  /// Whether this is the last revision before the tombstone of a branch that was removed from the tree.
  func hasMark(ofLeaf revision: RevisionID) -> Bool {
    contains(ClosedBranch(leaf: revision), at: ClosedBranch.leafBytes)
  }

  private func hasMark(ofTombstone revision: RevisionID) -> Bool {
    contains(ClosedBranch(tombstone: revision, leaf: nil, day: 0), at: ClosedBranch.tombstoneBytes)
  }

  /// Looks in one part of the marks for the same generation and the same bytes.
  private func contains(_ wanted: ClosedBranch, at part: Range<Int>) -> Bool {
    guard !marks.isEmpty else { return false }
    let pattern = wanted.bytes
    let size = ClosedBranch.byteCount
    return marks.withUnsafeBytes { all in
      pattern.withUnsafeBytes { pattern in
        // The last bytes of a digest differ in most marks, so they are compared first.
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

  /// Adds a mark for a removed branch, with this day as its date.
  mutating func mark(_ branch: ClosedBranch, on day: Int) {
    var branch = branch
    branch.day = day
    marks += branch.bytes
  }

  /// Removes marks older than ``days`` days, and the oldest marks above ``maximumMarks``. If the clock was
  /// set back, marks stay longer.
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

/// A branch that a merge closed with a tombstone: the tombstone, its parent (the leaf before the merge), and
/// the day.
///
/// Its 46 bytes: a flag byte (1 if there is a leaf); the tombstone's generation, 8 bytes; the digests of the
/// leaf and of the tombstone, each a byte (1 for a word, 0 for a hash) and 16 bytes; the day since 1970, 3
/// bytes. Integers are big-endian. A digest that is a word (a peer's own) is replaced by the first 16 bytes
/// of its SHA-256.
struct ClosedBranch: Sendable, Equatable {
  static let byteCount = 46
  static let generationBytes = 1..<9
  /// The position of the leaf's digest.
  static let leafBytes = 9..<26
  /// The position of the tombstone's digest.
  static let tombstoneBytes = 26..<43

  /// The positions of the flags; each is 0 or 1.
  static let flagOffsets = [0, leafBytes.lowerBound, tombstoneBytes.lowerBound]

  /// The tombstone's generation; the leaf's is one less.
  let generation: Int
  /// The leaf's digest; nil when the tombstone's parent is unknown.
  let leaf: Digest?
  let tombstone: Digest
  /// When the branch was closed, or when its mark was made, in days since 1970.
  var day: Int

  /// The last day that fits into three bytes.
  private static let lastDay = 1 << 24 - 1

  /// A revision's digest in 17 bytes.
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

    /// The digest itself, or the hash of a word.
    var hash: RevisionDigest { .hash(high: high, low: low) }

    fileprivate var bytes: [UInt8] {
      [isWord ? 1 : 0] + withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }
  }

  init(tombstone: RevisionID, leaf: RevisionID?, day: Int) {
    generation = tombstone.generation
    self.leaf = leaf.map { Digest($0.digest) }
    self.tombstone = Digest(tombstone.digest)
    self.day = day
  }

  /// Creates a pattern for a search by leaf: only the generation and the leaf are used.
  init(leaf: RevisionID) {
    generation = leaf.generation + 1
    self.leaf = Digest(leaf.digest)
    tombstone = Digest(leaf.digest)
    day = 0
  }

  /// Reads a branch; nil for bytes that ``bytes`` can't produce.
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
