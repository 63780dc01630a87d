import CouchSync
import HTTPServer
import HTTPTypes
import Hummingbird
import NIOCore
import Scheduling

extension CouchFeeds {
  /// The response to a reading request. A short answer is sent with its length. A longer one is read and sent part by
  /// part, no faster than the client reads it, so that its length has no limit.
  func response(
    _ answer: CouchAnswer, _ call: Call, _ store: CouchStore, type: String = "application/json"
  ) async throws -> Response {
    guard let rest = answer.rest else { return .couch(answer, type: type) }
    let registration = try await add(CouchFeedReader(call, store, waits: false))
    // Captures the signal only, as for `_changes`.
    DisconnectHandler.onDisconnect(of: call.context.channel) { [signal = registration.signal] in
      signal.end(.clientLeft)
    }
    let stream = CouchPartsStream(
      store: store, registration: registration, first: answer.pieces, rest: rest)
    var fields = Response.couchFields
    fields[.contentType] = type
    return Response(
      status: .ok, headers: fields,
      body: ResponseBody { writer in try await stream.write(to: &writer) })
  }
}

/// Writes a long answer in parts. It holds no lease while the client reads. It ends early, and does not look complete,
/// when the client closes the connection, when the store is gone, and within a second after the reader's permission ends.
struct CouchPartsStream: Sendable {
  /// The database.
  let store: CouchStore
  /// The slot among the long answers.
  let registration: CouchFeedRegistration
  /// The first part, which was read before the answer began, so that an early error has its status.
  let first: [[UInt8]]
  /// What follows it.
  let rest: AnswerRest

  /// Writes the whole answer.
  /// - Throws: the errors of reading and of the connection; the answer is then incomplete.
  @concurrent func write(to writer: inout any ResponseBodyWriter) async throws {
    defer { registration.cancel() }
    // The empty write sends the head.
    try await writer.write(ByteBuffer())
    var (pieces, rest) = (first, Optional(rest))
    while true {
      for piece in pieces {
        Work.current?.addMovedBytes(piece.count)
        try await registration.send(piece, to: &writer)
      }
      guard let next = rest else { break }
      (pieces, rest) = try await read(next)
    }
    try await registration.send([UInt8(ascii: "\n")], to: &writer)
    try await writer.finish(nil)
  }

  private func read(_ rest: AnswerRest) async throws -> ([[UInt8]], AnswerRest?) {
    let answer = try await store.read { database in try await database.answer(rest) }
    return (answer.pieces, answer.rest)
  }
}

extension CouchFeedRegistration {
  /// Ends an answer early, so that it does not look complete.
  private struct IncompleteAnswer: Error {}

  /// Writes a part of a long answer in pieces. The client has to read each of them in time.
  /// - Throws: an error when nothing more may be sent.
  @concurrent func send(_ bytes: [UInt8], to writer: inout any ResponseBodyWriter) async throws {
    var rest = ByteBuffer(bytes: bytes)
    while let piece = rest.readSlice(
      length: min(rest.readableBytes, CouchChangesStream.chunkBytes)),
      piece.readableBytes > 0
    {
      guard signal.end == nil else { throw IncompleteAnswer() }
      signal.beginWrite()
      defer { signal.endWrite() }
      try await writer.write(piece)
    }
  }
}
