import Documents
import JSON
import Stores

/// What the system store's document of a user says; nothing that would tell who it is.
struct UserDocument: Sendable {
  /// The account.
  let id: AccountID
  /// Tokens of another epoch are refused; a new password begins a new one.
  var epoch: Int
  /// When the account was made, RFC 3339.
  let createdAt: String
  /// Guests whose bookmarks are on their way into this account.
  var adopting: [AccountID]

  /// A document by its parts.
  init(id: AccountID, epoch: Int, createdAt: String, adopting: [AccountID]) {
    self.id = id
    self.epoch = epoch
    self.createdAt = createdAt
    self.adopting = adopting
  }

  /// Reads a document; nil for a tombstone.
  /// - Throws: `integrity` for a document that this service did not write.
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

  /// The document as JSON.
  var value: JSONValue {
    var object: JSONObject = [
      "type": "user", "id": .string(id.text), "epoch": .number(JSONNumber(epoch)),
      "createdAt": .string(createdAt),
    ]
    if !adopting.isEmpty {
      object.append("adopting", .array(adopting.map { .string($0.text) }))
    }
    return .object(object)
  }
}
