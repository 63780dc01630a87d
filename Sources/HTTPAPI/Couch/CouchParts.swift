import CouchSync
import HTTPTypes
import Hummingbird
import Stores

extension Feeds {
  /// The response to a reading request. A short answer is sent with its length. A longer one is read and sent part by
  /// part, no faster than the client reads it, so that its length has no limit.
  func response(
    _ answer: CouchAnswer, _ call: Call, _ store: CouchStore, type: String = "application/json"
  ) throws -> Response {
    guard answer.rest != nil else { return .couch(answer, type: type) }
    var fields = Response.couchFields
    fields[.contentType] = type
    // CouchDB's replicator accepts nothing behind the last boundary.
    let end = type == "application/json" ? [[UInt8(ascii: "\n")]] : []
    return try response(
      CouchParts(store: store, answer: answer, end: end), to: call, from: store, waits: false,
      fields)
  }
}

/// A long answer in parts, the first of which is read before the answer begins, so that an early error has its status.
private struct CouchParts: LongAnswerForm {
  let store: CouchStore
  /// The part that was read last.
  var answer: CouchAnswer
  /// The pieces that follow the answer.
  let end: [[UInt8]]
  var isSent = false

  mutating func next(after news: Subscription.News) async throws -> LongAnswerPart {
    if isSent, let rest = answer.rest {
      answer = try await store.read { database in try await database.answer(rest) }
    }
    isSent = true
    guard answer.rest == nil else { return LongAnswerPart(pieces: answer.pieces, following: .more) }
    return LongAnswerPart(pieces: answer.pieces + end, following: .nothing, closing: [])
  }
}
