import Hummingbird
import NIOCore

@testable import HTTPAPI

/// A service whose clients may look at each piece of an answer before they take the next.
struct PieceByPiece: HTTPResponder {
  /// What the calls of a test do with each piece; nothing unless it is set. Not asked about its own calls.
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
