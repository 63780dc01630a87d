import Accounts
import Documents
import HTTPServer
import HTTPTypes
package import Hummingbird
import Lanes
import Logging
import Metrics
import NIOHTTP1
import Stores
import Synchronization

/// What every request passes on its way in and out: checks of its target, its route, who calls, cross-origin
/// rules, the error table, headers that every answer has, metrics and the log.
///
/// It stands in the place of Hummingbird's router, whose walk through characters and chain of middleware cost
/// a twentieth of a read.
package struct RequestRouter: HTTPResponder {
  private let routes: [Route]
  let table: RouteTable
  let crossOrigin: CrossOrigin
  /// What operators are told.
  let health: Health
  /// The `Date` of answers that no connection adds one to.
  let date = DateField()
  let proxies: TrustedProxies
  private let authentication: Authentication
  let processors: ProcessorAccounts?
  private let showsCost: Bool
  private let receipts: WriteReceipts
  private let answers: AnswerCounts
  private let unrouted = RequestMetrics(template: "none")

  init(
    routes: [Route], crossOrigin: CrossOrigin, proxies: TrustedProxies,
    authentication: Authentication, health: Health, receipts: WriteReceipts,
    processors: ProcessorAccounts? = nil, showsCost: Bool = false, answers: AnswerCounts
  ) {
    self.answers = answers
    self.receipts = receipts
    self.health = health
    self.processors = processors
    self.showsCost = showsCost
    self.routes = routes
    self.crossOrigin = crossOrigin
    self.proxies = proxies
    self.authentication = authentication
    table = RouteTable(routes)
  }

  /// Answers a request.
  /// - Throws: `HTTPParserError` alone, for a body that breaks off or is no HTTP: the server answers 400 and
  ///   closes the connection.
  package func respond(to sent: Request, context: CallContext) async throws -> Response {
    let start = ContinuousClock.now
    let request = CouchHead.meant(by: sent)
    let found = table.find(request.method, request.uri.string)
    let work = begin(request, context)
    var response: Response
    do {
      try Self.checkHead(request)
      if let preflight = crossOrigin.preflight(request) {
        response = preflight
      } else if Self.isForServer(request) {
        response = .empty(.noContent, headers: [.allow: Self.list(routes.map(\.method.rawValue))])
      } else {
        guard let (entry, arguments) = found else { throw Problem.notFound }
        response = try await answer(
          Call(request: request, context: context, arguments: arguments, proxies: proxies),
          entry.route, work)
      }
    } catch let error as HTTPParserError {
      throw error
    } catch {
      // Whatever it failed with: nobody waited for it any more, or it could go no further.
      let error = work.flatMap { work in work.reason.map { EndedWork.problem($0, work) } } ?? error
      response = answer(to: error, isRouted: found != nil, request: request, context: context)
      // The connection ends with such an answer: what a client goes on sending would be read for nothing.
      if Self.mayBeLong(request) { response.headers[.connection] = "close" }
    }
    // A body would be read as the next answer.
    if request.method == .head { response = response.createHeadResponse() }
    crossOrigin.decorate(&response.headers, origin: request.headers.value(of: .origin))
    response.headers.append(Self.noSniffing)
    CouchHead.name(&response.headers, of: request)
    if showsCost, let work { response.headers[.serverTiming] = EndedWork.timing(work) }
    answers.count(response.status.code)
    (found?.0.metrics ?? unrouted).record(
      status: response.status.code, duration: ContinuousClock.now - start)
    return response
  }

  /// Begins the work for a request on the account of where it comes from.
  private func begin(_ request: Request, _ context: CallContext) -> Work? {
    guard let processors, let executor = WorkExecutor.current else { return nil }
    guard !proxies.isEmpty, proxies.contains(context.remoteAddress?.ipAddress) else {
      return executor.begin(executor.account)
    }
    let caller = proxies.caller(
      peer: context.remoteAddress?.ipAddress, forwarded: request.headers.value(of: .xForwardedFor))
    return executor.begin(processors.account(of: caller))
  }

  /// Who calls; the request's work is theirs from here on.
  private func principal(of call: Call, _ work: Work?) async throws -> Principal? {
    guard let principal = try await authentication.principal(of: call) else { return nil }
    if let processors, let work {
      work.belongs(to: processors.account(of: principal, at: work.account))
    }
    return principal
  }

  private func answer(_ call: Call, _ route: Route, _ work: Work?) async throws -> Response {
    if route.mustFinish { work?.mustFinish() }
    switch route.handler {
    case .open(let run):
      // What anybody may read is there already, or is asked for when others wait.
      if route.method != .get { try await Slice.begin() }
      return try await run(call)
    case .anyone(let run):
      let principal = try await principal(of: call, work)
      try await Slice.begin()
      return try await Author.$current.withValue(principal?.author ?? .server) {
        try await run(call, principal)
      }
    case .administrator(let run):
      // With good credentials or bad ones, everybody else is told what they are told of a path that is not there.
      guard let principal = try? await principal(of: call, work), principal.kind == .administrator
      else { throw Problem.notFound }
      try await Slice.begin()
      return try await Author.$current.withValue(principal.author) {
        try await run(call, principal)
      }
    case .person(let run), .signedIn(let run):
      guard let principal = try await principal(of: call, work) else {
        throw Authentication.required
      }
      try await Slice.begin()
      guard route.access == .signedIn || principal.kind != .administrator else {
        throw Authentication.noStore
      }
      let response = try await Author.$current.withValue(principal.author) {
        try await receipts.answer(call, principal, route, run)
      }
      if route.isWrite { try await authentication.requireStillGood(principal) }
      return response
    }
  }

  private func answer(
    to error: any Error, isRouted: Bool, request: Request, context: CallContext
  ) -> Response {
    var problem = ErrorTable.problem(for: error, in: Problem.Dialect(path: request.uri.path))
    if problem.status == .notFound, !isRouted {
      problem = methodProblem(for: request) ?? problem
    }
    guard problem.status != .noContent else {
      return .empty(.noContent, headers: problem.headers)
    }
    let requestID = Self.requestID()
    problem.log(as: requestID, to: context.logger)
    var response = problem.response(in: .init(path: request.uri.path), requestID: requestID)
    response.headers[.xRequestID] = requestID
    return response
  }

  /// - Throws: ``Problem`` for a target, a host or a transfer coding that can't be served.
  static func checkHead(_ request: Request) throws(Problem) {
    if !isForServer(request) { try RequestTarget.check(request.uri.string) }
    guard request.headers.count <= RequestLimits.headerFields else {
      throw Problem(.headers)
    }
    guard let host = request.head.authority ?? request.headers[.hostField],
      !host.isEmpty, host.utf8.allSatisfy(isHostByte)
    else {
      throw Problem(
        .badRequest, "invalid_header", "There must be one Host, a name or address with a port")
    }
    if let coding = request.headers[.transferEncoding],
      coding.trimmingSpaces.lowercased() != "chunked"
    {
      throw Problem(.badRequest, "invalid_header", "Transfer-Encoding must be chunked")
    }
  }

  /// Whether a request is `OPTIONS *`: about the server, not about something there (RFC 9112, section 3.2.4).
  private static func isForServer(_ request: Request) -> Bool {
    request.method == .options && request.uri.string == "*"
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...0xFF: true
    default: "-._:[]~%".utf8.contains(byte)
    }
  }

  /// Bodies up to here are read to their end after an error, so that the connection can be used again.
  private static let drainedBytes = 1 << 20

  /// Whether more may follow than is worth reading after an error.
  private static func mayBeLong(_ request: Request) -> Bool {
    request.headers[.transferEncoding] != nil
      || (request.headers[.contentLength].flatMap { Int($0) } ?? 0) > drainedBytes
  }

  /// A name for a request that failed, in its answer and in the log.
  static func requestID() -> String {
    var generator = SystemRandomNumberGenerator()
    return Hex.string(generator.next(), generator.next())
  }

  static let noSniffing = HTTPField(name: .xContentTypeOptions, value: "nosniff")

  /// Methods for `Allow`: HEAD is there wherever GET is, OPTIONS everywhere.
  private static func list(_ methods: [String]) -> String {
    let allowed = (methods.contains("GET") ? methods + ["HEAD"] : methods) + ["OPTIONS"]
    return Set(allowed).sorted().joined(separator: ", ")
  }

  /// A path that exists for other methods is answered with those (RFC 9110, section 15.5.6).
  private func methodProblem(for request: Request) -> Problem? {
    let path = request.uri.path
    // Of the administrator's routes nobody is told.
    let fitting = routes.filter { $0.access != .administrator && $0.matches(path) }
    guard let fewest = fitting.map(\.parameterCount).min() else { return nil }
    let methods = fitting.filter { $0.parameterCount == fewest }.map(\.method.rawValue)
    let list = Self.list(methods)
    // The router takes a literal segment and does not come back to a parameter in its place.
    if methods.contains(request.method.rawValue) {
      return Problem(
        .badRequest, "illegal_docid", "_design and _local alone are no document's id")
    }
    if request.method == .options { return Problem(.noContent, "", "", headers: [.allow: list]) }
    return Problem(
      .methodNotAllowed, "method_not_allowed", "Only \(list) are allowed here",
      headers: [.allow: list])
  }
}

