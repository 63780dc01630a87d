import Accounts
import CouchSync
import Documents
import HTTPTypes
import Hummingbird
import Stores

/// CouchDB's cookie sessions. They use the same accounts and tokens as all other routes.
///
/// Source: CouchDB, "Cookie authentication".
struct CouchSessionController: Sendable {
  let accounts: AccountService
  let authentication: Authentication
  let browsers: BrowserSessions
  let address: ServerAddress
  /// The writes that were answered before they are done.
  let writes: PendingWrites

  var routes: [Route] {
    [("/couch/_session", logIn), ("/couch/{db}/_session", logInLite)].flatMap { path, logIn in
      [
        Route(.get, path, access: .anyone, answer: .uncached) { call, caller in
          guard try caller != nil || call.couchParameters()["basic"] != "true" else {
            throw Problem(
              .unauthorized, "unauthorized", "Please login.", headers: Authentication.challenge)
          }
          return Self.show(call, caller)
        },
        Route(.post, path, access: .open, answer: .uncached) { call, _ in try await logIn(call) },
        Route(.delete, path, access: .anyone, answer: .uncached) { _, caller in
          if let caller { try await accounts.logOut(caller) }
          return .couchDone(headers: ServerAddress.cookieRemoval)
        },
      ]
    }
  }

  private static func show(_ call: Call, _ caller: Principal?) -> Response {
    .json { writer in
      writer.member("ok", true)
      Self.writeContext(of: caller, to: &writer)
      writer.object("info") { writer in
        writer.array("authentication_handlers", of: ["cookie", "default"]) { $1.string($0) }
        if caller != nil {
          writer.member("authenticated", call[.authorization] == nil ? "cookie" : "default")
        }
      }
    }
  }

  private func logIn(_ call: Call) async throws -> Response {
    _ = try authentication.takesCookie(call, isRequired: true)
    let (name, password) = try await credentials(call)
    // The new cookie takes the place of a guest's, who has no other credential.
    let guest = try await browsers.guestToken(call)
    let session = try await writes.settled(try await accounts.guest(provedBy: guest)) {
      try await accounts.logIn(
        username: name, password: password, guestToken: guest, from: call.address)
    }
    return .json(headers: [.setCookie: address.cookie(session.token)]) { writer in
      writer.member("ok", true)
      writer.member("name", session.principal.username ?? "")
      Self.writeRoles(of: session.principal, to: &writer)
    }
  }

  /// A session for Couchbase Lite. For JavaScript in a browser, which can set no header of a WebSocket, it is in the answer; it
  /// is sent as a protocol's name, see ``LiteProtocol``. Other apps read it from the cookie, for `SessionAuthenticator`.
  ///
  /// Source: Sync Gateway, `POST /{db}/_session`. Here it is a session like any other, of an account and not of a database.
  private func logInLite(_ call: Call) async throws -> Response {
    _ = try authentication.takesCookie(call, isRequired: false)
    let (name, password) = try await sentCredentials(call)
    let session = try await accounts.logIn(
      username: name, password: password, guestToken: nil, from: call.address)
    let cookie = address.cookie(session.token, named: SentCredentials.liteCookieName)
    return .json(headers: call[.origin] == nil ? [.setCookie: cookie] : [:]) { writer in
      writer.member("ok", true)
      Self.writeContext(of: session.principal, to: &writer)
      writer.member("one_time_session_id", session.token.token.exposed)
    }
  }

  /// Reads a name and a password from `Authorization`, or else from the body.
  private func sentCredentials(_ call: Call) async throws -> (name: String, password: Secret) {
    switch call[.authorization].flatMap({ SentCredentials(authorization: $0) }) {
    case .basic(let name, let password): (name, password)
    default: try await credentials(call)
    }
  }

  private static func writeContext(of caller: Principal?, to writer: inout JSONWriter) {
    writer.object("userCtx") { writer in
      writer.name("name")
      if let caller { writer.string(caller.username ?? caller.storeName) } else { writer.null() }
      writeRoles(of: caller, to: &writer)
    }
  }

  /// Writes CouchDB's role `_admin` for the administrator. There are no other roles.
  private static func writeRoles(of caller: Principal?, to writer: inout JSONWriter) {
    let roles = caller?.kind == .administrator ? ["_admin"] : []
    writer.array("roles", of: roles) { $1.string($0) }
  }

  /// Reads `name` or `username`, and `password`, from a form or from JSON. As in CouchDB, no password is a wrong one.
  private func credentials(_ call: Call) async throws -> (name: String, password: Secret) {
    let member: (String) -> String?
    if call[.contentType]?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false {
      let bytes = try await call.body(upTo: JSONLimits.small.maximumBytes)
      let form = CouchParameters(try Call.pairs(bytes, separators: "&;"))
      member = { form[$0] }
    } else {
      let body = try await call.json(.small)
      member = { body[$0]?.string }
    }
    let names = ["name", "username"].compactMap(member)
    guard let name = names.first else {
      throw ServiceError.badRequest("request body must contain a username")
    }
    guard names.allSatisfy({ $0.equalsBytes(of: name) }) else {
      throw ServiceError.badRequest("request body contains different usernames")
    }
    return (name, Secret(member("password") ?? ""))
  }
}
