import NIOConcurrencyHelpers
package import Stores
import Synchronization

/// What the engine has done since it was opened, for metrics.
package struct StorageStatistics: Sendable, Equatable {
  /// Commits that wrote something: about one fsync each.
  package var commits = 0
  /// Updates that shared those commits.
  package var updates = 0
  /// Stores opened.
  package var openings = 0
  /// Stores made.
  package var creations = 0
  /// Calls that failed for what is below the service, the disk or a file, by kind: none of a client's doing.
  package var failures: [StoreError.Code: Int] = [:]
}

/// The statistics as they grow; shared by every storage of an engine.
final class StorageCounters: Sendable {
  private let commits = Atomic<Int>(0)
  private let updates = Atomic<Int>(0)
  private let openings = Atomic<Int>(0)
  private let creations = Atomic<Int>(0)
  private let failures = NIOLockedValueBox<[StoreError.Code: Int]>([:])

  /// A commit of so many updates.
  func countCommit(of count: Int) {
    commits.wrappingAdd(1, ordering: .relaxed)
    updates.wrappingAdd(count, ordering: .relaxed)
  }

  /// A store was opened.
  func countOpening() { openings.wrappingAdd(1, ordering: .relaxed) }

  /// A store was made.
  func countCreation() { creations.wrappingAdd(1, ordering: .relaxed) }

  /// A call failed; what is not the disk's or a file's doing is not counted.
  func countFailure(_ error: StoreError) {
    switch error.code {
    case .damaged, .integrity, .unavailable, .storage, .storageFull, .readOnly:
      failures.withLockedValue { $0[error.code, default: 0] += 1 }
    case .ended, .absent, .exists, .overloaded, .quotaExceeded, .rejected:
      break
    }
  }

  /// The counts so far.
  var statistics: StorageStatistics {
    StorageStatistics(
      commits: commits.load(ordering: .relaxed), updates: updates.load(ordering: .relaxed),
      openings: openings.load(ordering: .relaxed), creations: creations.load(ordering: .relaxed),
      failures: failures.withLockedValue { $0 })
  }
}
