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
}
