import Accounts
import Documents
import HTTPTypes
import Hummingbird
import Stores

/// Accounts that the administrator makes and erases, passwords that an operator sets for people, and the audit log.
struct AdministratorUserController: Sendable {
  let accounts: AccountService
  let address: ServerAddress

  var routes: [Route] {
    [
      .administrator(.post, "/v1/admin/users", completion: .always) { call in
        _ = try call.query()
        let body = try CredentialsBody(try await call.json(.small))
        let id = try await accounts.addUser(username: body.username, password: body.password)
        return .json(.created) { $0.member("id", id.text) }
      },
      .administrator(.delete, "/v1/admin/users/{user}", completion: .always) { call in
        _ = try call.query()
        try await accounts.eraseUser(try call.parameter("user"))
        return .empty(.noContent)
      },
      .administrator(
        .put, "/v1/admin/users/{user}/password", access: .controlSocket, completion: .always
      ) { call in
        _ = try call.query()
        let body = try await call.json(.small)
        try await accounts.changePassword(
          username: try call.parameter("user"),
          password: Secret(try CredentialsBody.text("password", in: body)))
        return .empty(.noContent)
      },
      .administrator(.delete, "/v1/admin/users/{user}/sessions", completion: .always) { call in
        _ = try call.query()
        try await accounts.endSessions(ofUser: try call.parameter("user"))
        return .empty(.noContent)
      },
      .administrator(
        .post, "/v1/admin/users/{user}/password-resets", completion: .always, makeReset),
      .administrator(.get, "/v1/admin/audit") { call in
        let query = try call.query("since", "newest", "after")
        let since = try query.value(
          "since", or: .invalidParameter("since must be a time, as 2026-11-28T00:00:00Z")
        ) { Timestamp(rfc3339: $0) }
        let page = try await accounts.audit(
          since: since, newest: try query.isSet("newest"),
          after: try query.text("after", maximumBytes: 128))
        return .json { writer in
          writer.member("kept", accounts.audit.mode.rawValue)
          writer.array("entries", of: page.lines) { $1.raw($0) }
          if let next = page.next { writer.member("next", next) }
        }
      },
    ]
  }

  /// Makes a link for a user who forgot the password. Whoever has the administrator's password could take an account over
  /// by it, so over HTTP it is made only if that leaves traces: in the audit log, and for the user, whose sessions end. Over
  /// the control socket there are other ways to the same data.
  private func makeReset(_ call: Call) async throws -> Response {
    _ = try call.query()
    let user = try call.parameter("user")
    if !call.context.isFromControlSocket {
      guard accounts.audit.mode != .off else {
        throw Problem(
          .forbidden, "forbidden",
          "The server makes links for resets only while it keeps an audit log (--audit on). On the server: "
            + "hotel-bookmarks user reset")
      }
      try await accounts.endSessions(ofUser: user)
    }
    let token = try await accounts.passwordReset(for: user)
    // The host of a request over the control socket is nobody's address.
    let url = call.context.isFromControlSocket ? address.publicURL ?? "" : address.url(for: call)
    return .json(.created) { writer in
      writer.token(token)
      writer.member("url", url + "/reset#" + token.token.exposed)
    }
  }
}
