import Hotels
import Synchronization

/// Ends work that takes too long.
enum Deadline {
  /// Remembers that a limit was reached.
  private final class Watch: Sendable {
    private let flag = Atomic<Bool>(false)
    var hasPassed: Bool { flag.load(ordering: .acquiring) }
    func pass() { flag.store(true, ordering: .releasing) }
  }

  /// The limits that the running work stands under, the widest first.
  @TaskLocal private static var watches: [Watch] = []

  /// Whether one of the limits that the running work stands under has been reached. It tells work that was
  /// cancelled by a limit, which is the doing of whoever is slow, from work whose caller has left.
  static var hasPassed: Bool { watches.contains { $0.hasPassed } }

  /// Does some work, but not for longer than a limit: then the work is cancelled and its outcome
  /// dropped.
  /// - Throws: what the work throws; `timeout` at the limit, or at a wider one that ends it earlier;
  ///   `unavailable` when the caller is cancelled.
  static func within<Value: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async throws(SearchError) -> Value
  ) async throws(SearchError) -> Value {
    let watch = Watch()
    let outcome = await $watches.withValue(watches + [watch]) {
      await race(limit, watch, work)
    }
    // What a cancelled request throws depends on how far it had come.
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
