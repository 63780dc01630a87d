import CLanes
import DequeModule
import Glibc
import Synchronization

/// What the pool's threads run.
extension LanePool {
  /// The main function of a thread. `argument` is a retained pool.
  static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    argument in
    guard let argument else { return nil }
    let pool = Unmanaged<LanePool>.fromOpaque(argument).takeRetainedValue()
    clanes_name_thread(pool.name)
    pool.run(endsWhenIdle: false)
    return nil
  }

  /// Records that the calling thread waits for the disk, so that another thread may compute.
  func leave() {
    start(
      locked {
        computing -= 1
        return queue.isEmpty ? nil : callWorker()
      })
  }

  /// Runs entries until the thread is to end: when the pool stops, or, where `endsWhenIdle`, when the queue is empty.
  func run(endsWhenIdle: Bool) {
    let thread = clanes_this_thread()
    thread.pointee.pool = Unmanaged.passUnretained(self).toOpaque()
    thread.pointee.processor = clanes_processor_time()
    let worker = Worker()
    while let entry = next(worker, endsWhenIdle: endsWhenIdle) { run(entry) }
    thread.pointee.pool = nil
  }

  /// The next entry to run; nil when the thread is to end.
  private func next(_ worker: Worker, endsWhenIdle: Bool) -> PoolEntry? {
    pthread_mutex_lock(mutex)
    while true {
      // More threads than allowed compute after one came back from the disk, or after a processor was reserved.
      let now = SliceClock.now
      if computing <= allowed, let entry = queue.pop(at: now) {
        lastTurn = (now, now - entry.since)
        waiting.store(queue.count, ordering: .relaxed)
        let call = queue.isEmpty ? nil : callWorker()
        pthread_mutex_unlock(mutex)
        start(call)
        return entry
      }
      computing -= 1
      if queue.isEmpty, isStopping || endsWhenIdle {
        threadCount -= 1
        let calls = threadCount == 0 ? stopCalls : []
        if threadCount == 0 { stopCalls = [] }
        // Wakes the threads that sleep, so that they end too: some found work left when the pool was stopped.
        let others = isStopping ? callAll() : []
        pthread_mutex_unlock(mutex)
        for other in others { pthread_cond_signal(other.condition) }
        for call in calls { call.resume() }
        return nil
      }
      wait(worker)
    }
  }

  /// Sleeps until this thread is needed to compute. Call it under the lock.
  private func wait(_ worker: Worker) {
    repeat {
      worker.isCalled = false
      parked.append(worker)
      while !worker.isCalled { pthread_cond_wait(worker.condition, mutex) }
    } while worker.standsBy && !isNeeded(worker)
  }

  /// Stands by while entries wait and the computing threads keep up. Call it under the lock.
  /// - Returns: true when the thread is to compute; false when no entry waits.
  private func isNeeded(_ worker: Worker) -> Bool {
    worker.isCalled = false
    defer { worker.standsBy = false }
    while true {
      let end = SliceClock.now + Self.lateness
      var time = timespec(
        tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
      while !worker.isCalled,
        pthread_cond_timedwait(worker.condition, mutex, &time) != ETIMEDOUT
      {}
      if worker.isCalled { return true }
      guard queue.isEmpty || computing < allowed && isLate else { continue }
      standby = nil
      guard !queue.isEmpty else { return false }
      computing += 1
      return true
    }
  }

  private func run(_ entry: PoolEntry) {
    switch entry.kind {
    case .task(let job, let executor):
      LaneThread.beginJob(for: entry.work, on: executor)
      job.runSynchronously(on: executor.asUnownedTaskExecutor())
      LaneThread.endJob()
    case .actor(let executor):
      run(executor)
    case .permit:
      // Such an entry waits only in the queue of a semaphore.
      break
    case .yielded(let continuation, let executor):
      let thread = clanes_this_thread()
      LaneThread.beginJob(for: entry.work, on: executor)
      thread.pointee.catches = 1
      thread.pointee.caught = nil
      continuation.resume()
      thread.pointee.catches = 0
      // Resuming the task has stored its next job here; this thread runs it at once.
      if let caught = thread.pointee.caught {
        thread.pointee.caught = nil
        unsafeBitCast(caught, to: UnownedJob.self).runSynchronously(
          on: executor.asUnownedTaskExecutor())
      }
      LaneThread.endJob()
    }
  }

  /// Runs the waiting jobs of an actor, for one slice at most and only jobs of one account. The jobs after the first
  /// find the actor's memory in the processor's cache.
  private func run(_ executor: InlineExecutor) {
    let end = SliceClock.now + Slice.nanoseconds
    var job = locked { executor.jobs.popFirst() }
    while let present = job {
      LaneThread.beginJob(for: present.work)
      executor.run(present.job)
      LaneThread.endJob()
      job = locked {
        guard let next = executor.jobs.first else {
          executor.isQueued = false
          return nil
        }
        if next.work?.account === present.work?.account, SliceClock.now < end {
          return executor.jobs.popFirst()
        }
        push(.actor(executor), next.work)
        return nil
      }
    }
  }
}
