import Hotels
import Synchronization

/// Limits the time of work.
enum Deadline {
  /// Records that a time limit was reached.
  private final class Watch: Sendable {
    private let flag = Atomic<Bool>(false)
    var hasPassed: Bool { flag.load(ordering: .acquiring) }
    func pass() { flag.store(true, ordering: .releasing) }
  }

  /// The time limits of the running work, the outermost first.
  @TaskLocal private static var watches: [Watch] = []

  /// Whether one of the running work's time limits was reached. It distinguishes work that was cancelled by a
  /// limit, because the upstream is slow, from work whose caller has left.
  static var hasPassed: Bool { watches.contains { $0.hasPassed } }

  /// Runs work with a time limit. At the limit the work is cancelled and its result discarded.
  /// - Throws: what the work throws; `timeout` at the limit, or at an outer limit that is reached first;
  ///   `unavailable` when the caller is cancelled.
  static func within<Value: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async throws(SearchError) -> Value
  ) async throws(SearchError) -> Value {
    let watch = Watch()
    let outcome = await $watches.withValue(watches + [watch]) {
      await race(limit, watch, work)
    }
    // The error of a cancelled request depends on how far it had come, so it is replaced.
    if case .failure = outcome, Task.isCancelled {
      throw hasPassed ? .timeout("no whole answer in time") : .unavailable("cancelled")
    }
    return try outcome.get()
  }

  private static func race<Value: Sendable>(
    _ limit: Duration, _ watch: Watch,
    _ work: @escaping @Sendable () async throws(SearchError) -> Value
  ) async -> Result<Value, SearchError> {
    await withTaskGroup(of: Result<Value, SearchError>.self) { group in
      group.addTask {
        do throws(SearchError) {
          return .success(try await work())
        } catch {
          return .failure(error)
        }
      }
      group.addTask {
        do {
          try await Task.sleep(for: limit)
          watch.pass()
          return .failure(.timeout("no whole answer within \(limit)"))
        } catch {
          return .failure(.unavailable("cancelled"))
        }
      }
      let first = await group.next()
      group.cancelAll()
      return first ?? .failure(.unavailable("cancelled"))
    }
  }
}
