import DequeModule
import Glibc
import Synchronization

/// One actor's place on a lane or in a pool: its jobs run on the lane's thread, or on whichever of the pool's is free,
/// one at a time, and while none of them runs another thread may step in for a moment and be isolated to the actor
/// just as well.
///
/// ```swift
/// actor Archive {
///   private let place: InlineExecutor
///   nonisolated var unownedExecutor: UnownedSerialExecutor { place.asUnownedSerialExecutor() }
///   nonisolated func size() -> Int? { place.stepIn { assumeIsolated { $0.bytes } } }
/// }
/// ```
/// The actor must keep its place, as `unownedExecutor` does not.
///
/// Unchecked, because the compiler cannot see the lock. Proof: the pointer never changes, what it points to is
/// used through pthread's calls alone, `jobs` and `isInLine` are touched under the pool's lock only, and all else is
/// constant or atomic.
package final class InlineExecutor: @unchecked Sendable {
  /// How often ``stepIn(_:)`` tries again: some microseconds, which another short read takes. A commit takes
  /// longer, and is not waited for.
  private static let attempts = 200

  /// A job and what it is done for.
  struct Job {
    let job: UnownedJob
    let work: Work?
  }

  private enum Home {
    case lane(Lane)
    case pool(LanePool)
  }

  private let home: Home
  /// What waits for a thread of the pool, in order.
  var jobs = Deque<Job>()
  /// Whether the pool knows of it, or one of its threads is in.
  var isInLine = false
  // On the heap, because its address must never change.
  private let door = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  /// The thread that is in; 0 for none.
  private let inside = Atomic<UInt>(0)
  /// Whether one of its jobs runs or waits for the door.
  private let isBusy = Atomic<Bool>(false)

  /// A place on a lane.
  package convenience init(_ lane: Lane) { self.init(.lane(lane)) }

  /// A place in a pool.
  package convenience init(_ pool: LanePool) { self.init(.pool(pool)) }

  private init(_ home: Home) {
    self.home = home
    door.initialize(to: pthread_mutex_t())
    pthread_mutex_init(door, nil)
  }

  deinit {
    pthread_mutex_destroy(door)
    door.deallocate()
  }

  /// Runs `body` on the calling thread, isolated to this place's actor, unless the actor is at work.
  ///
  /// The actor's jobs wait meanwhile, so `body` takes microseconds and blocks on nothing.
  /// - Returns: nil when the actor is at work: `body` has not run.
  package func stepIn<Value>(_ body: () -> Value) -> Value? {
    for _ in 0..<Self.attempts {
      // Jobs that wait go first, lest readers keep a writer out.
      guard !isBusy.load(ordering: .relaxed) else { return nil }
      guard pthread_mutex_trylock(door) == 0 else { continue }
      inside.store(UInt(pthread_self()), ordering: .relaxed)
      defer {
        inside.store(0, ordering: .relaxed)
        pthread_mutex_unlock(door)
      }
      return body()
    }
    return nil
  }

  /// Runs one of the actor's jobs, on the thread that is for it.
  func run(_ job: UnownedJob) {
    isBusy.store(true, ordering: .relaxed)
    pthread_mutex_lock(door)
    inside.store(UInt(pthread_self()), ordering: .relaxed)
    job.runSynchronously(on: asUnownedSerialExecutor())
    inside.store(0, ordering: .relaxed)
    isBusy.store(false, ordering: .relaxed)
    pthread_mutex_unlock(door)
  }
}

extension InlineExecutor: SerialExecutor {
  /// Adds a job to the end of the line.
  package func enqueue(_ job: consuming ExecutorJob) {
    switch home {
    case .lane(let lane): lane.enqueue(UnownedJob(job), at: self)
    case .pool(let pool): pool.enqueue(UnownedJob(job), at: self)
    }
  }

  /// The reference that an actor gives the runtime as its `unownedExecutor`.
  package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  /// Whether the calling thread is in.
  package func isIsolatingCurrentContext() -> Bool? {
    inside.load(ordering: .relaxed) == UInt(pthread_self())
  }

  /// Ends the process unless the calling thread is in, as `SerialExecutor` demands of it.
  package func checkIsolated() {
    precondition(isIsolatingCurrentContext() == true, "not in the actor's place")
  }
}
