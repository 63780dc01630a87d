import Documents
package import Stores

extension AccountService {
  /// Erases once more who was erased after a backup was made that brought them back: the account or the guest
  /// ends, and the store is erased. Names of anything but people's own stores are left alone.
  /// - Returns: how many of the stores were there.
  /// - Throws: the stores' errors; it may be done again.
  package func eraseAgain(_ names: [StoreName]) async throws(AccountError) -> Int {
    var stores = Set<StoreName>()
    var users = Set<AccountID>()
    for name in names {
      switch name {
      case .guest(let id):
        stores.insert(name)
        stores.formUnion(try await accounts.endGuest(id))
      case .user(let id):
        stores.insert(name)
        users.insert(id)
      case .list, .named, .system: break
      }
    }
    if !users.isEmpty { stores.formUnion(try await accounts.endUsers(users)) }
    var count = 0
    for store in stores {
      if try await accounts.erase(store) { count += 1 }
    }
    return count
  }
}
