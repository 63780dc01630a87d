import CScheduling
import Glibc

/// Threads for calls that block, such as those of files and databases.
///
/// A blocking call in Swift's cooperative pool, which has one thread per core, would stall every request. Closures start
/// in the order in which they come, or in that of the accounts that pay for them (``FairQueue``). The time that a closure
/// takes is charged to the request that calls. The threads start when they are needed, and end with ``stop()``.
/// ```swift
/// let names = try await threads.run { try Disk.names(in: path) }
/// ```
package final class ThreadPool: Sendable {
  /// The maximum number of threads that work at stores. It is higher than the number that compute at once, because some
  /// threads wait for the disk.
  package static let storeThreads = 24

  /// The name of the threads, as `ps -T` and `/proc` show it; Linux keeps its first 15 bytes.
  package let name: String
  /// The maximum number of threads.
  package let threads: Int
  /// The niceness of the threads (setpriority(2)); 0 for the process's own.
  private let niceness: Int32
  /// How many threads compute at once at most.
  private let processors: Int
  /// Whether the accounts of requests decide the order.
  private let isFair: Bool
  private let state: Monitor<State>
  /// The account of closures whose account does not decide.
  private let system = ProcessorAccount(isLimited: false)

  private struct State: Sendable {
    var queue: FairQueue
    var threadCount = 0
    /// How many threads run a closure and do not wait for the disk.
    var computing = 0
    /// How many processors are in use by threads outside of the pool.
    var reserved = 0
    var isStopping = false
    /// The calls of `stop()` that wait for the threads to end.
    var stopCalls: [CheckedContinuation<Void, Never>] = []
  }

  /// Makes a pool whose closures start in the order in which they come.
  /// - Parameter niceness: how much the threads yield to others when processors are busy (setpriority(2)), 1 to 19; 0 for
  ///   the process's own.
  package convenience init(name: String, threads: Int = 1, niceness: Int32 = 0) {
    self.init(name: name, threads: threads, processors: threads, isFair: false, niceness: niceness)
  }

  /// Makes the pool for work at stores. A process has one.
  /// - Parameter processors: how many threads compute at once; by default the number of processors.
  package static func forStores(
    processors: Int? = nil, threads: Int = ThreadPool.storeThreads
  ) -> ThreadPool {
    let processors = processors ?? Processors.count
    return ThreadPool(
      name: "store", threads: max(threads, processors), processors: processors, isFair: true)
  }

  private init(name: String, threads: Int, processors: Int, isFair: Bool, niceness: Int32 = 0) {
    self.name = name
    self.niceness = niceness
    self.threads = max(1, threads)
    self.processors = processors
    self.isFair = isFair
    state = Monitor(State(queue: FairQueue(.stores)))
  }

  /// Runs a closure on one of the threads. The wait can't be cancelled; every closure runs.
  /// - Parameter isSlice: false for a password's hash, which no loop can end early, and which keeps only threads of its own.
  /// - Throws: what the closure throws.
  package func run<Value: Sendable, Failure: Error>(
    isSlice: Bool = true, _ body: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let work = Work.current
    return try await Work.waiting {
      await withCheckedContinuation { continuation in
        push(for: work) { _, clock in
          let begun = SliceClock.now
          let result = Result(catching: body)
          work?.charge(clock.time(since: begun), isSlice: isSlice)
          continuation.resume(returning: result)
        }
      }
    }.get()
  }

  /// Adds a closure whose result no one awaits.
  package func enqueue(_ closure: @escaping @Sendable () -> Void) {
    push(for: nil) { _, _ in closure() }
  }

  /// Adds a closure that charges its time itself.
  /// - Parameter closure: gets the pool and the clock of its thread.
  func push(
    for work: Work?, _ closure: @escaping @Sendable (ThreadPool, inout ThreadClock) -> Void
  ) {
    let waiter = Waiter(kind: .closure(closure), work: work, since: SliceClock.now)
    start(
      state.update { state, idle in
        state.queue.push(waiter, isFair ? work?.account ?? system : system, at: waiter.since)
        return callThread(&state, idle)
      })
  }

  /// Runs a call that blocks without computing; another thread may compute meanwhile. Only for closures of this pool.
  func blocking<Value, Failure: Error>(
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    start(
      state.update { state, idle in
        state.computing -= 1
        return callThread(&state, idle)
      })
    defer {
      state.update { state, _ in
        state.computing += 1
        return ((), .none)
      }
    }
    return try body()
  }

  /// Runs all waiting closures, then ends the threads. Returns when they have ended. A closure that comes later gets a
  /// thread that ends with it.
  package func stop() async {
    await withCheckedContinuation { continuation in
      let hasEnded = state.update { state, _ in
        state.isStopping = true
        guard state.threadCount > 0 else { return (true, .none) }
        state.stopCalls.append(continuation)
        return (false, .all)
      }
      if hasEnded { continuation.resume() }
    }
  }

  /// Runs `body` with a pool of its own, and ends the threads afterwards.
  package static func with<Value, Failure: Error>(
    name: String, threads: Int = 1, niceness: Int32 = 0,
    _ body: (ThreadPool) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let pool = ThreadPool(name: name, threads: threads, niceness: niceness)
    let result: Result<Value, Failure>
    do throws(Failure) { result = .success(try await body(pool)) } catch {
      result = .failure(error)
    }
    await pool.stop()
    return try result.get()
  }

  /// Whether a closure waits for a thread.
  package var isCrowded: Bool { state.read { !$0.queue.isEmpty } }
  /// How many closures wait for a thread.
  package var waitingCount: Int { state.read { $0.queue.count } }
  var servedBeforeOverdrawn: Int { state.read { $0.queue.servedBeforeOverdrawn } }
  var lag: Duration { .nanoseconds(state.read { $0.queue.longestWait(at: SliceClock.now) }) }

  /// Moves the waiters of an ended request before all others.
  func expedite(_ work: Work) {
    state.update { state, _ in
      state.queue.expedite(work, work.account)
      return ((), .none)
    }
  }

  /// Reserves a processor for a thread outside of the pool, or ends that.
  func reserveProcessor(_ isReserved: Bool) {
    start(
      state.update { state, idle in
        state.reserved += isReserved ? 1 : -1
        return callThread(&state, idle)
      })
  }

  /// Whether one more thread may compute. Call it under the lock.
  private func mayCompute(_ state: State) -> Bool {
    state.computing < max(1, processors - state.reserved)
  }

  /// Wakes a thread if a waiter waits for it. Call it under the lock.
  /// - Parameter idle: how many threads sleep.
  /// - Returns: whether a thread has to be started.
  private func callThread(_ state: inout State, _ idle: Int) -> (Bool, Monitor<State>.Wake) {
    guard !state.queue.isEmpty, mayCompute(state) else { return (false, .none) }
    guard idle == 0 else { return (false, .one) }
    guard state.threadCount < threads else { return (false, .none) }
    state.threadCount += 1
    return (true, .none)
  }

  private func start(_ mustStart: Bool) {
    guard mustStart else { return }
    if Threads.start(on: self, Self.main) { return }
    // The system can't start a thread. The closures run on a thread of Swift's cooperative pool, which is slow but works.
    Task.detached { self.work(endsWhenIdle: true) }
  }

  /// The main function of a thread. `argument` is a retained pool.
  private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    argument in
    guard let argument else { return nil }
    let pool = Unmanaged<ThreadPool>.fromOpaque(argument).takeRetainedValue()
    cscheduling_name_thread(pool.name)
    // For Linux, a thread is a process of its own here (setpriority(2)).
    if pool.niceness > 0 {
      setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, pool.niceness)
    }
    pool.work(endsWhenIdle: false)
    return nil
  }

  private enum Turn: Sendable {
    /// Runs a waiter; `more` wait.
    case run(Waiter, more: Bool)
    case end([CheckedContinuation<Void, Never>])
  }

  private func work(endsWhenIdle: Bool) {
    var clock = ThreadClock()
    var hasRun = false
    while true {
      let turn: Turn = state.waitUntil { state in
        if hasRun { state.computing -= 1 }
        hasRun = false
        if mayCompute(state), let waiter = state.queue.pop(at: SliceClock.now) {
          state.computing += 1
          return .run(waiter, more: !state.queue.isEmpty)
        }
        guard state.queue.isEmpty, endsWhenIdle || state.isStopping else { return nil }
        state.threadCount -= 1
        guard state.threadCount == 0 else { return .end([]) }
        defer { state.stopCalls = [] }
        return .end(state.stopCalls)
      }
      switch turn {
      case .run(let waiter, let more):
        hasRun = true
        // Waiters that came before this thread had woken have called no other.
        if more { start(state.update { state, idle in callThread(&state, idle) }) }
        if case .closure(let closure) = waiter.kind { closure(self, &clock) }
      case .end(let stopCalls): return stopCalls.forEach { $0.resume() }
      }
    }
  }
}

/// The processors that this process may use.
package enum Processors {
  /// How many there are, at least 1.
  package static let count = max(1, Int(cscheduling_processors()))
}
