package import Hummingbird
import NIOCore

/// Answers requests of HTTP/2, whose streams Hummingbird looks after: what a request holds is found in its stream's
/// pipeline, and kept until its handler has ended.
package struct StreamResponder: HTTPResponder {
  private let gate: Gate

  /// - Parameter gate: what answers.
  package init(_ gate: Gate) { self.gate = gate }

  /// Answers a request.
  /// - Throws: as ``Gate``'s, and `ChannelError` for a stream that is gone already.
  package func respond(to request: Request, context: CallContext) async throws -> Response {
    let channel = context.channel
    let hold = try await channel.eventLoop.submit {
      try channel.pipeline.syncOperations.handler(type: ExchangeGuard.self).hold
    }.get()
    return try await gate.respond(to: request, context: context.holding(hold))
  }
}
