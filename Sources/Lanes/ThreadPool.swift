import CLanes
import DequeModule
import Glibc

/// Threads of their own for calls that block, such as reads of files.
///
/// A blocking call in Swift's cooperative pool, which has one thread per core, would stall every request. Closures start
/// in the order in which they come. Their processor time is charged to the request of the caller. The threads start
/// when they are needed, and end with ``stop()``.
/// ```swift
/// let names = try await threads.run { try Disk.names(in: path) }
/// ```
package final class ThreadPool: Sendable {
  /// The name of the threads, as `ps -T` and `/proc` show it; Linux keeps its first 15 bytes.
  package let name: String
  /// The maximum number of threads.
  package let threads: Int

  private struct State {
    var closures = Deque<@Sendable () -> Void>()
    var threadCount = 0
    var isStopping = false
    /// The calls of `stop()` that wait for the threads to end.
    var stopCalls: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Monitor(State())

  /// Makes a pool. Its threads start when closures come.
  package init(name: String, threads: Int = 1) {
    self.name = name
    self.threads = max(1, threads)
  }

  /// Runs a closure on one of the threads. The wait can't be cancelled; every closure runs.
  /// - Throws: what the closure throws.
  package func run<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let work = Work.current
    let result: Result<Value, Failure> = await withUnsafeContinuation { continuation in
      enqueue {
        continuation.resume(
          returning: Work.chargingOutsidePools(work) { Result(catching: body) })
      }
    }
    return try result.get()
  }

  /// Adds a closure that nobody waits for.
  package func enqueue(_ closure: @escaping @Sendable () -> Void) {
    let mustStart = state.update { state, idle in
      state.closures.append(closure)
      guard idle < state.closures.count, state.threadCount < threads else { return false }
      state.threadCount += 1
      return true
    }
    guard mustStart else { return }
    if LaneThread.start(on: self, Self.main) { return }
    // The system can't start a thread. The closures run on a thread of Swift's cooperative pool, which is slow but works.
    Task.detached { self.work(endsWhenIdle: true) }
  }

  /// Runs all waiting closures, then ends the threads. Returns when they have ended. A closure that comes later gets a
  /// thread that ends with it.
  package func stop() async {
    await withCheckedContinuation { continuation in
      let hasEnded = state.update(wakingAll: true) { state, _ in
        state.isStopping = true
        guard state.threadCount > 0 else { return true }
        state.stopCalls.append(continuation)
        return false
      }
      if hasEnded { continuation.resume() }
    }
  }

  /// The main function of a thread. `argument` is a retained pool.
  private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    argument in
    guard let argument else { return nil }
    let pool = Unmanaged<ThreadPool>.fromOpaque(argument).takeRetainedValue()
    clanes_name_thread(pool.name)
    pool.work(endsWhenIdle: false)
    return nil
  }

  private enum Turn: Sendable {
    case run(@Sendable () -> Void)
    case end([CheckedContinuation<Void, Never>])
  }

  private func work(endsWhenIdle: Bool) {
    while true {
      let turn: Turn = state.waitUntil { state in
        if let closure = state.closures.popFirst() { return .run(closure) }
        guard endsWhenIdle || state.isStopping else { return nil }
        state.threadCount -= 1
        guard state.threadCount == 0 else { return .end([]) }
        defer { state.stopCalls = [] }
        return .end(state.stopCalls)
      }
      switch turn {
      case .run(let closure): closure()
      case .end(let stopCalls): return stopCalls.forEach { $0.resume() }
      }
    }
  }
}
