import NIOConcurrencyHelpers
package import Stores

/// Tells those who wait when somebody's lists may have become others. It carries nothing: whoever is told asks again.
package final class MembershipWatch: Sendable {
  private struct State {
    var last: UInt64 = 0
    var watchers: [AccountID: [UInt64: @Sendable () -> Void]] = [:]
  }

  private let state = NIOLockedValueBox(State())

  /// Nobody waits yet.
  package init() {}

  /// Calls a closure whenever an account's lists may have changed, until the answer is forgotten.
  package func watch(
    _ account: AccountID, _ tell: @escaping @Sendable () -> Void
  ) -> MembershipWatcher {
    let number = state.withLockedValue { state in
      state.last += 1
      state.watchers[account, default: [:]][state.last] = tell
      return state.last
    }
    return MembershipWatcher { [weak self] in self?.forget(account, number) }
  }

  /// Tells whoever waits for these accounts.
  func changed(_ accounts: some Sequence<AccountID>) {
    let watchers = state.withLockedValue { state in
      accounts.flatMap { state.watchers[$0].map { Array($0.values) } ?? [] }
    }
    for tell in watchers { tell() }
  }

  private func forget(_ account: AccountID, _ number: UInt64) {
    state.withLockedValue { state in
      state.watchers[account]?[number] = nil
      if state.watchers[account]?.isEmpty == true { state.watchers[account] = nil }
    }
  }
}

/// One who waits; ends with its last reference.
package final class MembershipWatcher: Sendable {
  private let end: @Sendable () -> Void

  init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }
}
