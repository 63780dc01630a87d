package import Documents
import JSON
import Stores

/// A user's name and password: a local document, which leaves no earlier revision behind.
struct Credentials: Sendable {
  /// The name as it is shown.
  let name: String
  /// The password's hash.
  let password: PasswordHash

  /// Credentials by their parts.
  init(name: String, password: PasswordHash) {
    self.name = name
    self.password = password
  }

  /// Reads a local document.
  /// - Throws: `integrity` for one that this service did not write.
  init(_ document: LocalDocument) throws {
    let root = try AccountStore.root(of: document.body)
    guard let name = root["name"]?.string,
      let password = root["password"].flatMap(PasswordHash.init)
    else { throw AccountStore.unreadable }
    self.init(name: name, password: password)
  }

  /// The local document, as it was written so many times before.
  func document(after revision: Int64) -> LocalDocument {
    let value = JSONValue.object(["name": .string(name), "password": password.value])
    return LocalDocument(revision: revision &+ 1, body: value.bytes)
  }
}

/// A user as the system store has them.
struct KnownUser: Sendable {
  /// The account.
  let document: UserDocument
  /// The name and the password.
  let credentials: Credentials
  /// How often the credentials were written.
  let revision: Int64

  /// The name that they have.
  var name: UserName? { try? UserName(credentials.name) }
}

/// What signing up or logging in gives: who it is and the token that says so from now on.
package struct Session: Sendable, Equatable {
  /// Who.
  package let principal: Principal
  /// Their token.
  package let token: IssuedToken

  /// A session by its parts.
  package init(principal: Principal, token: IssuedToken) {
    self.principal = principal
    self.token = token
  }
}

/// A token for its owner's eyes.
package struct IssuedToken: Sendable, Equatable {
  /// The JSON Web Token.
  package let token: Secret
  /// When it stops working.
  package let expiresAt: Timestamp

  /// A token as signed.
  package init(token: Secret, expiresAt: Timestamp) {
    self.token = token
    self.expiresAt = expiresAt
  }
}
