import Hotels
import Synchronization

/// Limits the time of work.
enum Deadline {
  /// Records that a time limit was reached.
  private final class Flag: Sendable {
    private let isSet = Atomic<Bool>(false)
    var hasPassed: Bool { isSet.load(ordering: .acquiring) }
    func set() { isSet.store(true, ordering: .releasing) }
  }

  /// The time limits of the running work, the outermost first.
  @TaskLocal private static var flags: [Flag] = []

  /// Whether one of the running work's time limits was reached. It distinguishes work that was cancelled by a
  /// limit, because the upstream is slow, from work whose caller has left.
  static var hasPassed: Bool { flags.contains { $0.hasPassed } }

  /// Runs work with a time limit. At the limit the work is cancelled and its result discarded.
  /// - Throws: what the work throws; `timeout` at the limit, or at an outer limit that is reached first;
  ///   `unavailable` when the caller is cancelled.
  static func within<Value: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async throws(SearchError) -> Value
  ) async throws(SearchError) -> Value {
    let flag = Flag()
    let outcome = await $flags.withValue(flags + [flag]) {
      await race(limit, flag, work)
    }
    // The error of a cancelled request depends on how far it had come, so it is replaced.
    if case .failure = outcome, Task.isCancelled {
      throw hasPassed ? .timeout("no whole answer in time") : .unavailable("cancelled")
    }
    return try outcome.get()
  }

  private static func race<Value: Sendable>(
    _ limit: Duration, _ flag: Flag,
    _ work: @escaping @Sendable () async throws(SearchError) -> Value
  ) async -> Result<Value, SearchError> {
    await withTaskGroup(of: Result<Value, SearchError>.self) { group in
      group.addTask {
        do throws(SearchError) {
          return .success(try await work())
        } catch { return .failure(error) }
      }
      group.addTask {
        do {
          try await Task.sleep(for: limit)
          flag.set()
          return .failure(.timeout("no whole answer within \(limit)"))
        } catch { return .failure(.unavailable("cancelled")) }
      }
      let first = await group.next()
      group.cancelAll()
      return first ?? .failure(.unavailable("cancelled"))
    }
  }
}
