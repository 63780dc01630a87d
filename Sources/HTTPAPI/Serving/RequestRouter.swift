import Accounts
import Documents
import HTTPServer
import HTTPTypes
package import Hummingbird
import Logging
import NIOHTTP1
import Scheduling
import Stores

/// Handles every request: checks its target, finds its route, authenticates the caller, applies cross-origin rules and
/// the error table, adds the header fields of all answers, and counts and logs.
///
/// It replaces Hummingbird's router: that router's character-by-character search and its middleware took a twentieth of
/// the time of a read.
package struct RequestRouter: HTTPResponder {
  let routes: [Route]
  let table: RouteTable
  let crossOrigin: CrossOrigin
  /// The health that operators ask for.
  let health: Health
  /// The `Date` field for answers to which the connection adds none.
  let date = DateField()
  let proxies: TrustedProxies
  let authentication: Authentication
  let renewal: SessionRenewal
  let processors: ProcessorAccounts?
  let showsCost: Bool
  let receipts: WriteReceipts
  let answers: AnswerCounts
  /// Whether it answers the connections of the control socket.
  private(set) var isForControlSocket = false
  /// Whether it answers the server's own replications.
  private(set) var isForReplications = false
  /// Whether it answers the connections of the port that has `/couch` at its root.
  private(set) var hasCouchAtRoot = false
  /// Answers persons where there is no route.
  let page: PageController
  private let unrouted = RequestMetrics(template: "none")
  /// The fields of all answers.
  let fields: HTTPFields

  /// The same router for the connections of the control socket. Their clients count as the administrator.
  package func forControlSocket() -> RequestRouter {
    var router = self
    router.isForControlSocket = true
    return router
  }

  /// The same router for the replications that this server runs, which are the administrator's unless they have a person's
  /// token. What they do is charged to
  /// the administrator's account.
  package func forReplications() -> RequestRouter {
    var router = self
    router.isForReplications = true
    return router
  }

  /// The same router for a port whose root is `/couch`, for clients that drop the path of a server's URL. There a request
  /// is answered as that for the same path below `/couch`.
  package func withCouchAtRoot() -> RequestRouter {
    var router = self
    router.hasCouchAtRoot = true
    return router
  }

  /// Answers a request.
  /// - Throws: only `HTTPParserError`, for a body that is incomplete or not valid HTTP. The server then answers 400 and
  ///   closes the connection.
  package func respond(to sent: Request, context: CallContext) async throws -> Response {
    let start = ContinuousClock.now
    let found = table.find(sent.uri.string)
    // Only where there is no route, the path decides.
    let dialect = found?.dialect ?? Problem.Dialect(path: sent.uri.path)
    let request = dialect == .couch ? CouchHead.applyingMethodOverride(to: sent) : sent
    let entry = found?.entry(for: request.method)
    let work = Work.current
    var response: Response
    do {
      try Self.checkHead(request, in: dialect)
      if let preflight = crossOrigin.preflight(request) {
        response = preflight
      } else if Self.isForServer(request) {
        response = .empty(.noContent, headers: [.allow: Self.list(routes.map(\.method.rawValue))])
      } else {
        func call(_ arguments: PathArguments) -> Call {
          Call(
            request: request, context: context, arguments: arguments, dialect: dialect,
            writeContext: .server, proxies: proxies)
        }
        if let found, let entry {
          response = try await answer(call(found.arguments(of: entry)), entry.route, work)
        } else if let page = await page.absence(call(PathArguments(names: [], values: []))) {
          response = page
        } else {
          throw Problem.notFound
        }
      }
    } catch let error as HTTPParserError {
      throw error
    } catch {
      // If the work was ended early, that is the reason, whatever the error is.
      let error = work.flatMap { work in work.reason.map { EndedWork.problem($0, work) } } ?? error
      response = answer(
        to: error, isRouted: entry != nil, request: request, in: dialect, context: context)
      // The connection ends with this answer, because reading the rest of a long body would be useless.
      if Self.mayBeLong(request) { response.headers[.connection] = "close" }
    }
    // The client would read a body as the next answer.
    if request.method == .head { response = response.createHeadResponse() }
    crossOrigin.decorate(&response.headers, origin: request.headers.value(of: .origin))
    response.headers.append(contentsOf: fields)
    if dialect == .couch {
      CouchHead.addFields(to: &response.headers, of: request, context.reservation)
    }
    if showsCost, let work { response.headers[.serverTiming] = EndedWork.timing(work) }
    answers.count(response.status.code)
    (entry?.metrics ?? unrouted).record(
      status: response.status.code, duration: ContinuousClock.now - start)
    return response
  }

  /// The caller of a route; nil for nobody, and for the administrator over the control socket. From here on the
  /// request's work is charged to the caller's account.
  /// - Throws: the errors of ``Authentication/principal(of:isOptional:)``; 401 and 404 for nobody with access.
  private func caller(of call: Call, _ route: Route, _ work: Work?) async throws -> Principal? {
    func principal(isOptional: Bool = false) async throws -> Principal? {
      let found =
        isForReplications && call[.authorization] == nil
        ? try await authentication.accounts.presentAdministrator()
        : try await authentication.principal(of: call, isOptional: isOptional)
      guard let principal = found else { return nil }
      if let processors, let work {
        work.setPrincipal(processors.account(of: principal, at: work.account))
      }
      return principal
    }
    switch route.access {
    case .open: return nil
    case .anyone: return try await principal(isOptional: true)
    case .person, .signedIn:
      guard let principal = try await principal() else { throw Authentication.required }
      return principal
    case .administrator, .controlSocket:
      if call.context.isFromControlSocket { return nil }
      // Valid or not, the credentials of anyone else get the same answer as an absent path.
      guard route.access == .administrator, let principal = try? await principal(),
        principal.kind == .administrator
      else { throw Problem.notFound }
      return principal
    }
  }

  private func answer(_ call: Call, _ route: Route, _ work: Work?) async throws -> Response {
    if route.completion == .always { work?.mustFinish() }
    let caller = try await caller(of: call, route, work)
    if route.cost == .callers { try await Slice.begin() }
    guard let caller else { return Self.marked(try await route.run(call, nil), route.answer) }
    guard route.access != .person || caller.kind != .administrator else {
      throw Authentication.noStore
    }
    let changesData = route.changes == .data
    do {
      var call = renewal.prepared(call, of: caller)
      let meter = changesData ? authentication.accounts.meter(of: caller, from: call.address) : nil
      call.writeContext = WriteContext(author: caller.author, device: call.device, meter: meter)
      let response = try await receipts.answer(call, caller, route)
      if changesData { try await authentication.requireStillValid(caller) }
      let marked = Self.personal(Self.marked(response, route.answer))
      return await renewal.renewing(marked, to: call, of: caller)
    } catch let error as ServiceError where error.code == .absent && changesData {
      // The store may be gone because the account was erased meanwhile.
      try await authentication.requireNotErased(caller)
      throw error
    }
  }

  /// An answer with what its route declares for caches.
  private static func marked(_ response: Response, _ answer: Route.Answer) -> Response {
    guard answer.isUncached else { return response }
    var response = response
    response.headers[.cacheControl] = Response.uncached
    return response
  }

  /// An answer for one caller, which no shared cache may keep (RFC 9111, section 5.2.2.7).
  private static func personal(_ response: Response) -> Response {
    let known = response.headers[.cacheControl] ?? "no-cache"
    guard !known.utf8.starts(with: "private".utf8) else { return response }
    var response = response
    response.headers[.cacheControl] =
      known == "no-cache" ? "private, no-cache" : "private, " + known
    return response
  }

  private func answer(
    to error: any Error, isRouted: Bool, request: Request, in dialect: Problem.Dialect,
    context: CallContext
  ) -> Response {
    var problem = ErrorTable.problem(for: error, in: dialect)
    if problem.status == .notFound, !isRouted {
      problem = methodProblem(for: request, in: dialect) ?? problem
    }
    guard problem.status != .noContent else { return .empty(.noContent, headers: problem.headers) }
    let requestID = Self.requestID()
    problem.log(as: requestID, to: context.logger)
    var response = problem.response(in: dialect, requestID: requestID)
    response.status = Self.status(of: problem, for: request)
    response.headers[.xRequestID] = requestID
    if problem.status == .unauthorized, Authentication.mustOfferBasic(request) {
      response.headers[.wwwAuthenticate] = Authentication.challengeForApps
    }
    return response
  }

  /// The status of an answer. A handshake that fails has 503 instead of another status from 500 on, after which Couchbase Lite
  /// would stop for good. Source: LiteCore, `C4Error::mayBeTransient`.
  static func status(of problem: Problem, for request: Request) -> HTTPResponse.Status {
    let isHandshake = request.headers[.upgrade]?.lowercased() == "websocket"
    return isHandshake && problem.status.code >= 500 ? .serviceUnavailable : problem.status
  }

  /// Checks the head of a request.
  /// - Throws: ``Problem`` for an invalid target, host or transfer coding.
  static func checkHead(_ request: Request, in dialect: Problem.Dialect) throws(Problem) {
    if !isForServer(request) { try RequestTarget.check(request.uri.string, in: dialect) }
    guard request.headers.count <= RequestLimits.headerFields else { throw Problem(.headers) }
    guard let host = request.head.authority ?? request.headers[.hostField],
      !host.isEmpty, host.utf8.allSatisfy(isHostByte)
    else { throw Problem.invalidHeader("There must be one Host, a name or address with a port") }
    if let coding = request.headers[.transferEncoding],
      coding.trimmingSpaces.lowercased() != "chunked"
    {
      throw Problem.invalidHeader("Transfer-Encoding must be chunked")
    }
  }

  /// Whether a request is `OPTIONS *`, which is about the server and no resource (RFC 9112, section 3.2.4).
  private static func isForServer(_ request: Request) -> Bool {
    request.method == .options && request.uri.string == "*"
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...0xFF: true
    default: "-._:[]~%".utf8.contains(byte)
    }
  }

  /// Bodies up to this size, in bytes, are read to their end after an error, so that the connection stays usable.
  private static let drainedBytes = 1 << 20

  /// Whether more bytes may follow than are worth reading after an error.
  private static func mayBeLong(_ request: Request) -> Bool {
    request.headers[.transferEncoding] != nil
      || (request.headers[.contentLength].flatMap { Int($0) } ?? 0) > drainedBytes
  }

  /// A random id of a failed request, for its answer and for the log.
  static func requestID() -> String { Hex.random() }

  /// The methods for `Allow`: HEAD wherever GET is allowed, and OPTIONS always.
  private static func list(_ methods: [String]) -> String {
    let allowed = (methods.contains("GET") ? methods + ["HEAD"] : methods) + ["OPTIONS"]
    return Set(allowed).sorted().joined(separator: ", ")
  }

  /// The answer if the path exists for other methods only (RFC 9110, section 15.5.6).
  private func methodProblem(for request: Request, in dialect: Problem.Dialect) -> Problem? {
    // The administrator's routes stay hidden.
    let segments = request.uri.path.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) }
    let matching = table.routes(at: segments).filter {
      ![.administrator, .controlSocket].contains($0.access)
    }
    // A template of all segments precedes one whose last name may have slashes.
    let whole = matching.filter { !$0.takesRest }
    let fitting = whole.isEmpty ? matching : whole
    guard let most = fitting.map(\.literalCount).max() else { return nil }
    if dialect == .couch, let absent = CouchAbsence.error(inDatabase: segments.dropFirst(2)) {
      return ErrorTable.problem(for: absent, in: .couch)
    }
    let methods = fitting.filter { $0.literalCount == most }.map(\.method.rawValue)
    let list = Self.list(methods)
    // The route table takes a literal segment without backtracking to a parameter, so no route was found.
    if methods.contains((request.method == .head ? .get : request.method).rawValue) {
      if dialect == .couch, segments.count > 1,
        let absent = CouchAbsence.error(at: segments[1], nil)
      {
        return ErrorTable.problem(for: absent, in: .couch)
      }
      // The source is CouchDB, `chttpd_db:db_req` for `_local`.
      if dialect == .couch, segments.count > 4, segments[2] == "_local" {
        return Problem.badRequest("_local documents do not accept attachments.")
      }
      switch segments.last {
      case "_design":
        return Problem(.badRequest, "illegal_docid", "_design alone is no document's id")
      case "_local": return Problem.badRequest("Invalid _local document id.")
      default: return nil
      }
    }
    if request.method == .options { return Problem(.noContent, "", "", headers: [.allow: list]) }
    return Problem(
      .methodNotAllowed, "method_not_allowed", "Only \(list) are allowed here",
      headers: [.allow: list])
  }
}

extension Problem {
  /// Logs a failure of the server for the operator.
  func log(as requestID: String, to logger: Logger) {
    // A full store is a problem of its owner, and a client that has gone is none, so they are not logged for the operator.
    guard status.kind == .serverError, status != .notImplemented, error != "quota_exceeded",
      Work.current?.reason != .gone
    else { return }
    logger.error(
      "request failed",
      metadata: [
        LogKey.request: "\(requestID)", LogKey.status: "\(status.code)",
        LogKey.error: "\(error)", LogKey.detail: "\(detail)",
      ])
  }
}
