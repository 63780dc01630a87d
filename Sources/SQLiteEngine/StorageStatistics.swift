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
  package var failures: [ServiceError.Code: Int] = [:]
  /// Damaged values that were computed back.
  package var mended = 0
  /// Damaged revisions that were set aside.
  package var setAside = 0
  /// Damaged values that others take the place of: local documents, query indexes, bodies of ancestors.
  package var dropped = 0
  /// Damaged values that were left as they are, at the last look.
  package var left = 0
}

/// The statistics as they grow; shared by every storage of an engine.
final class StorageCounters: Sendable {
  /// What stores counted when they were last open.
  let figures = KnownCounts()
  private let commits = Atomic<Int>(0)
  private let updates = Atomic<Int>(0)
  private let openings = Atomic<Int>(0)
  private let creations = Atomic<Int>(0)
  private let failures = NIOLockedValueBox<[ServiceError.Code: Int]>([:])
  private let damage = NIOLockedValueBox(Found())

  /// What looks for damage came to.
  private struct Found {
    var sum = Mending()
    /// What is left in each file, by the last look at it.
    var left: [String: Int] = [:]
    /// What nobody has asked for yet.
    var news: [ScrubFinding] = []
  }

  /// How many findings wait for whoever logs them, at most.
  private static let maximumNews = 100

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
  func countFailure(_ error: any Error) {
    guard let error = ServiceError(error), error.code.isOfStorage else { return }
    failures.withLockedValue { $0[error.code, default: 0] += 1 }
  }

  /// A store was looked through.
  /// - Parameter place: its file.
  func count(_ mending: Mending, in place: String) {
    damage.withLockedValue { damage in
      damage.sum += mending
      damage.left[place] = mending.left > 0 ? mending.left : nil
      for reason in mending.words where damage.news.count < Self.maximumNews {
        damage.news.append(ScrubFinding(file: place, reason: reason))
      }
    }
  }

  /// What was found since the last call, ``maximumNews`` at most.
  func takeNews() -> [ScrubFinding] {
    damage.withLockedValue { damage in
      defer { damage.news = [] }
      return damage.news
    }
  }

  /// The counts so far.
  var statistics: StorageStatistics {
    let (sum, left) = damage.withLockedValue { ($0.sum, $0.left.values.reduce(0, +)) }
    return StorageStatistics(
      commits: commits.load(ordering: .relaxed), updates: updates.load(ordering: .relaxed),
      openings: openings.load(ordering: .relaxed), creations: creations.load(ordering: .relaxed),
      failures: failures.withLockedValue { $0 }, mended: sum.mended, setAside: sum.lost.count,
      dropped: sum.dropped, left: left)
  }
}

extension Mending {
  /// A line for each kind of what was found, for an operator: no name, no id, no text of anybody's.
  package var words: [String] {
    [
      (mended, "damaged values were computed back, nothing is lost"),
      (lost.count, "damaged revisions were set aside; their owner is told which"),
      (dropped, "damaged notes, indexes or bodies of ancestors were dropped"),
      (left, "damaged values can't be mended: restore the store from a backup"),
    ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
  }
}
