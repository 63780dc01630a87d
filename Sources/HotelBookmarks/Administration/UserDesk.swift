import Accounts
import Documents
import Stores

/// Looks after users, in a running server or without one.
struct UserDesk: Sendable {
  private let accounts: AccountService

  /// A desk over accounts.
  init(_ accounts: AccountService) { self.accounts = accounts }

  /// Does what is asked for.
  /// - Parameter print: takes a line for each user of a list.
  /// - Returns: one line.
  /// - Throws: `AccountError`.
  func perform(
    _ request: UserRequest, _ print: (String) async -> Void
  ) async throws(AccountError) -> String {
    switch request {
    case .list:
      let users = try await accounts.users().sorted {
        ($0.name ?? "", $0.createdAt) < ($1.name ?? "", $1.createdAt)
      }
      for user in users {
        await print(
          [user.id?.text ?? "damaged", user.createdAt, user.name ?? "-"].joined(separator: " "))
      }
      return "\(users.count) users"
    case .add(let name, let password):
      return try await accounts.addUser(username: name, password: Secret(password)).text
    case .changePassword(let name, let password):
      try await accounts.changePassword(username: name, password: Secret(password))
      return "changed"
    case .resetPassword(let name):
      return try await accounts.passwordReset(for: name).token.exposed
    case .delete(let user):
      try await accounts.eraseUser(user)
      return "deleted"
    }
  }
}

/// What the command line wants done with users.
package enum UserRequest: Sendable, Equatable {
  /// A line for each.
  case list
  /// A new one.
  case add(name: String, password: String)
  /// Another password for one; every session ends.
  case changePassword(name: String, password: String)
  /// A token with which one chooses another password, once.
  case resetPassword(name: String)
  /// The end of one, by name or id.
  case delete(String)

  /// Writes its members into the line that asks a server for it.
  func write(to writer: inout JSONWriter) {
    switch self {
    case .list: writer.member("do", "user list")
    case .add(let name, let password):
      writer.member("do", "user add")
      writer.member("name", name)
      writer.member("password", password)
    case .changePassword(let name, let password):
      writer.member("do", "user password")
      writer.member("name", name)
      writer.member("password", password)
    case .resetPassword(let name):
      writer.member("do", "user reset")
      writer.member("name", name)
    case .delete(let user):
      writer.member("do", "user delete")
      writer.member("name", user)
    }
  }

  /// Reads these members; nil for any others.
  init?(_ root: JSONNode) {
    switch (root["do"]?.string, root["name"]?.string, root["password"]?.string) {
    case ("user list"?, nil, nil): self = .list
    case ("user add"?, let name?, let password?): self = .add(name: name, password: password)
    case ("user password"?, let name?, let password?):
      self = .changePassword(name: name, password: password)
    case ("user reset"?, let name?, nil): self = .resetPassword(name: name)
    case ("user delete"?, let user?, nil): self = .delete(user)
    default: return nil
    }
  }
}
