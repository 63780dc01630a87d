import Documents
import JSON
import Stores

/// An answer's text as it grows, in pieces: one of many megabytes is never moved, copied or joined in one go.
struct AnswerText: Sendable {
  /// Bytes from which on a piece is put aside: 64 KiB.
  private static let pieceBytes = 64 << 10
  /// Bytes from which on a value is a piece of its own, which is shared where it comes again: 16 KiB.
  private static let sharedBytes = 16 << 10

  /// Where a value stands that was written.
  struct Place: Sendable {
    fileprivate let piece: Int
    fileprivate let range: Range<Int>
  }

  private var pieces: [[UInt8]] = []
  /// Bytes beside those in ``writer``.
  private var pieceCount = 0
  /// Writes what comes next.
  var writer = JSONWriter(reserving: 4_096)

  /// How many bytes there are.
  var count: Int { pieceCount + writer.bytes.count }
  /// Whether it is longer than ``CouchLimits/answerBytes``.
  var isTooLong: Bool { count > CouchLimits.answerBytes }

  /// Puts aside what is written, if it is long enough. Not within a value whose place is wanted.
  mutating func settle() {
    if writer.bytes.count >= Self.pieceBytes { cut() }
  }

  /// The place of the value that was written since ``writer`` had so many bytes.
  func place(from start: Int) -> Place {
    Place(piece: pieces.count, range: start..<writer.bytes.count)
  }

  /// Writes a value again.
  mutating func again(_ place: Place) {
    // A copy where it is the same array: what is appended to its own bytes would copy all of it.
    writer.raw(
      place.piece < pieces.count
        ? pieces[place.piece][place.range] : Array(writer.bytes[place.range])[...])
  }

  /// Writes bytes that are one whole JSON value.
  mutating func value(_ bytes: [UInt8]) {
    // A value without bytes: the comma that is due.
    writer.raw([UInt8]())
    append(bytes)
  }

  /// Appends bytes as they are.
  mutating func append(_ bytes: [UInt8]) {
    guard bytes.count >= Self.sharedBytes else { return writer.append(bytes) }
    cut()
    pieces.append(bytes)
    pieceCount += bytes.count
  }

  /// Takes out all that is written, to be put in somewhere else; it is counted all the same.
  mutating func takeOut() -> [[UInt8]] {
    cut()
    let taken = pieces
    pieces = []
    writer = JSONWriter(reserving: 256)
    return taken
  }

  /// Writes a value that was taken out.
  mutating func putBack(_ taken: [[UInt8]]) {
    writer.raw([UInt8]())
    for piece in taken {
      append(piece)
      pieceCount -= piece.count
    }
  }

  /// Ends the text.
  /// - Returns: its pieces.
  mutating func finish() -> [[UInt8]] {
    cut()
    return pieces
  }

  private mutating func cut() {
    guard !writer.bytes.isEmpty else { return }
    let piece = writer.take(reserving: 0)
    pieceCount += piece.count
    pieces.append(piece)
  }
}

/// Puts an answer together in slices, each from one state of a store.
protocol AnswerReader: Sendable {
  /// What there is of the answer.
  var text: AnswerText { get }
  /// Whether there is nothing that the answer could tell of.
  var isEmpty: Bool { get }

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: whether the answer is whole, or too long.
  mutating func read(_ view: any StoreView) throws -> Bool
}

extension AnswerReader {
  var isEmpty: Bool { false }
}

extension CouchDatabase {
  /// The answer that a reader puts together.
  /// - Parameter advice: what a client whose answer would be too long had better ask for.
  /// - Throws: 404 `missing` when it is empty; 413 when it would be longer than ``CouchLimits/answerBytes``; 503 when
  ///   there is no memory for it.
  func answer(
    by reader: some AnswerReader, advice: String
  ) async throws -> CouchAnswer {
    var text = try await store.read(inSlices: reader) {
      [holdsAnswer] reader, view -> AnswerText? in
      let isWhole = try reader.read(view)
      guard !isWhole || !reader.isEmpty else { throw DocumentError.missing }
      guard holdsAnswer(reader.text.count) else { throw Self.noMemory }
      return isWhole ? reader.text : nil
    }
    guard !text.isTooLong else { throw ServiceError.tooLarge("The answer is too long: \(advice)") }
    return CouchAnswer(200, inPieces: text.finish())
  }

  /// The error of an answer that there is no memory for.
  static let noMemory = ServiceError(
    .unavailable, "There is no memory for the answer; ask for less, or try again soon")
}
