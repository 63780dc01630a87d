import Documents
import Stores

/// Puts an answer together in slices, each from one state of a store.
protocol AnswerReader: Sendable {
  /// What there is of the answer.
  var text: AnswerText { get }
  /// Whether there is nothing that the answer could tell of.
  var isEmpty: Bool { get }

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: whether the answer is whole, or too long.
  mutating func read(_ view: any StoreView) throws(StoreError) -> Bool
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
  ) async throws(CouchError) -> CouchAnswer {
    var text = try await reading(inSlices: reader) {
      [holdsAnswer] reader, view throws(StoreError) -> AnswerText? in
      let isWhole = try reader.read(view)
      guard !isWhole || !reader.isEmpty else { throw StoreError(.missing) }
      guard holdsAnswer(reader.text.count) else { throw Self.noMemory }
      return isWhole ? reader.text : nil
    }
    guard !text.isTooLong else { throw .tooLarge("The answer is too long: \(advice)") }
    return CouchAnswer(200, inPieces: text.finish())
  }

  /// The error of an answer that there is no memory for.
  static let noMemory = StoreError(
    .unavailable, "There is no memory for the answer; ask for less, or try again soon")
}
