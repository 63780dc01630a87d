import Documents
import JSON
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

  private var pieces: [[UInt8]] = []
  /// The number of bytes in `pieces`, and in values that were removed.
  private var pieceCount = 0
  /// Writes the next values.
  var writer = JSONWriter(reserving: 4_096)

  /// How many bytes there are.
  var count: Int { pieceCount + writer.bytes.count }
  /// Whether it is longer than ``CouchLimits/answerBytes``.
  var isTooLong: Bool { count > CouchLimits.answerBytes }

  /// Makes the written bytes a piece, if there are enough. Do not call this inside a value whose range is needed.
  mutating func flush() {
    if writer.bytes.count >= Self.pieceBytes { endPiece() }
  }

  /// The range of the value that was written since ``writer`` had `start` bytes.
  func range(from start: Int) -> ValueRange {
    ValueRange(piece: pieces.count, range: start..<writer.bytes.count)
  }

  /// Writes a value again, by its range.
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

  /// Appends bytes as they are.
  mutating func append(_ bytes: [UInt8]) {
    guard bytes.count >= Self.sharedBytes else { return writer.append(bytes) }
    endPiece()
    pieces.append(bytes)
    pieceCount += bytes.count
  }

  /// Removes and returns all text that was written, so that it can be appended later; its bytes still count.
  mutating func removePieces() -> [[UInt8]] {
    endPiece()
    let removed = pieces
    pieces = []
    writer = JSONWriter(reserving: 256)
    return removed
  }

  /// Writes a value that was removed.
  mutating func append(pieces removed: [[UInt8]]) {
    writer.raw([UInt8]())
    for piece in removed {
      append(piece)
      pieceCount -= piece.count
    }
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

/// Builds an answer in slices, each from one snapshot of the store.
protocol AnswerReader: Sendable {
  /// The answer so far.
  var text: AnswerText { get }
  /// Whether the answer has no content; the client then gets 404.
  var isEmpty: Bool { get }

  /// Continues with a snapshot of the store until the slice is over.
  /// - Returns: whether the answer is complete, or too long.
  mutating func read(_ view: any StoreView) throws -> Bool
}

extension AnswerReader {
  var isEmpty: Bool { false }
}

extension CouchDatabase {
  /// The answer that a reader builds.
  /// - Parameter advice: what a client whose answer would be too long should ask for instead.
  /// - Throws: 404 `missing` when it is empty; 413 when it would be longer than ``CouchLimits/answerBytes``; 503 when
  ///   there is no memory for it.
  func answer(
    by reader: some AnswerReader, advice: String
  ) async throws -> CouchAnswer {
    var text = try await store.read(inSlices: reader) {
      [reserveAnswer] reader, view -> AnswerText? in
      let isWhole = try reader.read(view)
      guard !isWhole || !reader.isEmpty else { throw DocumentError.missing }
      guard reserveAnswer(reader.text.count) else { throw Self.noMemory }
      return isWhole ? reader.text : nil
    }
    guard !text.isTooLong else { throw ServiceError.tooLarge("The answer is too long: \(advice)") }
    return CouchAnswer(200, inPieces: text.finish())
  }

  /// The error for an answer that there is no memory for.
  static let noMemory = ServiceError(
    .unavailable, "There is no memory for the answer; ask for less, or try again soon")
}
