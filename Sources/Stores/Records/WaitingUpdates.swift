import NIOConcurrencyHelpers
package import Scheduling
import Synchronization

/// The updates of one store that wait for a commit, in the order of arrival. The first one starts the commit; those that
/// arrive before it ends share the next one.
package final class WaitingUpdates: Sendable {
  /// The most updates that share one commit: enough to make the cost of an fsync small for each, and few enough that
  /// reads of the same store don't wait long.
  private static let perCommit = 128

  private let waiting = NIOLockedValueBox<[any PendingUpdate]>([])
  private let limit: Int
  /// Whether a commit is running or about to start.
  private let isCommitting = Atomic(false)

  /// - Parameter limit: how many wait at most.
  package init(limit: Int = StoreLimits.pendingUpdates) { self.limit = limit }

  package var all: [any PendingUpdate] { waiting.withLockedValue { $0 } }

  /// The request that pays for the next commit: the first one whose account is not overdrawn, so that nobody of a
  /// shared list makes the others wait.
  package var request: Work? {
    let works = all.compactMap(\.work)
    return works.first { !$0.account.isOverdrawn } ?? works.first
  }

  /// Adds an update, and waits for its commit.
  /// - Parameter commit: starts a commit, or runs it.
  /// - Returns: the update's result.
  /// - Throws: the update's error; `overloaded` when too many updates wait.
  package func result<Value: Sendable>(
    of update: RuleUpdate<Value>, committing commit: () async -> Void
  ) async throws -> Value {
    try add(update)
    if beginsCommit() { await commit() }
    await Work.waiting { await update.waitForOutcome() }
    return try update.outcome()
  }

  /// Adds an update at the end. If the queue is full, the address with most updates in it loses its last one, as long as
  /// it has more than the newcomer's: one address can't keep others out of a store that all write to.
  /// - Throws: `overloaded`; the update that loses its place fails with the same.
  package func add(_ update: any PendingUpdate) throws {
    let displaced: (any PendingUpdate)? = try waiting.withLockedValue { waiting in
      guard waiting.count >= limit else {
        waiting.append(update)
        return nil
      }
      let addresses = waiting.map(\.address)
      let counts: [ObjectIdentifier?: Int] = addresses.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      guard let most = counts.filter({ $0.key != nil }).max(by: { $0.value < $1.value }),
        most.value > counts[update.address, default: 0] + 1,
        let last = addresses.lastIndex(of: most.key)
      else { throw Self.full }
      defer { waiting.append(update) }
      return waiting.remove(at: last)
    }
    displaced?.finish(.failure(Self.full))
  }

  private static var full: ServiceError {
    ServiceError(.overloaded, "Too many changes of this database wait; try again soon")
  }

  /// Takes the updates of a commit.
  package func take() -> [any PendingUpdate] {
    waiting.withLockedValue { waiting in
      let taken = Array(waiting.prefix(Self.perCommit))
      waiting.removeFirst(taken.count)
      return taken
    }
  }

  /// Puts updates for which a commit had no time back before the others.
  package func putBack(_ updates: ArraySlice<any PendingUpdate>) {
    guard !updates.isEmpty else { return }
    waiting.withLockedValue { $0 = updates + $0 }
  }

  /// Ends a commit.
  /// - Parameter next: starts the next one, if updates wait.
  package func endCommit(startingNext next: () -> Void) {
    guard all.isEmpty else { return next() }
    isCommitting.store(false, ordering: .sequentiallyConsistent)
    // An update that arrived just before this line did not start a commit itself.
    if !all.isEmpty, beginsCommit() { next() }
  }

  private func beginsCommit() -> Bool {
    !isCommitting.exchange(true, ordering: .sequentiallyConsistent)
  }
}

extension PendingUpdate {
  /// The address that pays for the update; nil for the server's own.
  fileprivate var address: ObjectIdentifier? {
    work.map { ObjectIdentifier($0.account.parent ?? $0.account) }
  }
}
