private import CXXHash
package import Documents

/// The checksum of a row's values: XXH3 with 64 bits. It detects changed bits, which SQLite itself can't
/// detect. The reasons for XXH3 are in <doc:FastChecksums>.
///
/// Every value is written with its length or a fixed width, so that different rows never have the same bytes.
package struct Checksum {
  /// The kind of the row, so that a row of one table is never accepted as a row of another.
  package enum Kind: UInt8 {
    /// The header of a store's file.
    case header = 1
    /// A document's columns before body and tree.
    case head = 2
    case body = 3
    /// A document's history.
    case tree = 4
    case local = 5
    /// An entry of the registry.
    case entry = 6
    /// The state of an index.
    case index = 7
    case indexEntry = 8
    /// When a revision came and from whom.
    case arrival = 9
    /// Old revisions of a document's history.
    case history = 10
  }

  /// The bytes that were added so far.
  package private(set) var bytes: [UInt8]
  /// The bytes that follow them: a body or a tree.
  package var content: [UInt8] = []
  /// The number of bytes that were added so far.
  package var count: Int { bytes.count }

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

  /// Adds a text's length and bytes, which need not be UTF-8.
  package mutating func append(bytes text: [UInt8]) {
    append(Int64(text.count))
    bytes += text
  }

  /// Adds a text that need not be UTF-8, or its absence.
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

  /// The checksum to store with these values.
  package var value: Int64 { Self.value(of: bytes, over: content) }

  /// Whether `found` is the checksum of these values.
  package func matches(_ found: Int64) -> Bool { found == value }

  package static func value(of bytes: [UInt8], over content: [UInt8]) -> Int64 {
    let sum = bytes.withUnsafeBytes { head in
      content.withUnsafeBytes { rest in
        xxh3_of_two(head.baseAddress, head.count, rest.baseAddress, rest.count)
      }
    }
    return Int64(bitPattern: sum)
  }

  /// The checksum of a stored body, whether it is the winner's or another one.
  package static func body(_ id: DocumentID, _ revision: RevisionID, _ body: [UInt8]) -> Checksum {
    Checksum(.body, id, revision, over: body)
  }

  /// The checksum of an encoded tree whose winner is `winner`.
  package static func tree(_ id: DocumentID, _ winner: RevisionID, _ tree: [UInt8]) -> Checksum {
    Checksum(.tree, id, winner, over: tree)
  }

  private init(_ kind: Kind, _ id: DocumentID, _ revision: RevisionID, over content: [UInt8]) {
    self.init(kind)
    append(id.text)
    append(revision)
    self.content = content
  }

  package static func piece(_ id: DocumentID, _ piece: HistoryPiece) -> Checksum {
    var checksum = Checksum(.history)
    checksum.append(id.text)
    checksum.append(Int64(piece.generation))
    checksum.content = piece.bytes
    return checksum
  }
}
