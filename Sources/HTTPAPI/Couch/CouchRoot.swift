package import HTTPServer
package import HTTPTypes
package import Hummingbird
package import Logging
package import NIOCore
package import Scheduling

/// The routes below `/couch` at the root of a port of its own, for clients that drop the path of a server's URL.
///
/// Everything else is as at the other port: a request is answered as that for the same path below `/couch`.
package struct CouchRoot: RequestAnswering {
  private let router: RequestRouter

  /// Puts the routes of a router there.
  package init(_ router: RequestRouter) { self.router = router.withCouchAtRoot() }

  package func answer(
    _ request: Request, on channel: any Channel, reservation: RequestReservation?, logger: Logger
  ) async throws -> Response {
    try await router.answer(
      Request(head: Self.below(request.head), body: request.body), on: channel,
      reservation: reservation, logger: logger)
  }

  package func answerAtOnce(_ head: HTTPRequest) -> (head: HTTPResponse, body: ByteBuffer)? {
    router.answerAtOnce(Self.below(head))
  }

  package func isAlwaysAdmitted(_ head: HTTPRequest) -> Bool {
    router.isAlwaysAdmitted(Self.below(head))
  }

  package func answer(
    to refusal: ConnectionRefusal, of request: HTTPRequest?
  ) -> (head: HTTPResponse, body: ByteBuffer) {
    let unread = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")
    return router.answer(to: refusal, of: Self.below(request ?? unread))
  }

  package func account(of channel: any Channel) -> ProcessorAccount? { router.account(of: channel) }

  package func work(
    for request: Request, from channel: any Channel, on account: ProcessorAccount
  ) -> Work? {
    router.work(for: request, from: channel, on: account)
  }

  package func isProxy(_ address: String) -> Bool { router.isProxy(address) }

  /// The head with the path below `/couch`. A target without a path, as of `OPTIONS *`, stays.
  private static func below(_ head: HTTPRequest) -> HTTPRequest {
    guard let path = head.path, path.utf8.first == UInt8(ascii: "/") else { return head }
    var head = head
    head.path = "/couch" + path
    return head
  }
}
