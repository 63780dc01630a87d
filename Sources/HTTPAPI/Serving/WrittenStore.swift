import Accounts
import Stores

/// A store that a request writes to, and a check of the caller's permission. A body may take a minute to arrive and an
/// upstream seconds to answer; the permission may end meanwhile.
struct WrittenStore: Sendable {
  let name: StoreName
  /// The beginning of the path of the store's bookmarks.
  let path: String
  /// Checks the permission again.
  let requireStillAllowed: @Sendable () async throws -> Void
}

extension WrittenStore {
  /// A person's own store, which needs no second check: valid credentials are enough.
  init(of person: Principal) { self.init(name: person.store, path: "/v1") {} }
}

/// A list that a request writes to, and the writer.
struct WrittenList: Sendable {
  let id: AccountID
  let writer: Principal
  let store: WrittenStore
}
