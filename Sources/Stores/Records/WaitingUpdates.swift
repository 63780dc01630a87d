package import Scheduling
import Synchronization

/// The updates of one store that wait for a commit. The first one starts the commit; those that arrive before it ends
/// share the next one.
package final class WaitingUpdates: Sendable {
  /// The most updates that share one commit: enough to make the cost of an fsync small for each, and few enough that
  /// reads of the same store don't wait long.
  private static let perCommit = 128

  private let waiting = WaitingWrites<any PendingUpdate>(limit: StoreLimits.pendingUpdates)
  /// Whether a commit is running or about to start.
  private let isCommitting = Atomic(false)

  package init() {}

  /// The request that pays for the next commit: the first one whose account is not overdrawn, so that nobody of a
  /// shared list makes the others wait.
  package var request: Work? {
    let works = waiting.all.compactMap(\.work)
    return works.first { !$0.account.isOverdrawn } ?? works.first
  }

  /// Adds an update.
  /// - Parameter commit: starts a commit, or runs it.
  /// - Returns: the update's result, after its commit.
  /// - Throws: the update's error; `overloaded` when too many updates wait.
  package func result<Value: Sendable>(
    of update: RuleUpdate<Value>, committing commit: () async -> Void
  ) async throws -> Value {
    try waiting.add(update)
    if beginsCommit() { await commit() }
    await Work.waiting { await update.waitForOutcome() }
    return try update.outcome()
  }

  /// Takes the updates of a commit.
  package func take() -> [any PendingUpdate] { waiting.take(atMost: Self.perCommit) }

  /// Puts updates for which a commit had no time back before the others.
  package func putBack(_ updates: ArraySlice<any PendingUpdate>) { waiting.putBack(updates) }

  /// Ends a commit.
  /// - Parameter next: starts the next one, if updates wait.
  package func endCommit(startingNext next: () -> Void) {
    guard waiting.isEmpty else { return next() }
    isCommitting.store(false, ordering: .sequentiallyConsistent)
    // An update that arrived just before this line did not start a commit itself.
    if !waiting.isEmpty, beginsCommit() { next() }
  }

  private func beginsCommit() -> Bool {
    !isCommitting.exchange(true, ordering: .sequentiallyConsistent)
  }
}
