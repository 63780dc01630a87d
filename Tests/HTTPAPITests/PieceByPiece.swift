import Hummingbird
import NIOCore

@testable import HTTPAPI

/// A service whose test clients see each piece of an answer before they receive the next one.
struct PieceByPiece: HTTPResponder {
  /// Called with each piece of an answer to the test's requests, if it is set. Its own requests do not call it.
  @TaskLocal static var take: (@Sendable (ByteBuffer) async throws -> Void)?

  /// The service.
  let router: RequestRouter

  func respond(to request: Request, context: CallContext) async throws -> Response {
    var response = try await router.respond(to: request, context: context)
    guard let take = Self.take else { return response }
    response.body = response.body.map { piece in
      try await Self.$take.withValue(nil) { try await take(piece) }
      return piece
    }
    return response
  }
}
