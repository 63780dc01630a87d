import Glibc

/// The time that the calling thread has run, which stands still while others have its processor: a budget
/// measured by it means the same on a busy machine.
///
/// Source: clock_gettime(2), `CLOCK_THREAD_CPUTIME_ID`. Comparable only on one thread.
package enum ThreadTime {
  /// The time since the thread began.
  package static var now: Duration {
    var time = timespec()
    // It fails only for a clock that is not there, which Linux has had since 2.6.
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
