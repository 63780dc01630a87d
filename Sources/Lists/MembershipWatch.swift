import NIOConcurrencyHelpers
package import Stores

/// Notifies watchers when an account's memberships may have changed. The notification has no content: a watcher
/// reads the memberships again.
package final class MembershipWatch: Sendable {
  private struct State {
    var last: UInt64 = 0
    var watchers: [AccountID: [UInt64: @Sendable () -> Void]] = [:]
  }

  private let state = NIOLockedValueBox(State())

  /// Calls a closure whenever an account's memberships may have changed, until the returned watcher is released.
  package func watch(
    _ account: AccountID, _ notify: @escaping @Sendable () -> Void
  ) -> MembershipWatcher {
    let number = state.withLockedValue { state in
      state.last += 1
      state.watchers[account, default: [:]][state.last] = notify
      return state.last
    }
    return MembershipWatcher { [weak self] in self?.forget(account, number) }
  }

  /// Notifies the watchers of these accounts.
  func notify(_ accounts: some Sequence<AccountID>) {
    let watchers = state.withLockedValue { state in
      accounts.flatMap { state.watchers[$0].map { Array($0.values) } ?? [] }
    }
    for notify in watchers { notify() }
  }

  /// Notifies all watchers: another process may have changed any memberships.
  package func notifyAll() {
    let watchers = state.withLockedValue { state in state.watchers.values.flatMap { $0.values } }
    for notify in watchers { notify() }
  }

  private func forget(_ account: AccountID, _ number: UInt64) {
    state.withLockedValue { state in
      state.watchers[account]?[number] = nil
      if state.watchers[account]?.isEmpty == true { state.watchers[account] = nil }
    }
  }
}

/// A registration with ``MembershipWatch``. It ends with its last reference.
package final class MembershipWatcher: Sendable {
  private let end: @Sendable () -> Void

  init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }
}
