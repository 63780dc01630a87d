import Accounts
import HTTPTypes
import Hummingbird
import Scheduling
import Stores

/// Authenticates the caller: by a bearer token, a user name with a password, or the session cookie.
struct Authentication: Sendable {
  let accounts: AccountService
  let crossOrigin: CrossOrigin

  /// The caller; nil if the request has no credentials.
  /// - Parameter isOptional: whether the request needs no credentials. Then a cookie whose session has ended counts as
  ///   none, because the browser sends it by itself, and no script can remove it. So does a cookie in a write without
  ///   `Origin`: a client that is no browser may keep cookies without knowing of them.
  /// - Throws: ``Problem`` 401 for invalid credentials, 403 for a write by cookie from another origin.
  func principal(of call: Call, isOptional: Bool = false) async throws -> Principal? {
    if let field = call[.authorization] { return try await principal(authorization: field, call) }
    if let token = LiteProtocol.token(among: WebSocketHandshake.protocols(call)) {
      return try await accounts.authenticate(bearer: token)
    }
    guard let token = call[.cookie].flatMap(SentCredentials.cookie)?.token else { return nil }
    if isOptional, Self.needsOrigin(call), call[.origin] == nil { return nil }
    try checkOrigin(call)
    do {
      return try await accounts.authenticate(bearer: token)
    } catch {
      guard isOptional, Self.hasEnded(error) else { throw error }
      return nil
    }
  }

  /// Whether an error means that a session has ended, or never existed.
  static func hasEnded(_ error: any Error) -> Bool {
    switch ServiceError(error)?.code {
    case .invalidToken, .expiredToken, .guestSpent: true
    default: false
    }
  }

  /// Checks the caller again, after a write and before its answer. Meanwhile a guest may have become a user, whose
  /// bookmarks were read before this write, or the account may be erased. Without the acknowledgement the client sends
  /// the write again with its new credentials.
  /// - Throws: `ServiceError` for credentials that have ended; the store of an erased account is then erased again.
  func requireStillValid(_ principal: Principal) async throws {
    // An erased user's store takes no writes, on any node. A guest's does while its bookmarks are copied.
    let isExact = principal.kind == .guest
    if (try? await accounts.isStillValid(principal, isExact: isExact)) ?? false { return }
    let accounts = accounts
    // A task of its own, because the request may have ended. Nobody else erases the store again.
    let isValid = try await Work.waiting({
      try await Work.shared {
        let isValid = try await accounts.isStillValid(principal, isExact: isExact)
        if !isValid { try await accounts.eraseStoreAgain(of: principal) }
        return isValid
      }.value
    })
    guard !isValid else { return }
    throw Self.ended(principal)
  }

  /// Checks that the caller's account was not erased, also by another process.
  /// - Throws: `ServiceError` for one that was.
  func requireNotErased(_ principal: Principal) async throws {
    if try await accounts.isErased(principal) { throw Self.ended(principal) }
  }

  private static func ended(_ principal: Principal) -> ServiceError {
    principal.kind == .guest ? .guestSpent : .invalidToken("ended")
  }

  private func principal(authorization field: String, _ call: Call) async throws -> Principal {
    switch SentCredentials(authorization: field) {
    case .bearer(let token): return try await accounts.authenticate(bearer: token)
    case .basic(let name, let password):
      return try await accounts.authenticate(username: name, password: password, from: call.address)
    case nil: throw Self.malformed
    }
  }

  /// A browser sends the cookie by itself. So a write must come from a page of this server or of a listed origin (OWASP,
  /// "Cross-Site Request Forgery Prevention").
  /// - Throws: ``Problem`` 403 for a write by cookie from another origin.
  private func checkOrigin(_ call: Call) throws(Problem) {
    guard Self.isWrite(call) else { return }
    guard let origin = call[.origin] else {
      guard Self.needsOrigin(call) else { return }
      throw Problem(.forbidden, "forbidden", "A write by cookie needs an Origin header")
    }
    guard allowsWrites(call, from: origin) else { throw Self.otherOrigin }
  }

  /// A page of any origin can open a WebSocket, with the cookie, and read what comes. So its origin must be that of a page
  /// that may write by cookie. A client that sends no `Origin` is no browser.
  /// - Throws: ``Problem`` 403.
  func checkOriginOfUpgrade(_ call: Call) throws(Problem) {
    guard call[.authorization] == nil, call[.cookie] != nil, let origin = call[.origin] else {
      return
    }
    guard allowsWrites(call, from: origin) else { throw Self.otherOrigin }
  }

  /// Whether the answer to a log-in or to another password may set the cookie. A browser takes it, and replaces another one,
  /// even if the page can't read the answer. So the page must be of this server or of a listed origin. A client that sends
  /// no `Origin` is no browser.
  /// - Parameter isRequired: whether the session is only in the cookie.
  /// - Returns: false for a page of any other origin that may call because of `*`.
  /// - Throws: ``Problem`` 403 for a page of another origin.
  func takesCookie(_ call: Call, isRequired: Bool) throws(Problem) -> Bool {
    guard let origin = call[.origin] else { return true }
    if allowsWrites(call, from: origin) { return true }
    guard !isRequired, crossOrigin.allowsTokens(from: origin) else { throw Self.otherOrigin }
    return false
  }

  private func allowsWrites(_ call: Call, from origin: String) -> Bool {
    crossOrigin.allowsWrites(from: origin, to: call.request.head.authority)
  }

  private static func isWrite(_ call: Call) -> Bool {
    ![.get, .head, .options].contains(call.request.method)
  }

  /// Whether a cookie is valid only with an `Origin`, which browsers send with every write. CouchDB's replicator logs in
  /// with a cookie and sends none.
  private static func needsOrigin(_ call: Call) -> Bool { isWrite(call) && call.dialect != .couch }

  private static let otherOrigin = Problem(
    .forbidden, "forbidden", "Writes from this origin are not allowed")

  /// The challenge of every 401. `Basic` is understood but not offered, under `/couch` neither, as CouchDB's default is:
  /// a browser would ask for a password in a window of its own, also for a page's `fetch`, and `URLSession` on Linux
  /// never ends a request that is answered with it.
  static let challenge: HTTPFields = [.wwwAuthenticate: #"Bearer realm="hotel-bookmarks""#]

  /// The challenge of a 401 to a WebSocket of an app: Couchbase Lite 2.8 for C, and for Android before 3.0.12, send a name and
  /// a password only when they are asked for them. The former reads only the first challenge.
  static let challengeForApps =
    #"Basic realm="hotel-bookmarks", charset="UTF-8", Bearer realm="hotel-bookmarks""#

  /// Whether a request opens a WebSocket, and does not come from a browser, which always sends `Origin` then.
  static func mustOfferBasic(_ request: Request) -> Bool {
    request.headers[.upgrade] != nil && request.headers[.origin] == nil
  }

  private static let malformed = Problem(
    .unauthorized, "unauthorized", "Authorization must be Bearer or Basic", headers: challenge)

  static let required = Problem(
    .unauthorized, "unauthorized",
    "Say who you are: POST /v1/guests gives a token for Authorization: Bearer", headers: challenge)

  /// The answer to the administrator on a route that needs a person's own store.
  static let noStore = Problem(
    .forbidden, "forbidden",
    "The administrator has no store of their own: sign up as a user, or use a database under /couch"
  )
}
