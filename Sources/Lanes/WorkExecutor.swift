import CLanes
import Synchronization

/// Runs the task of a connection, request after request, on the threads of a ``LanePool``. Each job waits on the
/// account of the request's principal and is charged to it.
package final class WorkExecutor: TaskExecutor {
  /// The pool whose threads run the task.
  package let pool: LanePool
  /// The account that pays until the principal is known.
  package let account: ProcessorAccount
  /// The work between requests.
  private let idle: Work
  /// 1 when the client has closed its sending side, 2 when it has gone, 0 otherwise.
  private let closing = Atomic(0)
  private let state: Locked<State>

  private struct State {
    var work: Work
    /// The account that paid for the last request. The next request most probably belongs to it too, and waits on it.
    var payer: ProcessorAccount
    /// The account on which the present request waited.
    var waitedOn: ProcessorAccount?
  }

  /// Makes an executor for the requests of one connection.
  /// - Parameter account: the account that pays until the principal is known.
  package init(_ pool: LanePool, account: ProcessorAccount) {
    self.pool = pool
    self.account = account
    idle = Work(account, in: pool, isCounted: false)
    state = Locked(State(work: idle, payer: account))
  }

  /// The executor of the task that the calling thread runs; nil for a task without such an executor.
  package static var current: WorkExecutor? {
    clanes_this_thread().pointee.executor.map {
      Unmanaged<WorkExecutor>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// An executor for a task that several requests wait for, such as the opening of a store. The task continues after
  /// the present request has ended, and the account of the present request pays for it. Nil when the calling thread
  /// works for no request.
  package static var detached: WorkExecutor? {
    Work.current.map { WorkExecutor($0.pool, account: $0.account) }
  }

  package var currentWork: Work { state.withLock { $0.work } }
  func hasWaited(on account: ProcessorAccount) -> Bool {
    state.withLock { $0.waitedOn } === account
  }

  /// Begins a request. Call it from the connection's own task, or from a child of it.
  package func begin(_ account: ProcessorAccount) -> Work {
    let next = Work(account, in: pool)
    replace(by: next)
    let closing = closing.load(ordering: .relaxed)
    if closing == 1 { next.clientClosedItsSide() }
    if closing == 2 { next.end(.gone) }
    return next
  }

  /// Ends the request that was begun last. Call it from the same tasks.
  package func finish() { replace(by: idle) }

  /// Notes that the client has gone: it neither reads nor sends any more. The present request ends.
  package func clientLeft() {
    closing.store(2, ordering: .relaxed)
    currentWork.end(.gone)
  }

  /// Notes that the client has closed its sending side; see ``Work/clientClosedItsSide()``.
  package func clientClosedItsSide() {
    _ = closing.compareExchange(expected: 0, desired: 1, ordering: .relaxed)
    currentWork.clientClosedItsSide()
  }

  private func replace(by next: Work) {
    LaneThread.settle()
    let former = state.withLock { state in
      if next === idle {
        state.payer = state.work.account
        state.waitedOn = nil
      }
      return swap(&state.work, next)
    }
    let thread = clanes_this_thread()
    if thread.pointee.executor == Unmanaged.passUnretained(self).toOpaque() {
      LaneThread.keep(next)
    }
    withExtendedLifetime(former) {}
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let thread = clanes_this_thread()
    if thread.pointee.catches != 0,
      thread.pointee.executor == Unmanaged.passUnretained(self).toOpaque()
    {
      thread.pointee.catches = 0
      thread.pointee.caught = unsafeBitCast(job, to: UnsafeMutableRawPointer.self)
      return
    }
    let (work, payer) = state.withLock { state in
      guard state.work === idle else { return (state.work, nil as ProcessorAccount?) }
      // When the last payer is overdrawn, the connection's account waits instead until the principal is known.
      let payer = state.payer.isOverdrawn ? account : state.payer
      state.waitedOn = payer
      return (idle, payer)
    }
    pool.enqueue(.task(job, self), for: work, on: payer)
  }
}

/// Replaces a value and returns the former one.
private func swap<Value>(_ variable: inout Value, _ value: Value) -> Value {
  let former = variable
  variable = value
  return former
}

/// Runs a step in a child task, whose memory is freed when the step is done.
///
/// A task keeps the memory of its deepest call until it ends. So a task that waits for long, such as that of a feed, lets
/// a child do what calls deeply, and waits itself with a few small frames. A child costs about a microsecond.
/// - Throws: what the step throws.
// Not inlined, so that the waiting frame stays small.
@inline(never)
package func inChildTask<Value: Sendable>(
  _ step: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  async let value = step()
  return try await value
}
