import Stores
import Synchronization

/// Counts of one node since it connected to the database.
package struct DatabaseStatistics: Sendable, Equatable {
  /// Committed transactions that wrote something.
  package var commits = 0
  /// Updates that ended without an error.
  package var updates = 0
  /// Commits whose outcome is unknown.
  package var unknown = 0
  /// Connections that were lost.
  package var lost = 0
  /// Connections at present.
  package var connections = 0
  /// Connections whose server is at work and has not answered for ``Connection/longestSilence``.
  package var hung = 0
  /// Damaged values that were repaired without a loss.
  package var repaired = 0
  /// Damaged values that were set aside, or are left.
  package var damaged = 0
  /// Damaged values that were removed, and are written again or not needed.
  package var dropped = 0
  /// Connections that are not in use at present.
  package var idle = 0
  /// Callers that wait for a connection at present.
  package var waiting = 0
}

/// Counters that any thread may increase.
final class DatabaseCounters: Sendable {
  let commits = Atomic(0)
  let updates = Atomic(0)
  let unknown = Atomic(0)
  let lost = Atomic(0)
  /// The cases of damage that were repaired; that could not be repaired without loss; of values that were removed.
  let repaired = Atomic(0), damage = Atomic(0), dropped = Atomic(0)
  /// The connections that can't be used at present, because a server is at work for them and does not answer.
  let hung = Atomic(0)
  /// The open connections of the pool.
  let open = Atomic(0)
  /// The callers that have a connection of the pool.
  let inUse = Atomic(0)
  private let fullDisk = Mutex<ContinuousClock.Instant?>(nil)

  /// The counts for the operator.
  var statistics: DatabaseStatistics {
    var found = DatabaseStatistics()
    found.commits = commits.load(ordering: .relaxed)
    found.updates = updates.load(ordering: .relaxed)
    found.unknown = unknown.load(ordering: .relaxed)
    found.lost = lost.load(ordering: .relaxed)
    found.connections = open.load(ordering: .relaxed)
    found.repaired = repaired.load(ordering: .relaxed)
    found.damaged = damage.load(ordering: .relaxed)
    found.dropped = dropped.load(ordering: .relaxed)
    found.hung = hung.load(ordering: .relaxed)
    found.idle = max(0, found.connections - found.hung - inUse.load(ordering: .relaxed))
    return found
  }

  /// Notes that the database has just refused a write because its disk is full.
  func noteFullDisk() { fullDisk.withLock { $0 = .now } }

  /// Counts what a repair has found.
  func note(_ outcome: RepairOutcome) {
    repaired.add(outcome.repaired, ordering: .relaxed)
    damage.add(outcome.lost.count + outcome.left, ordering: .relaxed)
    dropped.add(outcome.dropped, ordering: .relaxed)
  }

  /// Whether the database has refused a write because its disk is full, within this time before now.
  func hadFullDisk(within time: Duration) -> Bool {
    fullDisk.withLock { $0.map { ContinuousClock.now - $0 < time } ?? false }
  }
}
