import Glibc

/// Starting threads.
enum Threads {
  /// The stack size in bytes: the usual size for a main thread, whatever libc and `ulimit` are in use. It takes only
  /// address space until it is used.
  private static let stackSize = 8 << 20

  /// Starts a thread that runs `main` with `object`.
  /// - Parameter object: retained until `main` takes it.
  /// - Returns: false when the system can't start a thread.
  static func start(
    on object: AnyObject,
    _ main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
  ) -> Bool {
    let argument = Unmanaged.passRetained(object)
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    // No thread joins it: pools note the end of their threads themselves.
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, stackSize)
    var thread = pthread_t()
    guard pthread_create(&thread, &attributes, main, argument.toOpaque()) == 0 else {
      argument.release()
      return false
    }
    return true
  }
}

/// Measures what the calls of one thread take.
struct ThreadClock {
  /// Calls of up to this many nanoseconds are measured by elapsed time, which needs no system call.
  static let short: Int64 = 200_000

  /// The thread's processor time when it was last read, and the time that was measured since then without reading it,
  /// both in nanoseconds.
  private var (processor, measured) = (SliceClock.processorTime, Int64(0))

  /// The processor time since a moment of ``SliceClock``, in nanoseconds.
  /// - Parameter excluded: what does not count of it: waits, and what others pay.
  /// - Parameter paid: the part of `excluded` that others pay, which took processor time.
  mutating func time(since begun: Int64, excluding excluded: Int64 = 0, paid: Int64 = 0) -> Int64 {
    let elapsed = SliceClock.now - begun - excluded
    guard elapsed > Self.short else {
      measured += elapsed + paid
      return elapsed
    }
    // Other threads may have used the processor meanwhile; elapsed time includes that, processor time does not.
    let now = SliceClock.processorTime
    defer { (processor, measured) = (now, 0) }
    return min(elapsed, max(0, now - processor - measured - paid))
  }
}
