import CLanes
import Glibc

/// How the threads of lanes and pools start, and how they charge their time to requests.
enum LaneThread {
  /// The stack size in bytes: the usual size for a main thread, whatever libc and `ulimit` are in use. It takes only
  /// address space until it is used.
  static let stackSize = 8 << 20
  /// Jobs of up to this many nanoseconds are charged by elapsed time, which needs no system call.
  private static let shortJob: Int64 = 200_000

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
    // No thread joins it: lanes and pools note the end of their threads themselves.
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, stackSize)
    var thread = pthread_t()
    guard pthread_create(&thread, &attributes, main, argument.toOpaque()) == 0 else {
      argument.release()
      return false
    }
    return true
  }

  /// The main function of a lane's thread. `argument` is a retained ``Lane``.
  static let lane: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    argument in
    guard let argument else { return nil }
    let lane = Unmanaged<Lane>.fromOpaque(argument).takeRetainedValue()
    clanes_name_thread(lane.name)
    lane.work(endsWhenIdle: false)
    return nil
  }

  /// A number that only the calling thread has.
  ///
  /// Not `pthread_self()`: C declares that it always returns the same number. So an optimised `async` function may call
  /// it once, and use that number after a suspension, on another thread.
  static var current: UInt { UInt(bitPattern: clanes_this_thread()) }

  /// Begins a job and its first slice.
  /// - Parameter work: the request that the job belongs to.
  /// - Parameter executor: the executor of the task, for a task's job; the caller retains it until ``endJob()``.
  static func beginJob(for work: Work?, on executor: WorkExecutor? = nil) {
    let thread = clanes_this_thread()
    let now = clanes_now()
    thread.pointee.settled = now
    thread.pointee.blocked = 0
    thread.pointee.slice_end = now + Slice.nanoseconds
    keep(work)
    thread.pointee.executor = executor.map { Unmanaged.passUnretained($0).toOpaque() }
  }

  /// Ends a job and charges its time.
  static func endJob() {
    settle()
    let thread = clanes_this_thread()
    thread.pointee.slice_end = 0
    keep(nil)
    thread.pointee.executor = nil
  }

  /// Sets the request that the calling thread works for, and retains it. The task of the request may go on, and end, on
  /// another thread before this thread's job is over.
  static func keep(_ work: Work?) {
    let thread = clanes_this_thread()
    let former = thread.pointee.work
    thread.pointee.work = work.map { Unmanaged.passRetained($0).toOpaque() }
    if let former { Unmanaged<Work>.fromOpaque(former).release() }
  }

  /// Charges the time since the last charge to the request that the calling thread works for.
  static func settle() {
    let time = takeTime()
    Work.current?.charge(time)
  }

  /// The time since the last charge, in nanoseconds.
  private static func takeTime() -> Int64 {
    let thread = clanes_this_thread()
    guard thread.pointee.slice_end != 0 else { return 0 }
    let now = clanes_now()
    var time = now - thread.pointee.settled - thread.pointee.blocked
    thread.pointee.settled = now
    thread.pointee.blocked = 0
    if time > shortJob {
      // Other threads may have used the processor meanwhile; elapsed time includes that, processor time does not.
      let processor = clanes_processor_time()
      time = min(time, processor - thread.pointee.processor - thread.pointee.charged)
      thread.pointee.processor = processor
      thread.pointee.charged = 0
    } else {
      thread.pointee.charged += time
    }
    return time
  }

  /// Runs a part of a job that belongs to another request, and charges it to that request.
  static func charging<Value, Failure: Error>(
    _ work: Work?, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    settle()
    let thread = clanes_this_thread()
    let former = thread.pointee.work
    thread.pointee.work = work.map { Unmanaged.passRetained($0).toOpaque() }
    defer {
      settle()
      keep(nil)
      thread.pointee.work = former
    }
    return try body()
  }

  /// Runs a part of a job that is done for several requests, and charges each of them an equal part.
  static func sharing<Value, Failure: Error>(
    _ works: [Work?], _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    settle()
    defer {
      let time = takeTime() / Int64(max(1, works.count))
      for work in works { work?.charge(time, isSlice: false) }
    }
    return try body()
  }
}
