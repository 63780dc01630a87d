import Documents
import Stores

/// Rows of `_changes` in one text, each one JSON object in its frame. The text is kept in pieces, so that a copy that grows
/// doesn't copy all of it.
package struct ChangesRows: Sendable, Equatable {
  /// What is around the rows.
  package enum Frame: Sendable {
    /// ``separator`` between two of them, as between elements of an array.
    case array
    /// Each is a line.
    case lines
    /// Each is an event with its sequence as id, in quotation marks as in CouchDB. Source: the HTML standard, "Server-sent
    /// events".
    case events
  }

  /// The text between two rows of an array.
  package static let separator = Array(",\n".utf8)
  private static let beginOfEvent = Array("data: ".utf8)
  /// When ``writer`` has this many bytes, they become a piece: 64 KiB.
  private static let pieceBytes = 64 << 10

  private let frame: Frame
  /// Whole rows, each piece after the first with what comes before its first row.
  private var written: [[UInt8]] = []
  /// The number of bytes in ``written``.
  private var writtenCount = 0
  private var writer = JSONWriter()
  /// The number of rows.
  package private(set) var count = 0

  init(in frame: Frame) { self.frame = frame }

  /// The rows in their frames, in pieces.
  package var pieces: [[UInt8]] { isEmpty ? [] : written + [writer.bytes] }
  package var byteCount: Int { writtenCount + writer.bytes.count }
  package var isEmpty: Bool { count == 0 }

  /// Appends a row.
  /// - Parameter sequence: appends its sequence, which needs no escapes.
  /// - Parameter write: writes the members after the sequence.
  mutating func append(
    _ sequence: (inout [UInt8]) -> Void, _ write: (inout JSONWriter) throws -> Void
  ) rethrows {
    if writer.bytes.count >= Self.pieceBytes {
      writtenCount += writer.bytes.count
      written.append(writer.take(reserving: 0))
    }
    switch frame {
    case .array: writer.beginText(after: isEmpty ? [] : Self.separator)
    case .lines: writer.beginText(after: [])
    case .events: writer.beginText(after: Self.beginOfEvent)
    }
    writer.beginObject()
    writer.name("seq")
    writer.plainString(sequence)
    try write(&writer)
    writer.endObject()
    if frame != .array { writer.beginText(after: [0x0A]) }
    if frame == .events {
      writer.raw { bytes in
        bytes += "id: \"".utf8
        sequence(&bytes)
        bytes += "\"\n\n".utf8
      }
    }
    count += 1
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
  package var lastLine: [UInt8] { JSONWriter.line { appendMembers(to: &$0) } }

  private func appendMembers(to writer: inout JSONWriter) {
    writer.member("last_seq", last.text)
    writer.member("pending", pending)
  }

  /// The whole answer, when this page is its only page.
  package var answer: CouchAnswer {
    let pieces = rows.pieces
    guard pieces.count > 1 else { return CouchAnswer(Self.opening + pieces.joined() + closing) }
    return CouchAnswer(.done, inPieces: [Self.opening] + pieces + [closing])
  }
}
