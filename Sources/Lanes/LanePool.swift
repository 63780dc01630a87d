import CLanes
import Glibc
import Synchronization

/// Threads of our own for requests and stores: calls that block stay away from Swift's cooperative pool, and who has
/// used least is next.
///
/// As many threads compute at once as there are processors; one that waits for the disk (``blocking(_:)``) lends its
/// place to another meanwhile. The order is ``FairQueue``'s.
///
/// Unchecked, because the compiler cannot see the lock. Proof: the pointers never change; the variables are touched
/// only between `pthread_mutex_lock` and `pthread_mutex_unlock` of `mutex`, as are those of accounts and places that
/// say so; all else is constant or atomic.
package final class LanePool: @unchecked Sendable {
  /// How many threads there are at most: more than compute at once, as some wait for the disk.
  package static let defaultThreads = 24

  /// How long something waits behind short work before another thread is called, in nanoseconds: ten milliseconds.
  ///
  /// Each thread that takes part costs the others: stores and what requests share move from one processor's cache to
  /// another's, and a thread that is woken for each small piece of work does it slowly. Two threads on two processors
  /// read documents a third slower than one. Work that takes whole slices is worth a thread at once.
  private static let longWait: Int64 = 10_000_000
  /// How long no thread looks for something to do before another is called, in nanoseconds: four milliseconds, two
  /// slices.
  static let lateness: Int64 = 4_000_000

  /// How long an overdrawn request waits behind others before it is ended, in seconds.
  package static let patienceSeconds = Int(FairQueue.patience / 1_000_000_000)

  /// The name of the threads, as `ps -T` shows them.
  package let name: String
  /// Counts for the operator.
  package let counts = WorkCounts()
  /// Threads that compute at once, at most.
  let processors: Int
  /// Threads at most.
  let threads: Int
  // On the heap, because its address must never change.
  let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  /// Who pays for what is nobody's request.
  private let system = ProcessorAccount(isLimited: false)
  /// How much waits, for a look without the lock.
  let waiting = Atomic(0)

  /// The threads that work at stores for these requests; nil where the same do both.
  package let stores: LanePool?

  /// What waits.
  var queue: FairQueue
  /// Threads that compute, or were told to.
  var computing = 0
  /// Processors that something else has at present.
  var lent = 0
  /// When a thread last looked for something to do, and how long that had waited.
  var lastTurn: (at: Int64, waited: Int64) = (0, 0)
  /// Threads that there are, or that are being started.
  var threadCount = 0
  /// Threads that wait for something to do.
  var parked: [Worker] = []
  /// The thread that looks every four milliseconds whether those that compute keep up.
  var standby: Worker?
  /// Whether threads end when nothing is left to do.
  var isStopping = false
  /// Who waits for that.
  var stopCalls: [CheckedContinuation<Void, Never>] = []

  /// One of the threads.
  ///
  /// Unchecked, because the compiler cannot see the lock. Proof: `isCalled` is touched under the pool's lock; the
  /// pointer never changes.
  final class Worker: @unchecked Sendable {
    /// Whether it is to look for something to do.
    var isCalled = false
    /// Whether it stands by.
    var standsBy = false
    /// What it waits for; by the clock of slices.
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

  /// A pool without a thread yet.
  /// - Parameter stores: another pool, whose threads work at stores for these requests.
  /// - Parameter processors: threads that compute at once; as many as there are processors, at least 2.
  /// - Parameter threads: threads at most.
  package convenience init(
    name: String = "work", stores: LanePool? = nil, processors: Int? = nil,
    threads: Int = LanePool.defaultThreads
  ) {
    self.init(name: name, .requests, stores: stores, processors: processors, threads: threads)
  }

  /// A pool whose threads work at stores.
  package static func forStores(
    processors: Int? = nil, threads: Int = LanePool.defaultThreads
  ) -> LanePool {
    LanePool(name: "store", .stores, stores: nil, processors: processors, threads: threads)
  }

  private init(
    name: String, _ queue: AccountLine.Queue, stores: LanePool?, processors: Int?, threads: Int
  ) {
    self.name = name
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

  /// The pool whose thread this is; nil on any other.
  package static var current: LanePool? {
    clanes_this_thread().pointee.pool.map {
      Unmanaged<LanePool>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Whether something waits for a processor.
  package var isCrowded: Bool { waiting.load(ordering: .relaxed) > 0 }
  /// How much waits for a processor.
  package var waitingCount: Int {
    waiting.load(ordering: .relaxed) + (stores?.waitingCount ?? 0)
  }
  /// How often one who had not overdrawn went before one who had.
  package var servedBeforeOverdrawn: Int {
    locked { queue.servedBeforeOverdrawn } + (stores?.servedBeforeOverdrawn ?? 0)
  }
  /// How long those who have not overdrawn wait at present.
  package var lag: Duration {
    max(.nanoseconds(locked { queue.longestWait(at: SliceClock.now) }), stores?.lag ?? .zero)
  }

  /// How long an account is overdrawn if nothing more is spent, in seconds; at least 1.
  package func secondsUntilPositive(_ account: ProcessorAccount) -> Int {
    let now = SliceClock.now
    let balance = locked {
      let line = account.line(in: queue.name)
      return min(line.settle(at: now), line.parent?.settle(at: now) ?? .max)
    }
    return max(
      1, Int((max(0, -balance) * 100 / ProcessorAccount.percent + 999_999_999) / 1_000_000_000))
  }

  /// Which of these accounts hold all that they can.
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

  /// Runs what blocks without computing; another thread computes meanwhile. Does nothing else on a thread that is
  /// no pool's.
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

  /// Lets something on another thread have a processor: one thread fewer computes until ``takeBack()``.
  func lend() {
    locked { lent += 1 }
    stores?.lend()
  }

  /// Ends ``lend()``.
  func takeBack() {
    start(
      locked {
        lent -= 1
        return queue.isEmpty ? nil : callWorker()
      })
    stores?.takeBack()
  }

  /// Waits until nothing waits any more, and ends the threads. What comes later gets a thread that ends with it.
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

  /// Puts an entry in line.
  /// - Parameter account: on which it waits, if not that of the work.
  func enqueue(_ kind: PoolEntry.Kind, for work: Work?, on account: ProcessorAccount? = nil) {
    let isOwn = clanes_this_thread().pointee.pool == Unmanaged.passUnretained(self).toOpaque()
    let call = locked {
      push(kind, work, on: account)
      // The calling thread is about to look for its next job: it takes this one, unless there are others.
      return isOwn && queue.count == 1 ? nil : callWorker(for: work)
    }
    start(call)
  }

  /// Puts an actor's job in line, behind its others.
  func enqueue(_ job: UnownedJob, at place: InlineExecutor) {
    let thread = clanes_this_thread()
    let isOwn = thread.pointee.pool == Unmanaged.passUnretained(self).toOpaque()
    let work = Work.current
    let call: Call? = locked {
      place.jobs.append(.init(job: job, work: work))
      guard !place.isInLine else { return nil }
      place.isInLine = true
      push(.place(place), work)
      return isOwn && queue.count == 1 ? nil : callWorker(for: work)
    }
    start(call)
  }

  /// Suspends the calling task until it is its turn again.
  func wait(for work: Work) async {
    guard let executor = WorkExecutor.current else { return }
    await withUnsafeContinuation { continuation in
      enqueue(.turn(continuation, executor), for: work)
    }
  }

  /// Lets what belongs to an ended request go first of all.
  func expedite(_ work: Work) {
    locked { queue.expedite(work, work.account) }
    stores?.expedite(work)
  }

  /// Under the lock: puts an entry in line.
  func push(_ kind: PoolEntry.Kind, _ work: Work?, on account: ProcessorAccount? = nil) {
    let now = SliceClock.now
    queue.push(
      PoolEntry(kind: kind, work: work, since: now), account ?? work?.account ?? system, at: now)
    waiting.store(queue.count, ordering: .relaxed)
  }

  /// How a thread is called that is to compute.
  enum Call { case wake(Worker), start }

  /// Under the lock: how many threads may compute; one always.
  var allowed: Int { max(1, processors - lent) }

  /// Under the lock: whether one thread more is worth its price.
  var isLate: Bool {
    lastTurn.waited >= Self.longWait || SliceClock.now - lastTurn.at >= Self.lateness
  }

  /// Under the lock: somebody to compute, where there is room for one more and those that compute don't keep up; or
  /// somebody to watch whether they do.
  /// - Parameter work: what was put in line; nil for what stands there already.
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

  /// Under the lock: every thread that waits, to be woken.
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

  /// Calls a thread; not under the lock.
  func start(_ call: Call?) {
    switch call {
    case nil: break
    case .wake(let worker): pthread_cond_signal(worker.condition)
    case .start:
      if LaneThread.start(on: self, Self.main) { return }
      // The machine has no thread to spare. Slow is better than never: Swift's pool lends one of its.
      Task.detached { self.run(endsWhenIdle: true) }
    }
  }
}
