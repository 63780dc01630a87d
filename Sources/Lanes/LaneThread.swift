import CLanes
import Glibc

/// What the threads of lanes and pools are made of, and how they keep account of their time.
enum LaneThread {
  /// Bytes of stack: the usual size of a main thread, on any libc and under any `ulimit`. It is
  /// address space, not memory, until it is used.
  static let stackSize = 8 << 20
  /// Jobs up to this many nanoseconds are charged by the clock on the wall, which costs no system call.
  private static let shortJob: Int64 = 200_000

  /// Starts a thread that runs `main` on an object.
  /// - Parameter object: kept until `main` takes it.
  /// - Returns: false when the machine has no thread to spare.
  static func start(
    on object: AnyObject,
    _ main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
  ) -> Bool {
    let argument = Unmanaged.passRetained(object)
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    // Nobody joins it: its owner learns of its end by other means.
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, stackSize)
    var thread = pthread_t()
    guard pthread_create(&thread, &attributes, main, argument.toOpaque()) == 0 else {
      argument.release()
      return false
    }
    return true
  }

  /// The body of a lane's thread. `argument` is a retained ``Lane``.
  static let lane: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    argument in
    guard let argument else { return nil }
    let lane = Unmanaged<Lane>.fromOpaque(argument).takeRetainedValue()
    clanes_name_thread(lane.name)
    lane.work(endsWhenIdle: false)
    return nil
  }

  /// Begins a job, and with it a slice.
  /// - Parameter work: what it is done for.
  /// - Parameter executor: the task's, if it is a task's job; the caller keeps it until ``endJob()``.
  static func beginJob(for work: Work?, on executor: WorkExecutor? = nil) {
    let thread = clanes_this_thread()
    let now = clanes_now()
    thread.pointee.settled = now
    thread.pointee.blocked = 0
    thread.pointee.slice_end = now + Slice.nanoseconds
    keep(work)
    thread.pointee.executor = executor.map { Unmanaged.passUnretained($0).toOpaque() }
  }

  /// Ends a job: charges it.
  static func endJob() {
    settle()
    let thread = clanes_this_thread()
    thread.pointee.slice_end = 0
    keep(nil)
    thread.pointee.executor = nil
  }

  /// Has the thread work for another request. The thread keeps it: a task that it has left may have gone on, and ended,
  /// on another thread before this one's job is over.
  static func keep(_ work: Work?) {
    let thread = clanes_this_thread()
    let former = thread.pointee.work
    thread.pointee.work = work.map { Unmanaged.passRetained($0).toOpaque() }
    if let former { Unmanaged<Work>.fromOpaque(former).release() }
  }

  /// Charges the time since the last charge to what the thread works for.
  static func settle() {
    let thread = clanes_this_thread()
    guard thread.pointee.slice_end != 0 else { return }
    let now = clanes_now()
    var time = now - thread.pointee.settled - thread.pointee.blocked
    thread.pointee.settled = now
    thread.pointee.blocked = 0
    if time > shortJob {
      // It may have been another's turn meanwhile, which the clock on the wall does not tell.
      let processor = clanes_processor_time()
      time = min(time, processor - thread.pointee.processor - thread.pointee.charged)
      thread.pointee.processor = processor
      thread.pointee.charged = 0
    } else {
      thread.pointee.charged += time
    }
    Work.current?.charge(time)
  }

  /// Runs a part of a job for another's request, who pays for it.
  static func paying<Value, Failure: Error>(
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
}
