package import HTTPServer
package import HTTPTypes
package import Hummingbird
import IPAddresses
package import Logging
package import NIOCore
package import Scheduling

/// The answers that connections ask for.
extension RequestRouter: RequestAnswering {
  package func answer(
    _ request: Request, on channel: any Channel, reservation: RequestReservation?, logger: Logger
  ) async throws -> Response {
    var context = CallContext(source: .init(channel: channel, logger: logger))
    context.reservation = reservation
    if let reservation { Work.current?.setMemory(reservation) }
    context.isFromControlSocket = isForControlSocket
    context.hasCouchAtRoot = hasCouchAtRoot
    guard hasCouchAtRoot else { return try await respond(to: request, context: context) }
    let below = Request(head: belowCouch(request.head), body: request.body)
    return try await respond(to: below, context: context)
  }

  /// The head, and where `/couch` is the root, with its path below `/couch`. A target without a path, as of `OPTIONS *`,
  /// stays.
  private func belowCouch(_ head: HTTPRequest) -> HTTPRequest {
    guard hasCouchAtRoot, let path = head.path, path.utf8.first == UInt8(ascii: "/") else {
      return head
    }
    var head = head
    head.path = "/couch" + path
    return head
  }

  /// Answers an operator's question, with the same answer, fields and metrics as ``respond(to:context:)``.
  /// - Returns: nil for any other request, and for one that has to be refused.
  package func answerAtOnce(_ sent: HTTPRequest) -> (head: HTTPResponse, body: ByteBuffer)? {
    let head = belowCouch(sent)
    guard head.method == .get || head.method == .head, let target = head.path,
      let question = OperationQuestion(target: target)
    else { return nil }
    let start = ContinuousClock.now
    let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
    guard let entry = table.find(target)?.entry(for: .get),
      (try? Self.checkHead(request, in: entry.route.dialect)) != nil
    else { return nil }
    let answer = health.answer(question)
    var fields = answer.fields
    fields[.contentLength] = String(answer.body.readableBytes)
    crossOrigin.decorate(&fields, origin: head.headerFields.value(of: .origin))
    fields.append(contentsOf: self.fields)
    fields.append(date.now)
    entry.metrics.record(status: answer.status.code, duration: ContinuousClock.now - start)
    return (
      HTTPResponse(status: answer.status, headerFields: fields),
      head.method == .head ? ByteBuffer() : answer.body
    )
  }

  /// True for operators' questions, which matter most during an overload, and for preflights: a browser takes a refused
  /// preflight for a server that allows nothing.
  package func isAlwaysAdmitted(_ head: HTTPRequest) -> Bool {
    Self.isAlwaysAdmitted(belowCouch(head))
  }

  static func isAlwaysAdmitted(_ head: HTTPRequest) -> Bool {
    head.path.flatMap { OperationQuestion(target: $0) } != nil || CrossOrigin.isPreflight(head)
  }

  package func answer(
    to refusal: ConnectionRefusal, of request: HTTPRequest?
  ) -> (head: HTTPResponse, body: ByteBuffer) {
    guard hasCouchAtRoot else { return Problem(refusal).message(to: request, crossOrigin) }
    let unread = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")
    return Problem(refusal).message(to: belowCouch(request ?? unread), crossOrigin)
  }

  /// - Returns: nil also for the control socket: no client's load delays what an operator asks for there.
  package func account(of channel: any Channel) -> ProcessorAccount? {
    guard !isForControlSocket else { return nil }
    guard let address = channel.remoteAddress?.ipAddress else { return processors?.localAccount() }
    return processors?.account(of: ClientAddress(address))
  }

  package func work(
    for request: Request, from channel: any Channel, on account: ProcessorAccount
  ) -> Work? {
    guard let processors else { return nil }
    guard !proxies.isEmpty, let peer = channel.remoteAddress?.ipAddress, proxies.contains(peer)
    else { return Work(account, in: processors.seats) }
    let caller = proxies.caller(peer: peer, forwarded: request.headers.value(of: .xForwardedFor))
    return Work(processors.account(of: caller), in: processors.seats)
  }

  package func isProxy(_ address: String) -> Bool { !proxies.isEmpty && proxies.contains(address) }
}

extension Problem {
  /// The head and the body of the server's own answer. A page of an allowed origin may read it.
  func message(
    to request: HTTPRequest?, _ crossOrigin: CrossOrigin
  ) -> (head: HTTPResponse, body: ByteBuffer) {
    // The request is refused before a route is looked for.
    let dialect = Dialect(path: request?.path ?? "/")
    let bytes = self.bytes(in: dialect, requestID: "none")
    var fields = self.fields(in: dialect)
    fields[.contentLength] = String(bytes.count)
    fields[.xContentTypeOptions] = "nosniff"
    crossOrigin.decorate(&fields, origin: request?.headerFields[.origin])
    return (HTTPResponse(status: status, headerFields: fields), ByteBuffer(bytes: bytes))
  }
}
