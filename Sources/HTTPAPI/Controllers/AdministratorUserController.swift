import Accounts
import HTTPTypes
import Hummingbird
import JSON
import Stores

/// Accounts that the administrator makes and erases, and passwords that an operator sets for people.
struct AdministratorUserController: Sendable {
  let accounts: AccountService

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
      .administrator(.post, "/v1/admin/users/{user}/password-resets", access: .controlSocket) {
        call in
        _ = try call.query()
        let token = try await accounts.passwordReset(for: try call.parameter("user"))
        return .json(.created) { $0.token(token) }
      },
    ]
  }
}
