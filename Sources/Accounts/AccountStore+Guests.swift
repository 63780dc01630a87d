import Documents
import Stores

extension AccountStore {
  /// How claiming a guest went.
  enum Claim: Sendable {
    case claimed
    /// The guest has become another user's, or was erased.
    case spent
    /// The account is gone.
    case noAccount
  }

  /// What a claimed guest's document says.
  static func claim(by user: AccountID) -> JSONValue {
    ["type": "guest", "user": .string(user.text)]
  }

  /// Claims a guest for a user and notes in the user's document that the bookmarks are on their way. Done
  /// again by the same user, it is the same claim; of several users the first commit wins.
  func claim(
    guest: AccountID, for name: UserName, id: AccountID
  ) async throws(AccountError) -> Claim {
    let (userID, guestID) = (AccountKeys.user(name), AccountKeys.guest(guest))
    return try await update([userID, guestID]) { (view, limit) throws(StoreError) in
      if let claim = try view.document(guestID) {
        let owner = try Self.root(of: claim.body)["user"]
        return Decision(value: owner?.stringEquals(id.text) ?? false ? .claimed : .spent)
      }
      guard var user = try UserDocument(view.document(userID)), user.id == id else {
        return Decision(value: .noAccount)
      }
      user.adopting.append(guest)
      return Decision(
        [
          try Self.put(guestID, Self.claim(by: id), in: view, limit: limit),
          try Self.put(userID, user.value, in: view, limit: limit),
        ], value: .claimed)
    }
  }

  /// Notes that a guest's bookmarks have arrived.
  func adopted(
    guest: AccountID, by name: UserName, id: AccountID
  ) async throws(AccountError) {
    let userID = AccountKeys.user(name)
    try await update([userID]) { (view, limit) throws(StoreError) in
      guard var user = try UserDocument(view.document(userID)), user.id == id,
        let place = user.adopting.firstIndex(of: guest)
      else { return Decision(value: ()) }
      user.adopting.remove(at: place)
      return Decision([try Self.put(userID, user.value, in: view, limit: limit)], value: ())
    }
  }
}
