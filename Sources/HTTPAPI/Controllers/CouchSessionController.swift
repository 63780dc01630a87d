import Accounts
import CouchSync
import Documents
import HTTPTypes
import Hummingbird
import JSON
import Stores

/// CouchDB's cookie sessions. They use the same accounts and tokens as all other routes.
///
/// Source: CouchDB, "Cookie authentication".
struct CouchSessionController: Sendable {
  let accounts: AccountService
  let authentication: Authentication
  let address: ServerAddress

  var routes: [Route] {
    [
      Route(.get, "/couch/_session", access: .anyone, answer: .uncached) { call, caller in
        Self.show(call, caller)
      },
      Route(.post, "/couch/_session", access: .open, answer: .uncached) { call, _ in
        try await logIn(call)
      },
      Route(.delete, "/couch/_session", access: .anyone, answer: .uncached) { _, caller in
        if let caller { try await accounts.logOut(caller) }
        return .couchDone(headers: ServerAddress.cookieRemoval)
      },
    ]
  }

  private static func show(_ call: Call, _ caller: Principal?) -> Response {
    .json { writer in
      writer.member("ok", true)
      writer.name("userCtx")
      writer.beginObject()
      writer.name("name")
      if let caller { writer.string(caller.username ?? caller.storeName) } else { writer.null() }
      Self.writeRoles(of: caller, to: &writer)
      writer.endObject()
      writer.name("info")
      writer.beginObject()
      writer.name("authentication_handlers")
      writer.beginArray()
      for handler in ["cookie", "default"] { writer.string(handler) }
      writer.endArray()
      if caller != nil {
        writer.member("authenticated", call[.authorization] == nil ? "cookie" : "default")
      }
      writer.endObject()
    }
  }

  private func logIn(_ call: Call) async throws -> Response {
    _ = try authentication.takesCookie(call, isRequired: true)
    let (name, password) = try await credentials(call)
    let session = try await accounts.logIn(
      username: name, password: password, guestToken: nil, from: call.address)
    return .json(headers: [.setCookie: address.cookie(session.token)]) { writer in
      writer.member("ok", true)
      writer.member("name", session.principal.username ?? "")
      Self.writeRoles(of: session.principal, to: &writer)
    }
  }

  /// Writes CouchDB's role `_admin` for the administrator. There are no other roles.
  private static func writeRoles(of caller: Principal?, to writer: inout JSONWriter) {
    writer.name("roles")
    writer.beginArray()
    if caller?.kind == .administrator { writer.string("_admin") }
    writer.endArray()
  }

  /// Reads `name` (some CouchDB clients call it `username`) and `password`, from a form or from JSON.
  private func credentials(_ call: Call) async throws -> (name: String, password: Secret) {
    var name: String?
    var password: String?
    if call[.contentType]?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false {
      let pairs = try Call.pairs(try await call.body(upTo: JSONLimits.small.maximumBytes))
      let form = CouchParameters(pairs)
      (name, password) = (form["name"] ?? form["username"], form["password"])
    } else {
      let body = try await call.json(.small)
      name = (body["name"] ?? body["username"])?.string
      password = body["password"]?.string
    }
    guard let name, let password else {
      throw ServiceError.badRequest("request body must contain a username and a password")
    }
    return (name, Secret(password))
  }
}
