import Documents
import Stores

/// A user's document in the system store. It contains nothing that identifies the person.
struct UserDocument: Sendable {
  let id: AccountID
  /// The account's epoch. Tokens of another epoch are refused. A new password increments it.
  var epoch: Int
  /// When the account was created, RFC 3339.
  let createdAt: String
  /// Guests whose adoption by this account is not complete.
  var adopting: [AccountID]
}

extension UserDocument {
  /// Reads a document; nil for a tombstone.
  /// - Throws: `integrity` for a document that is not valid.
  init?(_ document: Document?) throws {
    guard let document, !document.isDeleted else { return nil }
    let root = try AccountStore.root(of: document.body)
    guard let id = root["id"]?.string.flatMap(AccountID.init), let epoch = root["epoch"]?.int,
      let createdAt = root["createdAt"]?.string
    else { throw AccountStore.unreadable }
    let adopting = root["adopting"].map { $0.elements.compactMap(\.string) } ?? []
    self.init(
      id: id, epoch: epoch, createdAt: createdAt, adopting: adopting.compactMap(AccountID.init))
  }

  var value: JSONValue {
    var object: JSONObject = [
      "type": "user", "id": .string(id.text), "epoch": .number(JSONNumber(epoch)),
      "createdAt": .string(createdAt),
    ]
    if !adopting.isEmpty { object.append("adopting", .array(adopting.map { .string($0.text) })) }
    return .object(object)
  }
}

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
