import DequeModule
import Synchronization

/// A value whose use blocks, such as an open file, and the calls that wait for it.
///
/// One call runs at a time, on a thread of the pool, in the order in which they came.
/// ```swift
/// let archive = Confined(Archive(path), to: ThreadPool(name: "archive"))
/// let size = try await archive.run { archive in try archive.size() }
/// ```
///
/// Unchecked, because the compiler cannot see the order. Proof: `state` is private, and used only by the calls of
/// `queue`, of which one runs at a time: `isRunning` is changed under the lock; the initial value is `sending`.
package final class Confined<State>: @unchecked Sendable {
  private struct Queue {
    var calls = Deque<@Sendable () -> Void>()
    /// Whether a thread of the pool runs the calls, or soon will.
    var isRunning = false
  }

  /// The pool on whose threads the calls run.
  package let threads: ThreadPool
  private var state: State
  private let queue = Mutex(Queue())

  /// Makes a queue around a value that no other code holds.
  package init(_ state: sending State, to threads: ThreadPool) {
    self.state = state
    self.threads = threads
  }

  /// Runs a closure on the value. The wait can't be cancelled; every closure runs.
  /// - Throws: what the closure throws.
  package func run<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable (inout State) throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let work = Work.current
    let result: Result<Value, Failure> = await withUnsafeContinuation { continuation in
      enqueue {
        continuation.resume(
          returning: Work.chargingOutsidePools(work) {
            Result { () throws(Failure) in try body(&self.state) }
          })
      }
    }
    return try result.get()
  }

  private func enqueue(_ call: @escaping @Sendable () -> Void) {
    let mustRun = queue.withLock { queue in
      queue.calls.append(call)
      defer { queue.isRunning = true }
      return !queue.isRunning
    }
    if mustRun { threads.enqueue { self.runNext() } }
  }

  /// Runs one call, and the next one behind the other closures of the pool.
  private func runNext() {
    let call = queue.withLock { $0.calls.popFirst() }
    call?()
    let isOver = queue.withLock { queue in
      queue.isRunning = !queue.calls.isEmpty
      return !queue.isRunning
    }
    if !isOver { threads.enqueue { self.runNext() } }
  }
}
