import Accounts
import Stores

/// Who reads an answer of `_changes` that takes its time.
struct CouchFeedReader: Sendable {
  /// Which store is read.
  let store: StoreName
  /// Whether the answer waits for changes; otherwise it is only longer than a page.
  let waits: Bool
  /// What stands for the reader, whichever proof they show: whose feeds these count among.
  let principal: String
  /// Where a guest reads from; nil for a user and the administrator, who count for themselves wherever they are.
  let address: ClientAddress?
  /// What stands for the permission: readers with the same text are asked for once.
  let permission: String
  /// Says whether the store may still be read. What it throws counts as no.
  let mayRead: @Sendable () async throws -> Bool
  /// Closes the connection.
  let hangUp: @Sendable () -> Void
}
