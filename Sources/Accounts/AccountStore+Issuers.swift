import Documents
import Stores

extension AccountStore {
  /// How exchanging a token went.
  enum Exchange: Sendable {
    case user(UserDocument)
    /// The token was exchanged before.
    case usedToken
    /// The guest has become another user's, or was erased.
    case guestSpent
  }

  /// Notes that a token is used, makes the account if there is none, and claims the guest: all of it or nothing.
  /// Of several who bring one token at once, the first commit wins.
  /// - Parameter token: the hash of what is signed: a signature can be written in two ways (ECDSA).
  /// - Parameter forgottenAt: when the token is refused for its age anyway.
  /// - Parameter newcomer: the account where there is none yet.
  func exchange(
    token: String, forgottenAt end: Timestamp, for name: UserName, newcomer: UserDocument,
    adopting guest: AccountID?
  ) async throws(AccountError) -> Exchange {
    let (userID, note) = (AccountKeys.user(name), AccountKeys.exchanged(token))
    let guestID = guest.map(AccountKeys.guest)
    return try await update(Set([userID] + [guestID].compactMap { $0 })) {
      (view, limit) throws(StoreError) in
      guard try view.local(note) == nil else { return Decision(value: .usedToken) }
      let known = try UserDocument(view.document(userID))
      var user = known ?? newcomer
      var mutations: [Mutation] = []
      if let guest, let guestID {
        if let claim = try view.document(guestID) {
          let owner = try Self.root(of: claim.body)["user"]
          guard owner?.stringEquals(user.id.text) ?? false else {
            return Decision(value: .guestSpent)
          }
        } else {
          user.adopting.append(guest)
          mutations.append(try Self.put(guestID, Self.claim(by: user.id), in: view, limit: limit))
        }
      }
      if known == nil || !mutations.isEmpty {
        mutations.append(try Self.put(userID, user.value, in: view, limit: limit))
      }
      let used = LocalDocument(revision: 1, body: Array("{}".utf8))
      return Decision(
        mutations, locals: [LocalEdit(note, used, expires: end)], value: .user(user))
    }
  }
}
