import NIOConcurrencyHelpers
package import Stores

/// The engine's counts since it was opened, for metrics.
package struct StorageStatistics: Sendable, Equatable {
  /// Commits that wrote something. Each needs about one fsync.
  package var commits = 0
  /// Updates that shared those commits.
  package var updates = 0
  /// Stores opened.
  package var openings = 0
  /// Stores created.
  package var creations = 0
  /// Calls that failed because of the disk or a file, by kind of error. No client caused them.
  package var failures: [ServiceError.Code: Int] = [:]
  /// Damaged values that were repaired.
  package var repaired = 0
  /// Damaged revisions that were set aside.
  package var setAside = 0
  /// Damaged values that were dropped because other data replaces them: local documents, query indexes, bodies of
  /// ancestors.
  package var dropped = 0
  /// Damaged values that the last check left unrepaired. A file that can't be read counts as one.
  package var left = 0
}

/// The counters behind the statistics; all storages of an engine share them.
final class StorageCounters: Sendable {
  /// The counts of stores when they were last open.
  let figures = KnownCounts()
  private let state = NIOLockedValueBox(State())

  private struct State {
    var counts = StorageStatistics()
    /// The number of values that the last check of each file left damaged.
    var left: [String: Int] = [:]
    /// The findings that were not yet taken for the log.
    var newFindings: [ScrubFinding] = []
  }

  /// The most findings that wait for the log.
  private static let maximumNewFindings = 100

  /// Changes counts.
  func count(_ change: (inout StorageStatistics) -> Void) {
    state.withLockedValue { change(&$0.counts) }
  }

  /// Counts a failed call if the disk or a file caused the failure.
  func countFailure(_ error: any Error) {
    guard let error = ServiceError(error), error.code.isOfStorage else { return }
    count { $0.failures[error.code, default: 0] += 1 }
  }

  /// Adds the result of a check.
  /// - Parameter file: the store's file.
  func count(_ outcome: RepairOutcome, in file: String) {
    state.withLockedValue { state in
      state.counts.repaired += outcome.repaired
      state.counts.setAside += outcome.lost.count
      state.counts.dropped += outcome.dropped
      state.left[file] = outcome.left > 0 ? outcome.left : nil
      for reason in outcome.messages where state.newFindings.count < Self.maximumNewFindings {
        state.newFindings.append(ScrubFinding(file: file, reason: reason))
      }
    }
  }

  /// Counts a file that a check could not read as damaged, until another check of it ends.
  func countUnreadable(_ file: String) {
    state.withLockedValue { $0.left[file] = max(1, $0.left[file] ?? 0) }
  }

  /// Forgets what was left damaged in a file that was erased.
  func forgetDamage(in file: String) { state.withLockedValue { $0.left[file] = nil } }

  /// Returns the findings since the last call, at most ``maximumNewFindings``.
  func takeNewFindings() -> [ScrubFinding] {
    state.withLockedValue { state in
      defer { state.newFindings = [] }
      return state.newFindings
    }
  }

  /// The counts so far.
  var statistics: StorageStatistics {
    state.withLockedValue { state in
      var found = state.counts
      found.left = state.left.values.reduce(0, +)
      return found
    }
  }
}

extension RepairOutcome {
  /// One line for each kind of finding, for the operator. It contains no name, id or text of a user.
  package var messages: [String] {
    [
      (repaired, "damaged values were computed back, nothing is lost"),
      (lost.count, "damaged revisions were set aside; their owner is told which"),
      (dropped, "damaged notes, indexes or bodies of ancestors were dropped"),
      (missing, "documents are gone without a trace: a backup may have them"),
      (lostAttachments, "attachments lack bytes and can be sent again; their documents stay"),
      (left, "damaged values can't be repaired: restore the store from a backup"),
    ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
  }
}
