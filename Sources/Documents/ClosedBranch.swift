import Crypto

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
