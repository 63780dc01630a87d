import DequeModule
import Glibc
import Synchronization

/// The serial executor of one actor on a lane or in a pool.
///
/// The actor's jobs run one at a time, on the lane's thread or on any free thread of the pool. While no job runs,
/// another thread may call ``runIfIdle(_:)`` and is then isolated to the actor too, for a short time.
///
/// ```swift
/// actor Archive {
///   private let executor: InlineExecutor
///   nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
///   nonisolated func size() -> Int? { executor.runIfIdle { assumeIsolated { $0.bytes } } }
/// }
/// ```
/// The actor must hold a strong reference to its executor, because `unownedExecutor` does not.
///
/// Unchecked, because the compiler cannot see the lock. Proof: the pointer never changes, and only pthread calls use
/// what it points to; `jobs` and `isQueued` are used only under the pool's lock; everything else is constant or atomic.
package final class InlineExecutor: @unchecked Sendable {
  /// How often ``runIfIdle(_:)`` tries to get the lock. The attempts take some microseconds, long enough for another
  /// short read to end. A commit takes longer; `runIfIdle` does not wait for it.
  private static let attempts = 200

  /// A job and the request that it belongs to.
  struct Job {
    let job: UnownedJob
    let work: Work?
  }

  private enum Home {
    case lane(Lane)
    case pool(LanePool)
  }

  private let home: Home
  /// The jobs that wait for a thread of the pool, in order.
  var jobs = Deque<Job>()
  /// Whether this executor waits in the pool's queue, or a thread of the pool runs its jobs.
  var isQueued = false
  // On the heap, because its address must never change.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  /// The thread that holds the lock; 0 for none.
  private let owner = Atomic<UInt>(0)
  /// Whether one of its jobs runs or waits for the lock.
  private let isBusy = Atomic<Bool>(false)

  package convenience init(_ lane: Lane) { self.init(.lane(lane)) }

  package convenience init(_ pool: LanePool) { self.init(.pool(pool)) }

  private init(_ home: Home) {
    self.home = home
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs `body` on the calling thread, isolated to this executor's actor, unless the actor is busy.
  ///
  /// The actor's jobs wait meanwhile. `body` must not block, and must take far less than a slice.
  /// - Returns: the result of `body`; nil when the actor is busy, and then `body` has not run.
  package func runIfIdle<Value>(_ body: () -> Value) -> Value? {
    for _ in 0..<Self.attempts {
      // Waiting jobs go first; otherwise readers could keep a writer out.
      guard !isBusy.load(ordering: .relaxed) else { return nil }
      guard pthread_mutex_trylock(mutex) == 0 else { continue }
      owner.store(LaneThread.current, ordering: .relaxed)
      defer {
        owner.store(0, ordering: .relaxed)
        pthread_mutex_unlock(mutex)
      }
      return body()
    }
    return nil
  }

  /// Runs one of the actor's jobs on the calling thread, which belongs to the lane or the pool.
  func run(_ job: UnownedJob) {
    isBusy.store(true, ordering: .relaxed)
    pthread_mutex_lock(mutex)
    owner.store(LaneThread.current, ordering: .relaxed)
    job.runSynchronously(on: asUnownedSerialExecutor())
    owner.store(0, ordering: .relaxed)
    isBusy.store(false, ordering: .relaxed)
    pthread_mutex_unlock(mutex)
  }
}

extension InlineExecutor: SerialExecutor {
  /// Adds a job to the end of the queue.
  package func enqueue(_ job: consuming ExecutorJob) {
    switch home {
    case .lane(let lane): lane.enqueue(UnownedJob(job), on: self)
    case .pool(let pool): pool.enqueue(UnownedJob(job), on: self)
    }
  }

  /// The reference that an actor gives the runtime as its `unownedExecutor`.
  package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  /// Whether the calling thread is isolated to the actor.
  package func isIsolatingCurrentContext() -> Bool? {
    owner.load(ordering: .relaxed) == LaneThread.current
  }

  /// Ends the process unless the calling thread is isolated to the actor, as `SerialExecutor` requires.
  package func checkIsolated() {
    precondition(isIsolatingCurrentContext() == true, "not isolated to the actor")
  }
}
