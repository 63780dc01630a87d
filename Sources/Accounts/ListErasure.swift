package import Stores

/// What the end of an account, or of a list, does to what the system store knows of shared lists: rules that are part of
/// the same update. They are handed in, for lists stand above accounts.
package struct ListErasure: Sendable {
  /// Takes an account off all lists. Lists that it owns end, or go to another member where the flag says so.
  /// Answers the stores that are to be erased.
  let leave: @Sendable (inout StoreChanges, AccountID, Bool) throws -> [StoreName]
  /// Ends a list. Answers the stores that are to be erased.
  let end: @Sendable (inout StoreChanges, AccountID) throws -> [StoreName]

  /// Two rules.
  package init(
    leave: @escaping @Sendable (inout StoreChanges, AccountID, Bool) throws -> [StoreName],
    end: @escaping @Sendable (inout StoreChanges, AccountID) throws -> [StoreName]
  ) {
    (self.leave, self.end) = (leave, end)
  }

  /// There are no lists.
  package static let none = ListErasure(leave: { _, _, _ in [] }, end: { _, _ in [] })
}

extension AccountStore {
  /// Ends a list that a backup brought back, as ``endUser(_:id:handingListsOn:)`` does a user.
  func endList(_ list: AccountID) async throws -> Set<StoreName> {
    let lists = lists
    return Set(try await update { changes in try lists.end(&changes, list) })
  }
}
