package import HTTPTypes
package import HummingbirdCore
package import Lanes
package import Logging
package import NIOCore

/// What a connection asks of the service behind it. The server knows no route and no words of its own: whatever
/// depends on these is asked here.
package protocol RequestAnswering: Sendable {
  /// Answers a request, in the task of its connection.
  /// - Parameter channel: the connection, or the stream of HTTP/2.
  /// - Parameter hold: what the request holds of the memory that is accounted for.
  /// - Throws: `HTTPParserError` alone, for a body that breaks off or is no HTTP: the server answers 400 and
  ///   closes the connection.
  func answer(
    _ request: Request, on channel: any Channel, holding hold: RequestHold?, logger: Logger
  ) async throws -> Response

  /// Answers a request that nothing has to be waited for, on the connection's event loop.
  /// - Returns: nil for every other request.
  func answerAtOnce(_ head: HTTPRequest) -> (head: HTTPResponse, body: ByteBuffer)?

  /// Whether a request is begun however much there is to do.
  func isAlwaysBegun(_ head: HTTPRequest) -> Bool

  /// The answer that the server gives in place of the service, with its length.
  /// - Parameter request: the request that it answers; nil where none was read.
  func answer(
    to refusal: ConnectionRefusal, of request: HTTPRequest?
  ) -> (head: HTTPResponse, body: ByteBuffer)

  /// What the task of a connection, or of a stream of HTTP/2, runs on; nil for Swift's own threads.
  func executor(for channel: any Channel) -> WorkExecutor?

  /// Whether an address is that of a proxy, from which requests of many people come.
  func isProxy(_ address: String) -> Bool
}

extension RequestAnswering {
  /// The last answer of a connection as it goes over the wire, for where nothing writes answers yet.
  func lastAnswer(_ refusal: ConnectionRefusal) -> ByteBuffer {
    let (head, body) = answer(to: refusal, of: nil)
    var buffer = ByteBuffer(
      string: "HTTP/1.1 \(head.status.code) \(head.status.reasonPhrase)\r\n")
    for field in head.headerFields {
      buffer.writeString("\(field.name.rawName): \(field.value)\r\n")
    }
    buffer.writeString("connection: close\r\n\r\n")
    buffer.writeImmutableBuffer(body)
    return buffer
  }
}

/// Why the server answers in place of the service. The service finds status and words.
package enum ConnectionRefusal: Error, Sendable, CaseIterable {
  /// The head of a request took longer than ``RequestLimits/headerSeconds``.
  case slowHead
  /// A body came too slowly, or took longer than ``RequestLimits/bodySeconds``.
  case slowBody
  /// The header fields are too long or too many.
  case headers
  /// The target is longer than a head may be.
  case target
  /// The method is unknown.
  case method
  /// Anything else that is no HTTP/1.1 (RFC 9112).
  case malformed
  /// There are more requests, bodies, answers or connections than the server takes.
  case overloaded
  /// The answer did not begin within ``RequestLimits/requestSeconds``.
  case slowAnswer
  /// The port is for other requests (``OperationsListener``).
  case notServed
}
