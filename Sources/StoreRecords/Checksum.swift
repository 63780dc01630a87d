private import CXXHash
private import Crypto
package import Documents

/// What a row's values add up to, by XXH3 with 64 bits: what tells a row that was read back as written from one in which
/// a bit has turned, which SQLite itself can't see. Why XXH3: <doc:FastChecksums>.
///
/// Every value is written with its length or a fixed width, so that two rows never look alike. Rows that were written
/// before version 6 of the schema carry the first eight bytes of a SHA-256 over the same; they count as they are, and get
/// the other when they are next written.
package struct Checksum {
  /// What kind of row it is, so that a row of one table never passes for one of another.
  package enum Kind: UInt8 {
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
    /// Old revisions of a document's history.
    case history = 10
  }

  /// What was added so far.
  package private(set) var bytes: [UInt8]
  /// What stands behind it: a body, a tree.
  package var content: [UInt8] = []
  /// How many bytes that is.
  package var count: Int { bytes.count }

  /// Begins the checksum of one row.
  package init(_ kind: Kind) {
    bytes = []
    bytes.reserveCapacity(192)
    bytes.append(kind.rawValue)
  }

  /// Adds eight bytes.
  package mutating func append(_ value: Int64) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// Adds an integer, or its absence.
  package mutating func append(_ value: Int64?) {
    bytes.append(value == nil ? 0 : 1)
    append(value ?? 0)
  }

  /// Adds a text's length and bytes.
  package mutating func append(_ text: String) {
    append(Int64(text.utf8.count))
    var text = text
    text.withUTF8 { bytes.append(contentsOf: $0) }
  }

  /// Adds a text's length and bytes, whether they are UTF-8 or not.
  package mutating func append(bytes text: [UInt8]) {
    append(Int64(text.count))
    bytes += text
  }

  /// Adds such a text, or its absence.
  package mutating func append(optionalBytes text: [UInt8]?) {
    bytes.append(text == nil ? 0 : 1)
    append(bytes: text ?? [])
  }

  /// Adds a text, or its absence.
  package mutating func append(_ text: String?) {
    bytes.append(text == nil ? 0 : 1)
    append(text ?? "")
  }

  /// Adds a revision's two parts.
  package mutating func append(_ revision: RevisionID) {
    append(Int64(revision.generation))
    append(Int64(revision.digest.count))
    revision.digest.append(to: &bytes)
  }

  /// What a row of these values carries when it is written.
  package var value: Int64 { Self.value(of: bytes, over: content) }

  /// Whether a row that carries this was written with these values.
  package func matches(_ found: Int64) -> Bool { Self.matches(found, bytes, over: content) }

  /// What bytes that were put together before, and `content` behind them, add up to.
  package static func value(of bytes: [UInt8], over content: [UInt8]) -> Int64 {
    let sum = bytes.withUnsafeBytes { head in
      content.withUnsafeBytes { rest in
        xxh3_of_two(head.baseAddress, head.count, rest.baseAddress, rest.count)
      }
    }
    return Int64(bitPattern: sum)
  }

  /// The same by the rule before version 6.
  package static func formerValue(of bytes: [UInt8], over content: [UInt8]) -> Int64 {
    var hash = SHA256()
    bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
    if !content.isEmpty { content.withUnsafeBytes { hash.update(bufferPointer: $0) } }
    return hash.finalize().withUnsafeBytes { digest in
      Int64(bitPattern: UInt64(bigEndian: digest.loadUnaligned(as: UInt64.self)))
    }
  }

  /// Whether bytes add up to this by either rule.
  package static func matches(_ found: Int64, _ bytes: [UInt8], over content: [UInt8]) -> Bool {
    found == value(of: bytes, over: content) || found == formerValue(of: bytes, over: content)
  }

  /// The checksum that a stored body carries wherever it stands: as winner or beside it.
  package static func body(_ id: DocumentID, _ revision: RevisionID, _ body: [UInt8]) -> Checksum {
    var checksum = Checksum(.body)
    checksum.append(id.text)
    checksum.append(revision)
    checksum.content = body
    return checksum
  }

  /// The checksum of an encoded tree whose winner is `winner`.
  package static func tree(_ id: DocumentID, _ winner: RevisionID, _ tree: [UInt8]) -> Checksum {
    var checksum = Checksum(.tree)
    checksum.append(id.text)
    checksum.append(winner)
    checksum.content = tree
    return checksum
  }

  /// The checksum of a piece of a document's history.
  package static func piece(_ id: DocumentID, _ piece: HistoryPiece) -> Checksum {
    var checksum = Checksum(.history)
    checksum.append(id.text)
    checksum.append(Int64(piece.generation))
    checksum.content = piece.bytes
    return checksum
  }
}
