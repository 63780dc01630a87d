import Crypto

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
