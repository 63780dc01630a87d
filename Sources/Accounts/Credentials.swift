import JSON
import Stores

/// A user's name and password hash. They are in a local document, which keeps no earlier revision.
struct Credentials: Sendable {
  /// The name in its displayed form.
  let name: String
  let password: PasswordHash
}

extension Credentials {
  /// Reads a local document.
  /// - Throws: `integrity` for a document that is not valid.
  init(_ document: LocalDocument) throws {
    let root = try AccountStore.root(of: document.body)
    guard let name = root["name"]?.string,
      let password = root["password"].flatMap(PasswordHash.init)
    else { throw AccountStore.unreadable }
    self.init(name: name, password: password)
  }

  func document(after revision: Int64) -> LocalDocument {
    let value = JSONValue.object(["name": .string(name), "password": password.value])
    return LocalDocument(revision: revision &+ 1, body: value.bytes)
  }
}

/// A user in the system store.
struct KnownUser: Sendable {
  let document: UserDocument
  /// The name and the password hash.
  let credentials: Credentials

  var name: UserName? { try? UserName(credentials.name) }
}
