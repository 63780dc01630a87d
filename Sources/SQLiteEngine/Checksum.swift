private import Crypto
import Documents

/// The first eight bytes of a SHA-256 over a row's values: what tells a row that was read back as written
/// from one in which a bit has turned, which SQLite itself can't see.
///
/// SHA-256 rather than a CRC: swift-crypto's is written in assembler and maintained, finds what a CRC
/// finds (a wrong answer has a chance of 2⁻⁶⁴), and takes about a microsecond for a body of 1 KB.
/// Every value is written with its length or a fixed width, so that two rows never look alike.
struct Checksum {
  /// What kind of row it is, so that a row of one table never passes for one of another.
  enum Kind: UInt8 {
    /// The header of a store's file.
    case header = 1
    /// A document's columns before body and tree.
    case head = 2
    /// What a revision says.
    case body = 3
    /// A document's history.
    case tree = 4
    /// A local document.
    case local = 5
    /// An entry of the registry.
    case entry = 6
    /// What is known of an index.
    case index = 7
    /// A document's place in an index.
    case place = 8
    /// When a revision came, and from whom.
    case arrival = 9
  }

  /// What was added so far.
  private(set) var bytes: [UInt8]
  /// How many bytes that is.
  var count: Int { bytes.count }

  /// Begins the checksum of one row.
  init(_ kind: Kind) {
    bytes = []
    bytes.reserveCapacity(192)
    bytes.append(kind.rawValue)
  }

  /// Adds eight bytes.
  mutating func append(_ value: Int64) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// Adds an integer, or its absence.
  mutating func append(_ value: Int64?) {
    bytes.append(value == nil ? 0 : 1)
    append(value ?? 0)
  }

  /// Adds a text's length and bytes.
  mutating func append(_ text: String) {
    append(Int64(text.utf8.count))
    var text = text
    text.withUTF8 { bytes.append(contentsOf: $0) }
  }

  /// Adds a text's length and bytes, whether they are UTF-8 or not.
  mutating func append(bytes text: [UInt8]) {
    append(Int64(text.count))
    bytes += text
  }

  /// Adds such a text, or its absence.
  mutating func append(optionalBytes text: [UInt8]?) {
    bytes.append(text == nil ? 0 : 1)
    append(bytes: text ?? [])
  }

  /// Adds a text, or its absence.
  mutating func append(_ text: String?) {
    bytes.append(text == nil ? 0 : 1)
    append(text ?? "")
  }

  /// Adds a revision's two parts.
  mutating func append(_ revision: RevisionID) {
    append(Int64(revision.generation))
    append(Int64(revision.digest.count))
    revision.digest.append(to: &bytes)
  }

  /// The checksum of what was added, and of `content` behind it.
  func value(over content: [UInt8] = []) -> Int64 { Self.value(of: bytes, over: content) }

  /// The checksum of bytes that were put together before, and of `content` behind them.
  static func value(of bytes: [UInt8], over content: [UInt8]) -> Int64 {
    var hash = SHA256()
    bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
    if !content.isEmpty { content.withUnsafeBytes { hash.update(bufferPointer: $0) } }
    return hash.finalize().withUnsafeBytes { digest in
      Int64(bitPattern: UInt64(bigEndian: digest.loadUnaligned(as: UInt64.self)))
    }
  }

  /// The checksum that a stored body carries wherever it stands: as winner or beside it.
  static func body(_ id: DocumentID, _ revision: RevisionID, _ body: [UInt8]) -> Int64 {
    var checksum = Checksum(.body)
    checksum.append(id.text)
    checksum.append(revision)
    return checksum.value(over: body)
  }

  /// The checksum of an encoded tree whose winner is `winner`.
  static func tree(_ id: DocumentID, _ winner: RevisionID, _ tree: [UInt8]) -> Int64 {
    var checksum = Checksum(.tree)
    checksum.append(id.text)
    checksum.append(winner)
    return checksum.value(over: tree)
  }
}
