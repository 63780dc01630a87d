import Glibc

/// A value behind a lock, and one thread that may sleep until the value gives it something to do.
///
/// The standard library's `Mutex` has no condition to wait for; this is the POSIX pair of both.
/// Only one thread at a time may call ``waitUntil(_:)``.
///
/// Unchecked, because the compiler cannot see the lock. Proof: `value` and `isWaiting` are
/// private, and every access lies between `pthread_mutex_lock` and `pthread_mutex_unlock` of
/// `mutex` (`pthread_cond_wait` gives the lock up only while asleep); the two pointers never
/// change; and `Value` is `Sendable`, as is all that leaves.
final class Monitor<Value: Sendable>: @unchecked Sendable {
  private var value: Value
  private var isWaiting = false
  // On the heap, because the address of either must never change.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  /// Makes a monitor of `value`.
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

  /// Reads the value under the lock, waking nobody.
  func read<Result: Sendable>(_ body: (borrowing Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(value)
  }

  /// Changes the value under the lock, then wakes the waiting thread, if there is one.
  func update<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    let result = body(&value)
    // Cleared here, so that a burst of changes pays for one wake-up only.
    let mustWake = isWaiting
    isWaiting = false
    pthread_mutex_unlock(mutex)
    // After the lock, lest the woken thread runs straight into it.
    if mustWake { pthread_cond_signal(condition) }
    return result
  }

  /// Tries `attempt` under the lock, and again after each change, until it gives a result.
  func waitUntil<Result: Sendable>(_ attempt: (inout Value) -> Result?) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = attempt(&value) { return result }
      isWaiting = true
      pthread_cond_wait(condition, mutex)
      isWaiting = false
    }
  }
}

/// A value behind a lock.
///
/// The standard library's `Mutex` does the same, but the thread sanitizer does not see how a thread gets on that had to
/// wait for it, and calls what follows a race.
///
/// Unchecked, because the compiler cannot see the lock. Proof: `value` is private, and every access lies between
/// `pthread_mutex_lock` and `pthread_mutex_unlock` of `mutex`, whose address never changes; the first value is sent.
final class Locked<Value>: @unchecked Sendable {
  private var value: Value
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  /// A value that nobody else has.
  init(_ value: sending Value) {
    self.value = value
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Reads or changes the value.
  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&value)
  }
}
