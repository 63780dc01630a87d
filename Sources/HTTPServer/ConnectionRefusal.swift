import HTTPTypes
import NIOCore

/// Why the server answers instead of the service. The service supplies the status and the text.
package enum ConnectionRefusal: Error, Sendable, CaseIterable {
  /// The head of a request took longer than ``RequestLimits/headerSeconds``.
  case slowHead
  /// A body came too slowly, or took longer than ``RequestLimits/bodySeconds``.
  case slowBody
  /// A body came in more pieces than ``RequestLimits/bodyPieces`` allows.
  case scattered
  /// The header fields are too long or too many.
  case headers
  /// The target is longer than a head may be.
  case target
  /// The method is unknown.
  case method
  /// The request breaks another rule of HTTP/1.1 (RFC 9112).
  case malformed
  /// There are more requests, bodies, answers or connections than the server accepts.
  case overloaded
  /// The answer did not begin within ``RequestLimits/requestSeconds``.
  case slowAnswer
  /// This port serves only other requests (``OperationsListener``).
  case notServed
}

extension RequestAnswering {
  /// The last answer of a connection as bytes, for use where no encoder is at work.
  func lastAnswer(_ refusal: ConnectionRefusal, to request: HTTPRequest? = nil) -> ByteBuffer {
    let (head, body) = answer(to: refusal, of: request)
    var buffer = ByteBuffer(string: "HTTP/1.1 \(head.status.code) \(head.status.reasonPhrase)\r\n")
    for field in head.headerFields {
      buffer.writeString("\(field.name.rawName): \(field.value)\r\n")
    }
    buffer.writeString("connection: close\r\n\r\n")
    buffer.writeImmutableBuffer(body)
    return buffer
  }
}
