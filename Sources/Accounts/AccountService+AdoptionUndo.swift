import Documents
import JSON
package import Stores

extension AccountService {
  /// Erases the store of a guest who became a user's, once what came from it was taken back. Done again it finishes what
  /// was begun; what a crash leaves over is erased at the next start.
  /// - Throws: the stores' errors.
  package func eraseAdopted(_ guest: AccountID, of person: Principal) async throws {
    let name = try UserName(given: person.username ?? "")
    guard try await accounts.endAdopted(guest, by: name, id: person.id) else { return }
    try await accounts.erase(.guest(guest))
  }
}

extension AccountStore {
  /// Takes a guest back out of an account, and notes that the guest's store is to be erased.
  /// - Returns: whether the store is to be erased; false for a guest who is not that user's, or is erased already.
  fileprivate func endAdopted(
    _ guest: AccountID, by name: UserName, id: AccountID
  ) async throws -> Bool {
    let (userID, guestID) = (AccountKeys.user(name), AccountKeys.guest(guest))
    let store = StoreName.guest(guest)
    return try await update(loading: [userID, guestID, AccountKeys.erasure(store)]) {
      changes -> Bool in
      guard let claim = try changes.view.document(guestID), !claim.isDeleted,
        try Self.root(of: claim.body)["user"]?.stringEquals(id.text) ?? false
      else {
        // An erasure that failed before is done now.
        return try changes.view.document(AccountKeys.erasure(store)).map { !$0.isDeleted } ?? false
      }
      try changes.replace(guestID, by: ["type": "guest", "erased": true])
      try changes.noteErasure(of: store)
      if var user = try UserDocument(changes.view.document(userID)), user.id == id,
        let place = user.adopting.firstIndex(of: guest)
      {
        user.adopting.remove(at: place)
        try changes.replace(userID, by: user.value)
      }
      return true
    }
  }
}
