import Glibc

/// A value behind a lock, and threads that may sleep until the value has work for them.
///
/// The standard library's `Mutex` has no condition variable; this is the POSIX mutex with a condition variable.
///
/// Unchecked, because the compiler cannot see the lock. Proof: `value` and `waiting` are private, and every access
/// lies between `pthread_mutex_lock` and `pthread_mutex_unlock` of `mutex` (`pthread_cond_wait` releases the lock only
/// while the thread sleeps); the two pointers never change; `Value` is `Sendable`, and so are all results.
final class Monitor<Value: Sendable>: @unchecked Sendable {
  private var value: Value
  /// How many threads sleep.
  private var waiting = 0
  // On the heap, because their addresses must never change.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init(_ value: Value) {
    self.value = value
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    condition.initialize(to: pthread_cond_t())
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    condition.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Reads the value under the lock and wakes no thread.
  func read<Result: Sendable>(_ body: (borrowing Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(value)
  }

  /// Whom a change wakes of the threads that sleep.
  enum Wake { case none, one, all }

  /// Changes the value under the lock, then wakes threads.
  /// - Parameter body: gets the value and how many threads sleep.
  func update<Result: Sendable>(_ body: (inout Value, Int) -> (Result, Wake)) -> Result {
    pthread_mutex_lock(mutex)
    let (result, wake) = body(&value, waiting)
    pthread_mutex_unlock(mutex)
    // After the unlock; otherwise the woken thread would wait for the lock at once.
    switch wake {
    case .none: break
    case .one: pthread_cond_signal(condition)
    case .all: pthread_cond_broadcast(condition)
    }
    return result
  }

  /// Calls `attempt` under the lock, and again after each wake-up, until it returns a result.
  func waitUntil<Result: Sendable>(_ attempt: (inout Value) -> Result?) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = attempt(&value) { return result }
      waiting += 1
      pthread_cond_wait(condition, mutex)
      waiting -= 1
    }
  }
}
