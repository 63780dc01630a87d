import Documents
import JSON
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
