package import JSON

/// A revision's id, `N-<digest>`: a generation, from 1, and a digest.
///
/// The digest is 32 lower-case hex digits if this project made the revision. A peer's digest may be any short
/// word (`1-a`), as CouchDB accepts with `new_edits=false`.
///
/// Source: CouchDB, "Replication and conflict model". The order is the one in which CouchDB chooses winners.
package struct RevisionID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The highest generation. Every JSON reader reads integers up to this value exactly (RFC 8259, section 6).
  package static let maximumGeneration = 1 << 53
  /// The highest generation that a peer may send. An edit can still follow it.
  package static let maximumPeerGeneration = maximumGeneration - 1
  package static let maximumDigestBytes = 64

  /// The number of revisions from the first to this one.
  package let generation: Int
  /// The text after the first `-`.
  package let digest: RevisionDigest

  /// Creates an id from parts that are already checked.
  package init(generation: Int, digest: RevisionDigest) {
    self.generation = generation
    self.digest = digest
  }

  /// Creates an id from parts that are already checked.
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

  /// Checks a digest as in `_revisions.ids`.
  /// - Throws: ``DocumentError`` with code `invalidRevision`.
  package static func checkedDigest(_ text: String) throws(DocumentError) -> RevisionDigest {
    let digest = RevisionDigest(text)
    guard case .word = digest else { return digest }
    let bytes = text.utf8
    guard (1...maximumDigestBytes).contains(bytes.count), bytes.allSatisfy(isDigestByte) else {
      throw invalid
    }
    // 32 hex digits are a hash. A hash is written in lower case only.
    guard bytes.count != 32 || !bytes.allSatisfy(isHexByte) else { throw invalid }
    return digest
  }

  /// Lower generation first, then lower digest by bytes. Of several leaves the last one wins.
  package static func < (left: RevisionID, right: RevisionID) -> Bool {
    left.generation != right.generation
      ? left.generation < right.generation : left.digest < right.digest
  }

  package var description: String { "\(generation)-\(digest.text)" }

  /// Appends the bytes of ``description``.
  package func append(to bytes: inout [UInt8]) {
    bytes += String(generation).utf8
    bytes.append(UInt8(ascii: "-"))
    digest.append(to: &bytes)
  }

  private static let invalid = DocumentError(.invalidRevision, "Invalid rev format")

  private static func isHexByte(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) || (0x41...0x46).contains(byte)
  }

  /// Letters, digits, `-`, `.`, `_` and `~`, which are unreserved in RFC 3986: safe in a URL and in an ETag.
  private static func isDigestByte(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte)
      || byte == 0x2D || byte == 0x2E || byte == 0x5F || byte == 0x7E
  }
}

/// The part of a revision's id after the generation: a hash, or a peer's own short word.
///
/// A hash is 32 lower-case hex digits, held as the 16 bytes that they encode, because each update reads,
/// compares and writes trees of hundreds of revisions. A text has only one of the two forms.
package enum RevisionDigest: Hashable, Comparable, Sendable {
  /// 32 lower-case hex digits, the first 16 in the high word.
  case hash(high: UInt64, low: UInt64)
  /// Any other text.
  case word(String)

  /// Creates a digest from a text, without a check.
  package init(_ text: String) {
    var text = text
    self =
      text.withUTF8 { bytes in Hex.words(UnsafeRawBufferPointer(bytes)) }
      .map { .hash(high: $0.high, low: $0.low) } ?? .word(text)
  }

  /// Creates a digest from the bytes of a text, without a check.
  /// - Returns: nil when the bytes are not valid UTF-8.
  package init?(text bytes: UnsafeRawBufferPointer) {
    if let words = Hex.words(bytes) {
      self = .hash(high: words.high, low: words.low)
    } else {
      guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
      self = .word(text)
    }
  }

  /// Creates a hash from the first 16 bytes; missing bytes count as 0.
  package init(hash bytes: some Sequence<UInt8>) {
    var words: (high: UInt64, low: UInt64) = (0, 0)
    for (index, byte) in bytes.prefix(16).enumerated() {
      let bits = UInt64(byte) << (56 - UInt64(index % 8) * 8)
      if index < 8 { words.high |= bits } else { words.low |= bits }
    }
    self = .hash(high: words.high, low: words.low)
  }

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

  /// Orders by the bytes of the texts. In ASCII digits come before letters, so hashes are in the order of
  /// their numbers.
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
    plainString { bytes in value.append(to: &bytes) }
  }
}
