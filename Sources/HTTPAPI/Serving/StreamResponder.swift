package import Hummingbird
import NIOCore

/// Answers requests of HTTP/2, whose streams Hummingbird looks after: what a request holds is found in its stream's
/// pipeline, and kept until its handler has ended.
package struct StreamResponder: HTTPResponder {
  private let router: RequestRouter

  /// - Parameter router: what answers.
  package init(_ router: RequestRouter) { self.router = router }

  /// Answers a request.
  /// - Throws: as ``RequestRouter``'s, and `ChannelError` for a stream that is gone already.
  package func respond(to request: Request, context: CallContext) async throws -> Response {
    let channel = context.channel
    let hold = try await channel.eventLoop.submit {
      try channel.pipeline.syncOperations.handler(type: RequestLimitHandler.self).hold
    }.get()
    return try await router.respond(to: request, context: context.holding(hold))
  }
}