extension Problem {
  /// Tells the operator of a failure that is the server's.
  func log(as requestID: String, to logger: Logger) {
    // A store that is full is its owner's affair, not the operator's.
    guard status.kind == .serverError, status != .notImplemented, error != "quota_exceeded" else {
      return
    }
    logger.error(
      "request failed",
      metadata: [
        LogKey.request: "\(requestID)", LogKey.status: "\(status.code)",
        LogKey.error: "\(error)", LogKey.detail: "\(detail)",
      ])
  }
}

/// The keys of log lines; nothing else is ever logged of a request: no body, no name, no token.
enum LogKey {
  static let request = "hb.request.id"
  static let status = "status"
  static let error = "error"
  static let detail = "detail"
}

/// Counts a route's requests by status and times them; never by a path that a client made up.
final class RequestMetrics: Sendable {
  private struct Instruments {
    var counts: [(status: Int, counter: Counter)] = []
    var duration: Timer?
  }

  private let template: String
  private let instruments = Mutex(Instruments())

  /// Metrics in the process' metrics system, which has each from its first use on.
  /// - Parameter template: the route's template; `none` for requests that no route took.
  init(template: String) { self.template = template }

  /// Counts an answer.
  func record(status: Int, duration: Duration) {
    let (counter, timer) = instruments.withLock { known in
      let counter =
        known.counts.first { $0.status == status }?.counter
        ?? Counter(
          label: "http_requests_total",
          dimensions: [("route", template), ("status", String(status))])
      if !known.counts.contains(where: { $0.status == status }) {
        known.counts.append((status, counter))
      }
      let timer =
        known.duration
        ?? Timer(label: "http_request_duration_seconds", dimensions: [("route", template)])
      known.duration = timer
      return (counter, timer)
    }
    counter.increment()
    let parts = duration.components
    timer.recordNanoseconds(
      parts.seconds.multipliedReportingOverflow(by: 1_000_000_000).partialValue
        &+ parts.attoseconds / 1_000_000_000)
  }
}
