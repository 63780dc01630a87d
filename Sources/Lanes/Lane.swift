import Glibc
import Synchronization

/// A serial executor with one thread of its own, for calls that block: reads, writes and fsyncs.
///
/// A blocking call in Swift's cooperative pool, which has one thread per core, would stall every request. An actor that
/// uses a lane as its executor blocks only the actors that share the lane:
/// ```swift
/// actor Archive {
///   private let lane: Lane
///   nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }
/// }
/// ```
/// The actor must hold a strong reference to its lane, because `unownedExecutor` does not. Jobs run in the order in
/// which they came, whatever their priority. Each job is charged to the request that it belongs to. The thread starts
/// with the first job and keeps the lane alive until ``stop()``.
package final class Lane: Sendable {
  /// The name of the thread, as `ps -T` and `/proc` show it; Linux keeps its first 15 bytes.
  package let name: String

  private let queue = Monitor(Queue())

  /// Makes a lane. The thread starts with the first job.
  package init(name: String) {
    self.name = name
  }

  /// Runs all waiting jobs, then ends the thread. Returns when the thread has ended.
  ///
  /// The lane never drops a job, because the job's task would then hang. A job that comes later gets a new thread,
  /// which ends when no job is left. This method never blocks the caller's thread.
  package func stop() async {
    await withCheckedContinuation { continuation in
      let hasEnded = queue.update { queue, _ in
        queue.isStopping = true
        guard queue.hasThread else { return (true, .one) }
        queue.stopCalls.append(continuation)
        return (false, .one)
      }
      if hasEnded { continuation.resume() }
    }
  }
}

extension Lane: SerialExecutor {
  /// Adds a job to the end of the queue, and starts the thread if there is none.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let mustStart = queue.update { queue, _ in
      queue.jobs.append(Job(job: job))
      defer { queue.hasThread = true }
      return (!queue.hasThread, .one)
    }
    if mustStart { startThread() }
  }

  /// The reference that an actor gives the runtime as its `unownedExecutor`. Two lanes are the
  /// same executor only if they are the same object.
  package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  /// Whether `other` is this same lane, so that the two never run jobs at the same time.
  package func isSameExclusiveExecutionContext(other: Lane) -> Bool {
    self === other
  }

  /// Whether the calling thread is the one that runs this lane's jobs.
  package func isIsolatingCurrentContext() -> Bool? {
    queue.read { queue in
      queue.thread == UInt(pthread_self())
    }
  }

  /// Ends the process unless called on the lane's thread, as `SerialExecutor` requires. `assumeIsolated` and
  /// `preconditionIsolated` call it.
  package func checkIsolated() {
    precondition(isIsolatingCurrentContext() == true, "not on the thread of the lane \(name)")
  }
}

extension Lane {
  private struct Job: Sendable {
    let job: UnownedJob
  }

  private struct Queue: Sendable {
    var jobs: [Job] = []
    var hasThread = false
    var isStopping = false
    /// The thread that runs jobs now; nil while it is starting, and after it has ended.
    var thread: UInt?
    /// The calls of `stop()` that wait for the thread to end.
    var stopCalls: [CheckedContinuation<Void, Never>] = []
  }

  private enum Turn: Sendable {
    case run
    case end([CheckedContinuation<Void, Never>])
  }

  private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    argument in
    guard let argument else { return nil }
    let lane = Unmanaged<Lane>.fromOpaque(argument).takeRetainedValue()
    lane.work(endsWhenIdle: false)
    return nil
  }

  private func startThread() {
    if Threads.start(on: self, Self.main) { return }
    // The system can't start a thread. The jobs run on a thread of Swift's cooperative pool, which is slow but works.
    Task.detached { self.work(endsWhenIdle: true) }
  }

  /// Runs jobs until the lane is to stop, or, where `endsWhenIdle`, until no job waits.
  func work(endsWhenIdle: Bool) {
    let executor = asUnownedSerialExecutor()
    let thread = UInt(pthread_self())
    var batch: [Job] = []
    while true {
      let turn: Turn = queue.waitUntil { queue in
        queue.thread = thread
        if !queue.jobs.isEmpty {
          // Taking all jobs at once saves a lock per job; the emptied array keeps its capacity.
          swap(&queue.jobs, &batch)
          return .run
        }
        guard endsWhenIdle || queue.isStopping else { return nil }
        queue.hasThread = false
        queue.thread = nil
        defer { queue.stopCalls = [] }
        return .end(queue.stopCalls)
      }
      switch turn {
      case .run:
        for next in batch {
          next.job.runSynchronously(on: executor)
        }
        batch.removeAll(keepingCapacity: true)
      case .end(let stopCalls):
        for call in stopCalls { call.resume() }
        return
      }
    }
  }
}

/// A fixed number of lanes that many actors share. A thousand open stores then need only a few threads, and a slow
/// store delays only the stores on its lane.
package final class LaneGroup: Sendable {
  /// The usual number of lanes. It is higher than the number of cores, because a lane mostly waits for the disk, and
  /// low enough that the lanes' threads leave time to those of the cooperative pool.
  package static let defaultCount = 16

  private let lanes: [Lane]
  private let turn = Atomic<UInt64>(0)

  /// Makes `count` lanes (at least 1), named `name-0`, `name-1` and so on.
  package init(count: Int = LaneGroup.defaultCount, name: String = "lane") {
    lanes = (0..<max(count, 1)).map { Lane(name: "\(name)-\($0)") }
  }

  package var count: Int { lanes.count }

  /// The lane for `hash`: always the same lane for the same hash.
  package func lane(for hash: UInt64) -> Lane {
    lanes[Int(hash % UInt64(lanes.count))]
  }

  /// The next lane in rotation, for work that belongs to no key.
  package func next() -> Lane {
    lane(for: turn.wrappingAdd(1, ordering: .relaxed).oldValue)
  }

  /// Stops every lane after its waiting jobs have run; returns when all threads have ended.
  package func stop() async {
    for lane in lanes { await lane.stop() }
  }
}
