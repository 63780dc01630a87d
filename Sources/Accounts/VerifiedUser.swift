import Stores

/// Somebody whose name and password were right.
struct VerifiedUser: Sendable {
  /// A user, or the administrator.
  let kind: Principal.Kind
  /// The account.
  let id: AccountID
  /// The name as signed up.
  let name: UserName
  /// The account's epoch.
  let epoch: Int
  /// Guests whose bookmarks are on their way.
  let adopting: [AccountID]

  /// Who that is to a request.
  var principal: Principal {
    Principal(kind: kind, id: id, username: name.text, store: .user(id), epoch: epoch)
  }
}
