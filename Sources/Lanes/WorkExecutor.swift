import CLanes
import Synchronization

/// Runs a connection's task, request after request, on the threads of a ``LanePool``: each of its jobs stands in line
/// on the account of whoever asks, and is charged there.
package final class WorkExecutor: TaskExecutor {
  /// The threads.
  package let pool: LanePool
  /// Who pays while it is not known who asks.
  package let account: ProcessorAccount
  /// What is done between requests.
  private let idle: Work
  /// Whether the client has closed its sending side: 1; has gone: 2.
  private let closing = Atomic(0)
  private let state: Locked<State>

  private struct State {
    /// What is done now.
    var work: Work
    /// Who paid for the last request: most probably the next one is theirs as well, and waits in their line.
    var payer: ProcessorAccount
    /// In whose line the present request waited.
    var waitedOn: ProcessorAccount?
  }

  /// An executor for the requests of one connection.
  /// - Parameter account: who pays while it is not known who asks.
  package init(_ pool: LanePool, account: ProcessorAccount) {
    self.pool = pool
    self.account = account
    idle = Work(account, in: pool, isCounted: false)
    state = Locked(State(work: idle, payer: account))
  }

  /// The executor of the task that the calling thread runs; nil for a task of another kind.
  package static var current: WorkExecutor? {
    clanes_this_thread().pointee.executor.map {
      Unmanaged<WorkExecutor>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// For a task that others wait for too, as the opening of a store: it goes on when the present request has ended, and
  /// whoever asks now pays for it. Nil where that is nobody's request.
  package static var outlasting: WorkExecutor? {
    Work.current.map { WorkExecutor($0.pool, account: $0.account) }
  }

  /// What is done now.
  package var currentWork: Work { state.withLock { $0.work } }
  /// Whether the present request has waited in this account's line.
  func hasWaited(on account: ProcessorAccount) -> Bool {
    state.withLock { $0.waitedOn } === account
  }

  /// Begins a request, from its own task.
  package func begin(_ account: ProcessorAccount) -> Work {
    let next = Work(account, in: pool)
    replace(by: next)
    let closing = closing.load(ordering: .relaxed)
    if closing == 1 { next.clientClosedItsSide() }
    if closing == 2 { next.end(.gone) }
    return next
  }

  /// Ends the request that was begun last, from its own task.
  package func finish() { replace(by: idle) }

  /// The client reads and sends nothing any more: what is done for it ends.
  package func clientLeft() {
    closing.store(2, ordering: .relaxed)
    currentWork.end(.gone)
  }

  /// The client has closed its sending side; see ``Work/clientClosedItsSide()``.
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
      // Who has overdrawn waits once it is known that it is they.
      let payer = state.payer.isOverdrawn ? account : state.payer
      state.waitedOn = payer
      return (idle, payer)
    }
    pool.enqueue(.task(job, self), for: work, on: payer)
  }
}

/// Puts a value in another's place.
private func swap<Value>(_ place: inout Value, _ value: Value) -> Value {
  let former = place
  place = value
  return former
}
