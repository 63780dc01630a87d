import Documents
import Scheduling
import Stores

/// The text of an answer while it is written, in pieces, so that a text of many megabytes is never moved, copied or
/// joined at once.
struct AnswerText: Sendable {
  /// When ``writer`` has this many bytes, they become a piece: 64 KiB.
  private static let pieceBytes = 64 << 10
  /// A value of this many bytes or more becomes a piece of its own, so that repeated values share it: 16 KiB.
  private static let sharedBytes = 16 << 10

  /// The position of a written value.
  struct ValueRange: Sendable {
    fileprivate let piece: Int
    fileprivate let range: Range<Int>
  }

  /// A value that is written as far as its attachments were read.
  private struct UnfinishedValue {
    let text: RevisionText
    /// How many bytes of the text are written.
    var count = 0
    /// How many gaps are written.
    var gaps = 0
    /// The attachment in the present gap.
    var attachment: AttachmentStream?
  }

  private var unfinished: UnfinishedValue?
  private var pieces: [[UInt8]] = []
  /// The number of bytes in `pieces`.
  private var pieceCount = 0
  /// Writes the next values.
  var writer = JSONWriter(reserving: 4_096)

  /// How many bytes there are.
  var count: Int { pieceCount + writer.bytes.count }
  var isTooLong: Bool { count > CouchLimits.answerBytes }
  var isFull: Bool { count >= CouchLimits.answerPartBytes }

  /// Makes the written bytes a piece, if there are enough. Do not call this inside a value whose range is needed.
  mutating func flush() {
    if writer.bytes.count >= Self.pieceBytes { endPiece() }
  }

  /// The range of the value that was written since ``writer`` had `start` bytes.
  func range(from start: Int) -> ValueRange {
    ValueRange(piece: pieces.count, range: start..<writer.bytes.count)
  }

  mutating func repeatValue(at written: ValueRange) {
    // Copies the bytes when they are the writer's own: appending an array's own slice to it would copy the whole array.
    writer.raw(
      written.piece < pieces.count
        ? pieces[written.piece][written.range] : Array(writer.bytes[written.range])[...])
  }

  /// Writes bytes that are one whole JSON value.
  mutating func value(_ bytes: [UInt8]) {
    // An empty value, which writes the comma that is due.
    writer.raw([UInt8]())
    append(bytes)
  }

  /// Begins a whole JSON value, which ``finishValue(in:)`` ends. Nothing else is written in between.
  mutating func begin(_ value: RevisionText) {
    // An empty value, which writes the comma that is due.
    writer.raw([UInt8]())
    append(value)
  }

  /// Begins a text with the bytes of attachments, which ``finishValue(in:)`` ends.
  mutating func append(_ text: RevisionText) {
    guard !text.gaps.isEmpty else { return append(text.bytes) }
    unfinished = UnfinishedValue(text: text)
  }

  /// Writes what is missing of a value, until the slice is over or the text is full.
  /// - Returns: whether the value is whole.
  /// - Throws: `integrity` when the bytes of an attachment are gone.
  mutating func finishValue(in view: any StoreView) throws -> Bool {
    while let value = unfinished {
      unfinished = try continued(value, in: view)
      if unfinished != nil, isFull || view.slice.isOver { return false }
    }
    flush()
    return true
  }

  /// Writes the next piece of a value: of an attachment, or the text up to the next one.
  /// - Returns: the value; nil when it is whole.
  private mutating func continued(
    _ former: UnfinishedValue, in view: any StoreView
  ) throws -> UnfinishedValue? {
    var value = former
    if var attachment = value.attachment {
      append(try attachment.next(in: view))
      value.attachment = attachment.isComplete ? nil : attachment
      if attachment.isComplete { value.gaps += 1 }
      return value
    }
    let gap = value.text.gaps.dropFirst(value.gaps).first
    let end = gap?.offset ?? value.text.bytes.count
    append(Array(value.text.bytes[value.count..<end]))
    value.count = end
    guard let gap else { return nil }
    value.attachment = AttachmentStream(gap.facts, isBase64: gap.isBase64)
    return value
  }

  mutating func append(_ bytes: [UInt8]) {
    guard bytes.count >= Self.sharedBytes else { return writer.append(bytes) }
    endPiece()
    pieces.append(bytes)
    pieceCount += bytes.count
  }

  /// Removes and returns the text so far as a part of the answer; the text goes on behind it. The ranges of written
  /// values are void.
  mutating func takePart() -> [[UInt8]] {
    endPiece()
    defer { (pieces, pieceCount) = ([], 0) }
    return pieces
  }

  /// Ends the text.
  /// - Returns: its pieces.
  mutating func finish() -> [[UInt8]] {
    endPiece()
    return pieces
  }

  private mutating func endPiece() {
    guard !writer.bytes.isEmpty else { return }
    let piece = writer.take(reserving: 0)
    pieceCount += piece.count
    pieces.append(piece)
  }
}

/// Builds an answer in slices, each from one snapshot of the store. A long answer is taken in parts.
protocol AnswerReader: Sendable {
  /// The text since the last part was taken. Only ``AnswerText/takePart()`` changes it from outside.
  var text: AnswerText { get set }
  /// Whether the answer has no content; the client then gets 404.
  var isEmpty: Bool { get }

  /// Continues with a snapshot of the store until the slice is over, or the text is full.
  /// - Returns: whether the answer is complete.
  mutating func read(_ view: any StoreView) throws -> Bool

  /// Drops the documents that were read: the client may take long for the part that is complete.
  mutating func release()
}

extension AnswerReader {
  var isEmpty: Bool { false }
  /// Whether the reader stops for now.
  func pauses(_ view: any StoreView) -> Bool { view.slice.isOver || text.isFull }
}

/// What follows the first part of a long answer. It reads no two parts from different databases of the same name.
package struct AnswerRest: Sendable {
  fileprivate var reader: any AnswerReader
  /// The newest state of the store that was read; nil before the first slice.
  fileprivate var seen: StoreInfo?
}

extension CouchDatabase {
  /// The answer that a reader builds: all of it, or the first part and what follows it.
  /// - Throws: 404 `missing` when it is empty; 503 when there is no memory for a part.
  func answer(by reader: some AnswerReader) async throws -> CouchAnswer {
    try await answer(AnswerRest(reader: reader))
  }

  /// The next part of a long answer.
  /// - Throws: 503 when the database is no longer the same one, and when there is no memory.
  package func answer(_ rest: AnswerRest) async throws -> CouchAnswer {
    let read = try await store.read(inSlices: rest) {
      [reserveAnswer] rest, view -> (rest: AnswerRest, isWhole: Bool)? in
      let info = try view.info()
      // A server that took over without a loss has all that the answer has.
      let continues =
        rest.seen.map { seen in
          info.hasReached(seen.lastSequence) { $0.equalsBytes(of: seen.epoch) }
        } ?? true
      guard continues else {
        throw ServiceError(.unavailable, "Another database has replaced this one")
      }
      rest.seen = info
      let isWhole = try rest.reader.read(view)
      guard !isWhole || !rest.reader.isEmpty else { throw DocumentError.missing }
      guard reserveAnswer(rest.reader.text.count) else { throw Self.noMemory }
      return isWhole || rest.reader.text.isFull ? (rest, isWhole) : nil
    }
    var rest = read.rest
    let pieces = rest.reader.text.takePart()
    rest.reader.release()
    return CouchAnswer(.done, inPieces: pieces, rest: read.isWhole ? nil : rest)
  }

  static let noMemory = ServiceError(
    .unavailable, "There is no memory for the answer; ask for less, or try again soon")
}
