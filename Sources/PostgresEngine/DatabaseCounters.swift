import Synchronization

/// Counts of one node since it connected to the database.
package struct DatabaseStatistics: Sendable, Equatable {
  /// Transactions that have written something.
  package var commits = 0
  /// Updates that ended without an error.
  package var updates = 0
  /// Commits whose answer was lost.
  package var unknown = 0
  /// Connections that were lost.
  package var lost = 0
  /// Connections at present.
  package var connections = 0
  /// Connections that nobody uses at present.
  package var idle = 0
  /// How many callers wait for a connection at present.
  package var waiting = 0
}

/// Counters that any thread may increase.
final class DatabaseCounters: Sendable {
  let commits = Atomic(0)
  let updates = Atomic(0)
  let unknown = Atomic(0)
  let lost = Atomic(0)
}
