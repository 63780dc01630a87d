package import JSON

/// A revision's id, `N-<digest>`: a generation from 1 and a digest, 32 lower-case hex digits when
/// this project made it. A peer's may be any short word (`1-a`), as CouchDB accepts with
/// `new_edits=false`.
///
/// Source: CouchDB, "Replication and conflict model"; order as CouchDB picks winners.
package struct RevisionID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The highest generation: integers up to here are exact in every JSON reader (RFC 8259, section
  /// 6).
  package static let maximumGeneration = 1 << 53
  /// The highest generation that a peer may bring: one that an edit can follow.
  package static let maximumPeerGeneration = maximumGeneration - 1
  /// The longest digest, in bytes.
  package static let maximumDigestBytes = 64

  /// How many edits led here, from 1.
  package let generation: Int
  /// What follows the first `-`.
  package let digest: RevisionDigest

  /// Puts an id together from parts that were checked before.
  package init(generation: Int, digest: RevisionDigest) {
    self.generation = generation
    self.digest = digest
  }

  /// Puts an id together from parts that were checked before.
  package init(generation: Int, digest: String) {
    self.init(generation: generation, digest: RevisionDigest(digest))
  }

  /// Reads `N-<digest>`.
  /// - Throws: ``DocumentError`` with code `invalidRevision`.
  package init(_ text: String) throws(DocumentError) {
    let bytes = text.utf8
    guard let dash = bytes.firstIndex(of: UInt8(ascii: "-")) else { throw Self.invalid }
    let number = bytes[..<dash]
    guard (1...16).contains(number.count), number.first != UInt8(ascii: "0"),
      number.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let generation = Int(Substring(number)), generation <= Self.maximumGeneration
    else { throw Self.invalid }
    self.generation = generation
    self.digest = try Self.checkedDigest(String(Substring(bytes[bytes.index(after: dash)...])))
  }

  /// Checks a digest as it stands in `_revisions.ids`.
  /// - Throws: ``DocumentError`` with code `invalidRevision`.
  package static func checkedDigest(_ text: String) throws(DocumentError) -> RevisionDigest {
    let digest = RevisionDigest(text)
    guard case .word = digest else { return digest }
    let bytes = text.utf8
    guard (1...maximumDigestBytes).contains(bytes.count), bytes.allSatisfy(isDigestByte) else {
      throw invalid
    }
    // Thirty-two hex digits are a hash, which has one spelling only: lower case.
    guard bytes.count != 32 || !bytes.allSatisfy(isHexByte) else { throw invalid }
    return digest
  }

  /// Lower generation first, then lower digest by bytes: the last of several leaves wins.
  package static func < (left: RevisionID, right: RevisionID) -> Bool {
    left.generation != right.generation
      ? left.generation < right.generation : left.digest < right.digest
  }

  package var description: String { "\(generation)-\(digest.text)" }

  private static let invalid = DocumentError(.invalidRevision, "Invalid rev format")

  private static func isHexByte(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) || (0x41...0x46).contains(byte)
  }

  /// Letters, digits and the marks that RFC 3986 leaves unreserved: safe in a URL and in an ETag.
  private static func isDigestByte(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte)
      || byte == 0x2D || byte == 0x2E || byte == 0x5F || byte == 0x7E
  }
}

/// What follows the generation in a revision's id: a hash, or a peer's own short word.
///
/// A hash is 32 lower-case hex digits and held as the 16 bytes that they stand for, because trees of
/// hundreds of revisions are read, compared and written at every update; a text has one form only.
package enum RevisionDigest: Hashable, Comparable, Sendable {
  /// 32 lower-case hex digits, the first 16 in the high word.
  case hash(high: UInt64, low: UInt64)
  /// Any other text.
  case word(String)

  /// Takes a text, which is not checked.
  package init(_ text: String) {
    var text = text
    self =
      text.withUTF8 { bytes in Hex.words(UnsafeRawBufferPointer(bytes)) }
      .map { .hash(high: $0.high, low: $0.low) } ?? .word(text)
  }

  /// The hash of 16 bytes, the first ones; those that are missing count as 0.
  package init(hash bytes: some Sequence<UInt8>) {
    var words: (high: UInt64, low: UInt64) = (0, 0)
    for (place, byte) in bytes.prefix(16).enumerated() {
      let bits = UInt64(byte) << (56 - UInt64(place % 8) * 8)
      if place < 8 { words.high |= bits } else { words.low |= bits }
    }
    self = .hash(high: words.high, low: words.low)
  }

  /// The digest as it is written.
  package var text: String {
    switch self {
    case .hash(let high, let low): Hex.string(high, low)
    case .word(let text): text
    }
  }

  /// How many bytes ``text`` has.
  package var count: Int {
    switch self {
    case .hash: 32
    case .word(let text): text.utf8.count
    }
  }

  /// Appends the bytes of ``text``.
  package func append(to bytes: inout [UInt8]) {
    switch self {
    case .hash(let high, let low): Hex.append(high, low, to: &bytes)
    case .word(let text): bytes += text.utf8
    }
  }

  package static func == (left: RevisionDigest, right: RevisionDigest) -> Bool {
    switch (left, right) {
    case (.hash(let high, let low), .hash(let otherHigh, let otherLow)):
      high == otherHigh && low == otherLow
    case (.word(let text), .word(let other)): text.equalsBytes(of: other)
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .hash(let high, let low):
      hasher.combine(high)
      hasher.combine(low)
    case .word(let text): text.hashBytes(into: &hasher)
    }
  }

  /// By the bytes of the texts. Digits come before letters there, so that hashes are in the order of their
  /// numbers.
  package static func < (left: RevisionDigest, right: RevisionDigest) -> Bool {
    switch (left, right) {
    case (.hash(let high, let low), .hash(let otherHigh, let otherLow)):
      (high, low) < (otherHigh, otherLow)
    default: left.text.precedesBytes(of: right.text)
    }
  }
}

extension JSONWriter {
  /// Writes a revision's digest as a string.
  package mutating func digest(_ value: RevisionDigest) {
    plainString { bytes in value.append(to: &bytes) }
  }

  /// Writes a revision's id as a string.
  package mutating func revision(_ value: RevisionID) {
    plainString { bytes in
      bytes.append(contentsOf: String(value.generation).utf8)
      bytes.append(UInt8(ascii: "-"))
      value.digest.append(to: &bytes)
    }
  }
}
