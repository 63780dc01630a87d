import Accounts
import Documents
import HTTPTypes
import Hummingbird
import Stores

extension Call {
  /// Whether the question is who calls: to CouchDB's, one whose cookie has ended is nobody.
  fileprivate var isAboutSession: Bool { request.uri.path == "/couch/_session" }
}

/// Finds out who calls: a bearer token, a user name with a password, or the session cookie.
struct Authentication: Sendable {
  /// The session cookie's name.
  static let cookieName = SentCredentials.cookieName

  let accounts: AccountService
  let crossOrigin: CrossOrigin

  /// Who calls; nil when the request carries no credentials.
  /// - Throws: ``Problem`` 401 for credentials that are no good, 403 for a write by cookie from elsewhere.
  func principal(of call: Call) async throws -> Principal? {
    if let field = call[.authorization] { return try await principal(authorization: field, call) }
    guard let token = call[.cookie].flatMap(SentCredentials.cookie) else { return nil }
    try checkOrigin(call)
    do {
      return try await accounts.authenticate(bearer: token)
    } catch {
      guard call.isAboutSession, Self.hasEnded(error) else { throw error }
      return nil
    }
  }

  /// Whether a session was one once, or may have been.
  static func hasEnded(_ error: any Error) -> Bool {
    switch ServiceError(error)?.code {
    case .invalidToken, .expiredToken, .guestSpent: true
    default: false
    }
  }

  /// Looks again after a write and before its answer: a guest may have become a user's meanwhile, whose
  /// bookmarks were read before the write, or the account may be gone. What is not acknowledged is sent
  /// again by the client, as who it is now.
  /// - Throws: `ServiceError` for a proof that ended; an erased account's store is erased once more.
  func requireStillGood(_ principal: Principal) async throws {
    guard try await !accounts.isStillGood(principal) else { return }
    try await accounts.sweepUp(after: principal)
    throw principal.kind == .guest ? ServiceError.guestSpent : ServiceError.invalidToken("ended")
  }

  private func principal(authorization field: String, _ call: Call) async throws -> Principal {
    switch SentCredentials(authorization: field) {
    case .bearer(let token): return try await accounts.authenticate(bearer: token)
    case .basic(let name, let password):
      return try await accounts.authenticate(username: name, password: password, from: call.address)
    case nil: throw Self.malformed
    }
  }

  /// A browser sends the cookie by itself, so a write must come from a page of this origin or of one that
  /// is allowed (OWASP, "Cross-Site Request Forgery Prevention").
  /// - Throws: ``Problem`` 403 for a write by cookie from elsewhere.
  func checkOrigin(_ call: Call) throws(Problem) {
    guard ![.get, .head, .options].contains(call.request.method) else { return }
    guard let origin = call[.origin] else {
      // CouchDB's replicator logs in for a cookie and knows no origins. Browsers name one on every write.
      if Problem.Dialect(path: call.request.uri.path) == .couch { return }
      throw Problem(.forbidden, "forbidden", "A write by cookie needs an Origin header")
    }
    guard call.isOwn(origin) || crossOrigin.allows(origin) else {
      throw Problem(.forbidden, "forbidden", "Writes from this origin are not allowed")
    }
  }

  static let challenge: HTTPFields = [
    .wwwAuthenticate:
      #"Bearer realm="hotel-bookmarks", Basic realm="hotel-bookmarks", charset="UTF-8""#
  ]

  private static let malformed = Problem(
    .unauthorized, "unauthorized", "Authorization must be Bearer or Basic", headers: challenge)

  static let required = Problem(
    .unauthorized, "unauthorized",
    "Say who you are: POST /v1/guests gives a token for Authorization: Bearer", headers: challenge)

  /// The answer to the administrator where somebody's own store is needed.
  static let noStore = Problem(
    .forbidden, "forbidden",
    "The administrator has no store of their own: sign up as a user, or use a database under /couch"
  )
}
