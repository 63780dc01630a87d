import Accounts
import Documents
import Foundation
import HTTPTypes
import Hummingbird

/// Finds out who calls: a bearer token, a user name with a password, or the session cookie.
struct Authentication: Sendable {
  /// The session cookie's name, as CouchDB calls it.
  static let cookieName = "AuthSession"

  let accounts: AccountService
  let crossOrigin: CrossOrigin

  /// Who calls; nil when the request carries no credentials.
  /// - Throws: ``Problem`` 401 for credentials that are no good, 403 for a write by cookie from elsewhere.
  func principal(of call: Call) async throws -> Principal? {
    if let field = call[.authorization] { return try await principal(authorization: field, call) }
    guard let token = Self.cookie(call[.cookie]) else { return nil }
    try checkOrigin(call)
    return try await accounts.authenticate(bearer: token)
  }

  /// Looks again after a write and before its answer: a guest may have become a user's meanwhile, whose
  /// bookmarks were read before the write, or the account may be gone. What is not acknowledged is sent
  /// again by the client, as who it is now.
  /// - Throws: `AccountError` for a proof that ended; an erased account's store is erased once more.
  func requireStillGood(_ principal: Principal) async throws {
    guard try await !accounts.isStillGood(principal) else { return }
    try await accounts.sweepUp(after: principal)
    throw principal.kind == .guest ? AccountError.guestSpent : AccountError.invalidToken("ended")
  }

  private func principal(authorization field: String, _ call: Call) async throws -> Principal {
    let parts = field.split(separator: " ", maxSplits: 1)
    guard let scheme = parts.first, let value = parts.dropFirst().first?.trimmingSpaces else {
      throw Self.malformed
    }
    switch scheme.lowercased() {
    case "bearer": return try await accounts.authenticate(bearer: value)
    case "basic":
      guard let pair = Self.basic(value) else { throw Self.malformed }
      return try await accounts.authenticate(
        username: pair.name, password: Secret(pair.password), from: call.address)
    default: throw Self.malformed
    }
  }

  /// A browser sends the cookie by itself, so a write must come from a page of this origin or of one that
  /// is allowed (OWASP, "Cross-Site Request Forgery Prevention").
  private func checkOrigin(_ call: Call) throws(Problem) {
    guard ![.get, .head, .options].contains(call.request.method) else { return }
    guard let origin = call[.origin] else {
      // CouchDB's replicator logs in for a cookie and knows no origins. Browsers name one on every write.
      if Problem.Dialect(path: call.request.uri.path) == .couch { return }
      throw Problem(.forbidden, "forbidden", "A write by cookie needs an Origin header")
    }
    let own = call.request.head.authority.map { ["http://" + $0, "https://" + $0] } ?? []
    guard own.contains(where: { $0.equalsBytes(of: origin) }) || crossOrigin.allows(origin) else {
      throw Problem(.forbidden, "forbidden", "Writes from this origin are not allowed")
    }
  }

  /// `user:password` in Base64 (RFC 7617); the password may contain colons.
  private static func basic(_ value: String) -> (name: String, password: String)? {
    guard let data = Data(base64Encoded: value),
      let text = String(validating: data, as: UTF8.self),
      let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
    else { return nil }
    return (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
  }

  private static func cookie(_ field: String?) -> String? {
    guard let field else { return nil }
    for pair in field.utf8.split(separator: UInt8(ascii: ";")) {
      let text = String(decoding: pair, as: UTF8.self).trimmingSpaces
      if text.utf8.starts(with: (cookieName + "=").utf8) {
        return String(Substring(text.utf8.dropFirst(cookieName.utf8.count + 1)))
      }
    }
    return nil
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
}
