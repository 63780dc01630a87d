import Documents
import JSON
import Stores

/// Rows of `_changes` in one text, each one JSON object. The text is kept in pieces, so that a copy that grows doesn't copy
/// all of it.
package struct ChangesRows: RandomAccessCollection, Sendable, Equatable {
  /// The text between two rows of a normal answer.
  package static let separator = Array(",\n".utf8)
  /// When ``writer`` has this many bytes, they become a piece: 64 KiB.
  private static let pieceBytes = 64 << 10

  /// Whole rows, each piece after the first with the separator before its first row.
  private var written: [[UInt8]] = []
  /// The number of bytes in ``written``.
  private var writtenCount = 0
  private var writer = JSONWriter()
  /// Where each row ends: in which piece, and at which byte of it.
  private var ends: [(piece: Int, byte: Int)] = []

  init() {}

  /// The rows with ``separator`` between them, in pieces.
  package var pieces: [[UInt8]] { written + [writer.bytes] }
  package var byteCount: Int { writtenCount + writer.bytes.count }
  package var startIndex: Int { 0 }
  package var endIndex: Int { ends.count }

  /// The bytes of one row.
  package subscript(index: Int) -> ArraySlice<UInt8> {
    let end = ends[index]
    let bytes = end.piece < written.count ? written[end.piece] : writer.bytes
    guard index > 0 else { return bytes[..<end.byte] }
    let before = ends[index - 1]
    return bytes[((before.piece == end.piece ? before.byte : 0) + Self.separator.count)..<end.byte]
  }

  mutating func append(_ write: (inout JSONWriter) throws -> Void) rethrows {
    if writer.bytes.count >= Self.pieceBytes {
      writtenCount += writer.bytes.count
      written.append(writer.take(reserving: 0))
    }
    if !isEmpty { writer.beginText(after: Self.separator) }
    try write(&writer)
    ends.append((written.count, writer.bytes.count))
  }

  package static func == (left: ChangesRows, right: ChangesRows) -> Bool {
    left.pieces.joined().elementsEqual(right.pieces.joined())
  }
}

/// Some rows of `_changes` and the position for the next page.
package struct ChangesPage: Sendable {
  /// The rows in the query's order.
  package let rows: ChangesRows
  /// The position after the last change that was examined, which may come after the last row's change.
  package let last: SinceToken
  /// The most changes that may follow; 0 only when there is none. It is exact except that stores may also count a
  /// change that a later change of the same document has replaced.
  package let pending: Int
  /// Whether the answer is complete: the end of the feed or the limit has been reached.
  package let isComplete: Bool
  /// Whether the answer starts from the beginning because the token is not valid here; see ``SinceToken``.
  package let isRewound: Bool
  /// The sequence of the last change that belongs to the answer.
  let end: Int64

  /// The text before the rows of a normal answer.
  package static let opening = Array(#"{"results":["#.utf8) + [0x0A]

  /// The text after the rows of a normal answer, after its last page.
  package var closing: [UInt8] {
    var writer = JSONWriter(appendingTo: Array("\n],\n".utf8))
    appendMembers(to: &writer)
    return writer.bytes + Array("}\n".utf8)
  }

  /// The last line of a continuous feed.
  package var lastLine: [UInt8] {
    var writer = JSONWriter(reserving: 96)
    writer.beginObject()
    appendMembers(to: &writer)
    writer.endObject()
    return writer.bytes + [0x0A]
  }

  private func appendMembers(to writer: inout JSONWriter) {
    writer.member("last_seq", last.text)
    writer.member("pending", pending)
  }

  /// The whole answer, when this page is its only page.
  package var answer: CouchAnswer {
    let pieces = rows.pieces
    guard pieces.count > 1 else { return CouchAnswer(Self.opening + pieces[0] + closing) }
    return CouchAnswer(.done, inPieces: [Self.opening] + pieces + [closing])
  }
}
