import CLanes
import Glibc
import Synchronization

/// A pool of threads for requests and stores.
///
/// Calls that block run here and not in Swift's cooperative pool. The account that has used least is served next; the
/// order is that of ``FairQueue``. At most as many threads compute at once as there are processors. While a thread
/// waits for the disk (``blocking(_:)``), another thread may compute.
///
/// Unchecked, because the compiler cannot see the lock. Proof: the pointers never change; the variables are used only
/// between `pthread_mutex_lock` and `pthread_mutex_unlock` of `mutex`, and so are those variables of accounts and
/// executors whose comments say so; everything else is constant or atomic.
package final class LanePool: @unchecked Sendable {
  /// The maximum number of threads. It is higher than the number that compute at once, because some threads wait for
  /// the disk.
  package static let defaultThreads = 24

  /// How long an entry waits behind short work before another thread is woken, in nanoseconds: ten milliseconds.
  ///
  /// Each additional thread slows the others down: stores and the memory that requests share move from one processor's
  /// cache to another's, and a thread that is woken for each small piece of work does it slowly. Two threads on two
  /// processors read documents a third slower than one thread. Work that uses whole slices justifies another thread at
  /// once.
  private static let longWait: Int64 = 10_000_000
  /// When no thread has taken an entry for this long, another thread is woken, in nanoseconds: four milliseconds, two
  /// slices.
  static let lateness: Int64 = 4_000_000

  /// How long an overdrawn request waits behind others before it is ended, in seconds.
  package static let patienceSeconds = Int(FairQueue.patience / 1_000_000_000)

  /// The name of the threads, as `ps -T` shows it.
  package let name: String
  /// Counts for the operator.
  package let counts = WorkCounts()
  /// How many threads compute at once at most.
  let processors: Int
  /// How many threads there are at most.
  let threads: Int
  // On the heap, because its address must never change.
  let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  /// The account that pays for work that belongs to no request.
  private let system = ProcessorAccount(isLimited: false)
  /// How many entries wait; readable without the lock.
  let waiting = Atomic(0)

  /// The pool for work at stores; nil when this pool does both.
  package let stores: LanePool?
  /// The most that a request may cost, in nanoseconds of processor time.
  let requestLimit: Int64

  var queue: FairQueue
  /// How many threads compute, or have been woken to compute.
  var computing = 0
  /// How many processors are reserved for threads outside of the pool.
  var reservedProcessors = 0
  /// When a thread last took an entry, and how long that entry had waited.
  var lastTurn: (at: Int64, waited: Int64) = (0, 0)
  /// How many threads exist or are being started.
  var threadCount = 0
  /// The threads that sleep until they are woken.
  var parked: [Worker] = []
  /// The thread that checks every four milliseconds whether the computing threads keep up.
  var standby: Worker?
  /// Whether threads end when no work is left.
  var isStopping = false
  /// The calls of ``stop()`` that wait for the threads to end.
  var stopCalls: [CheckedContinuation<Void, Never>] = []

  /// One of the threads.
  ///
  /// Unchecked, because the compiler cannot see the lock. Proof: `isCalled` and `standsBy` are used only under the
  /// pool's lock; the pointer never changes.
  final class Worker: @unchecked Sendable {
    /// Whether the thread has been woken to look for work.
    var isCalled = false
    /// Whether the thread is to stand by: to check whether others keep up, not to compute.
    var standsBy = false
    /// The condition that the thread waits for, with a timeout by the clock of ``SliceClock``.
    let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
      condition.initialize(to: pthread_cond_t())
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(condition, &attributes)
      pthread_condattr_destroy(&attributes)
    }

    deinit {
      pthread_cond_destroy(condition)
      condition.deallocate()
    }
  }

  /// Makes a pool. Its threads start when work comes.
  /// - Parameter stores: another pool, whose threads work at stores for these requests.
  /// - Parameter processors: how many threads compute at once; by default the number of processors, at least 2.
  /// - Parameter threads: how many threads there are at most.
  /// - Parameter requestLimit: the most that a request may cost, in nanoseconds of processor time.
  package convenience init(
    name: String = "work", stores: LanePool? = nil, processors: Int? = nil,
    threads: Int = LanePool.defaultThreads, requestLimit: Int64 = Work.standardLimit
  ) {
    self.init(
      name: name, .requests, stores: stores, processors: processors, threads: threads,
      requestLimit: requestLimit)
  }

  package static func forStores(
    processors: Int? = nil, threads: Int = LanePool.defaultThreads
  ) -> LanePool {
    LanePool(
      name: "store", .stores, stores: nil, processors: processors, threads: threads,
      requestLimit: Work.standardLimit)
  }

  private init(
    name: String, _ queue: AccountLine.Queue, stores: LanePool?, processors: Int?, threads: Int,
    requestLimit: Int64
  ) {
    self.name = name
    self.requestLimit = requestLimit
    self.queue = FairQueue(queue)
    self.stores = stores
    self.processors = processors ?? max(2, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    self.threads = max(threads, self.processors)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// The pool that the calling thread belongs to; nil for any other thread.
  package static var current: LanePool? {
    clanes_this_thread().pointee.pool.map {
      Unmanaged<LanePool>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Whether an entry waits for a processor.
  package var isCrowded: Bool { waiting.load(ordering: .relaxed) > 0 }
  /// How many entries wait for a processor, here and in `stores`.
  package var waitingCount: Int {
    waiting.load(ordering: .relaxed) + (stores?.waitingCount ?? 0)
  }
  /// How often an account with a positive balance was served while an overdrawn account waited.
  package var servedBeforeOverdrawn: Int {
    locked { queue.servedBeforeOverdrawn } + (stores?.servedBeforeOverdrawn ?? 0)
  }
  /// How long accounts with a positive balance wait at present.
  package var lag: Duration {
    max(.nanoseconds(locked { queue.longestWait(at: SliceClock.now) }), stores?.lag ?? .zero)
  }

  /// In how many seconds an account is no longer overdrawn if it spends nothing more; at least 1.
  package func secondsUntilPositive(_ account: ProcessorAccount) -> Int {
    let now = SliceClock.now
    let balance = locked {
      let line = account.line(in: queue.name)
      return min(line.settle(at: now), line.parent?.settle(at: now) ?? .max)
    }
    return max(
      1, Int((max(0, -balance) * 100 / ProcessorAccount.percent + 999_999_999) / 1_000_000_000))
  }

  /// Which of these accounts are full and have nothing waiting.
  package func full<Key: Hashable>(of accounts: [Key: ProcessorAccount]) -> [Key] {
    let now = SliceClock.now
    return locked {
      accounts.filter { _, account in
        let line = account.line(in: queue.name)
        return line.isIdle && line.settle(at: now) == ProcessorAccount.capacity
          && line.parent?.settle(at: now) ?? ProcessorAccount.capacity
            == ProcessorAccount.capacity
      }.map(\.key)
    }
  }

  /// Runs a call that blocks without computing; another thread may compute meanwhile. On a thread that belongs to no
  /// pool it only runs `body`.
  package static func blocking<Value, Failure: Error>(
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard let pool = current else { return try body() }
    let begun = clanes_now()
    pool.leave()
    defer {
      pool.locked { pool.computing += 1 }
      let thread = clanes_this_thread()
      let time = clanes_now() - begun
      thread.pointee.blocked += time
    }
    return try body()
  }

  /// Reserves a processor for a thread outside of the pool: one thread fewer computes until ``releaseProcessor()``.
  func reserveProcessor() {
    locked { reservedProcessors += 1 }
    stores?.reserveProcessor()
  }

  /// Ends ``reserveProcessor()``.
  func releaseProcessor() {
    start(
      locked {
        reservedProcessors -= 1
        return queue.isEmpty ? nil : callWorker()
      })
    stores?.releaseProcessor()
  }

  /// Waits until no work is left, and ends the threads. Work that comes later gets a thread that ends with it.
  package func stop() async {
    await withCheckedContinuation { continuation in
      let (isOver, called) = locked {
        isStopping = true
        if threadCount > 0 { stopCalls.append(continuation) }
        return (threadCount == 0, callAll())
      }
      for worker in called { pthread_cond_signal(worker.condition) }
      if isOver { continuation.resume() }
    }
  }
}

extension LanePool {
  func locked<Value>(_ body: () -> Value) -> Value {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  /// Adds an entry to the queue.
  /// - Parameter account: the account on which it waits; nil for the account of `work`.
  func enqueue(_ kind: PoolEntry.Kind, for work: Work?, on account: ProcessorAccount? = nil) {
    let isOwn = clanes_this_thread().pointee.pool == Unmanaged.passUnretained(self).toOpaque()
    let call = locked {
      push(kind, work, on: account)
      // The calling thread is about to look for its next job and takes this one, unless others wait too.
      return isOwn && queue.count == 1 ? nil : callWorker(for: work)
    }
    start(call)
  }

  /// Adds a job of an actor behind the actor's other jobs.
  func enqueue(_ job: UnownedJob, on executor: InlineExecutor) {
    let thread = clanes_this_thread()
    let isOwn = thread.pointee.pool == Unmanaged.passUnretained(self).toOpaque()
    let work = Work.current
    let call: Call? = locked {
      executor.jobs.append(.init(job: job, work: work))
      guard !executor.isQueued else { return nil }
      executor.isQueued = true
      push(.actor(executor), work)
      return isOwn && queue.count == 1 ? nil : callWorker(for: work)
    }
    start(call)
  }

  /// Suspends the calling task until the queue serves it again.
  func wait(for work: Work) async {
    guard let executor = WorkExecutor.current else { return }
    await withUnsafeContinuation { continuation in
      enqueue(.yielded(continuation, executor), for: work)
    }
  }

  /// Moves the entries of an ended request before all others, here and in `stores`.
  func expedite(_ work: Work) {
    locked { queue.expedite(work, work.account) }
    stores?.expedite(work)
  }

  /// Adds an entry to the queue. Call it under the lock.
  func push(_ kind: PoolEntry.Kind, _ work: Work?, on account: ProcessorAccount? = nil) {
    let now = SliceClock.now
    queue.push(
      PoolEntry(kind: kind, work: work, since: now), account ?? work?.account ?? system, at: now)
    waiting.store(queue.count, ordering: .relaxed)
  }

  /// How the pool gets a thread to compute.
  enum Call { case wake(Worker), start }

  /// How many threads may compute, at least 1. Call it under the lock.
  var allowed: Int { max(1, processors - reservedProcessors) }

  /// Whether another thread is worth its cost. Call it under the lock.
  var isLate: Bool {
    lastTurn.waited >= Self.longWait || SliceClock.now - lastTurn.at >= Self.lateness
  }

  /// Chooses a thread to compute when one more may compute and the others don't keep up; otherwise a thread that stands
  /// by to check whether they keep up. Call it under the lock.
  /// - Parameter work: the request of the entry that was just added; nil when none was added.
  /// - Returns: what to pass to `start(_:)` after the lock; nil when no thread is needed or none is left.
  func callWorker(for work: Work? = nil) -> Call? {
    guard computing < allowed else { return nil }
    let mustCompute =
      computing == 0 || work.map { $0.longestSlice >= Slice.nanoseconds } ?? false || isLate
    if !mustCompute, standby != nil { return nil }
    if let worker = mustCompute ? standby ?? parked.popLast() : parked.popLast() {
      if worker === standby { standby = nil }
      worker.isCalled = true
      worker.standsBy = !mustCompute
      if mustCompute { computing += 1 } else { standby = worker }
      return .wake(worker)
    }
    guard threadCount < threads else { return nil }
    threadCount += 1
    computing += 1
    return .start
  }

  /// Marks all sleeping threads as woken. Call it under the lock.
  /// - Returns: the threads to signal.
  func callAll() -> [Worker] {
    let workers = parked + (standby.map { [$0] } ?? [])
    (parked, standby) = ([], nil)
    for worker in workers {
      worker.isCalled = true
      worker.standsBy = false
    }
    computing += workers.count
    return workers
  }

  /// Wakes or starts a thread. Call it without the lock.
  func start(_ call: Call?) {
    switch call {
    case nil: break
    case .wake(let worker): pthread_cond_signal(worker.condition)
    case .start:
      if LaneThread.start(on: self, Self.main) { return }
      // The system can't start a thread. The work runs on a thread of Swift's cooperative pool, which is slow but
      // works.
      Task.detached { self.run(endsWhenIdle: true) }
    }
  }
}
