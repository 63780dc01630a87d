package import HTTPTypes
package import HummingbirdCore
package import Logging
package import NIOCore
package import Scheduling

/// The calls that a connection makes to the service behind it. The HTTP server itself contains no routes and no texts
/// of answers.
package protocol RequestAnswering: Sendable {
  /// Answers a request in the task of its connection.
  /// - Parameter channel: the connection, or the HTTP/2 stream.
  /// - Parameter reservation: the memory and the slot that the request uses.
  /// - Throws: only `HTTPParserError`, for a body that is incomplete or not valid HTTP. The server then answers 400 and
  ///   closes the connection.
  func answer(
    _ request: Request, on channel: any Channel, reservation: RequestReservation?, logger: Logger
  ) async throws -> Response

  /// Answers a request on the connection's event loop if the answer needs no waiting.
  /// - Returns: nil for every other request.
  func answerAtOnce(_ head: HTTPRequest) -> (head: HTTPResponse, body: ByteBuffer)?

  /// Whether a request is admitted even when the server is overloaded.
  func isAlwaysAdmitted(_ head: HTTPRequest) -> Bool

  /// The answer that the server gives instead of the service, with its `Content-Length`.
  /// - Parameter request: the refused request; nil if none was read.
  func answer(
    to refusal: ConnectionRefusal, of request: HTTPRequest?
  ) -> (head: HTTPResponse, body: ByteBuffer)

  /// The account of the address that a connection comes from; nil if requests are not charged.
  func account(of channel: any Channel) -> ProcessorAccount?

  /// The work for a request, which its task has as ``Work/current`` while it answers and writes.
  /// - Parameter account: the account of the connection's address.
  func work(for request: Request, from channel: any Channel, on account: ProcessorAccount) -> Work?

  /// Whether an address belongs to a proxy, which forwards requests of many people.
  func isProxy(_ address: String) -> Bool
}
