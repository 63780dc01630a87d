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
  private let counts = Mutex(DatabaseStatistics())
  /// The callers that have a connection of the pool.
  let inUse = Atomic(0)
  private let fullDisk = Mutex<ContinuousClock.Instant?>(nil)

  /// The counts for the operator.
  var statistics: DatabaseStatistics {
    var found = counts.withLock { $0 }
    found.idle = max(0, found.connections - found.hung - inUse.load(ordering: .relaxed))
    return found
  }

  /// Changes counts.
  func count(_ change: (inout DatabaseStatistics) -> Void) { counts.withLock { change(&$0) } }

  /// Notes that the database has just refused a write because its disk is full.
  func noteFullDisk() { fullDisk.withLock { $0 = .now } }

  /// Counts what a repair has found.
  func note(_ outcome: RepairOutcome) {
    count { counts in
      counts.repaired += outcome.repaired
      counts.damaged += outcome.lost.count + outcome.left
      counts.dropped += outcome.dropped
    }
  }

  /// Whether the database has refused a write because its disk is full, within this time before now.
  func hadFullDisk(within time: Duration) -> Bool {
    fullDisk.withLock { $0.map { ContinuousClock.now - $0 < time } ?? false }
  }
}
