import CLanes
import Glibc
import Synchronization

/// The life of a pool's threads.
extension LanePool {
  /// The body of a thread. `argument` is a retained pool.
  static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    argument in
    guard let argument else { return nil }
    let pool = Unmanaged<LanePool>.fromOpaque(argument).takeRetainedValue()
    clanes_name_thread(pool.name)
    pool.run(endsWhenIdle: false)
    return nil
  }

  /// The calling thread waits for the disk: somebody else may compute.
  func leave() {
    start(
      locked {
        computing -= 1
        return queue.isEmpty ? nil : callWorker()
      })
  }

  /// A thread's life.
  func run(endsWhenIdle: Bool) {
    let thread = clanes_this_thread()
    thread.pointee.pool = Unmanaged.passUnretained(self).toOpaque()
    thread.pointee.processor = clanes_processor_time()
    let worker = Worker()
    while let entry = next(worker, endsWhenIdle: endsWhenIdle) { run(entry) }
    thread.pointee.pool = nil
  }

  /// The next entry; nil when the thread is to end.
  private func next(_ worker: Worker, endsWhenIdle: Bool) -> PoolEntry? {
    pthread_mutex_lock(mutex)
    while true {
      // Too many compute after one came back from the disk.
      if computing <= processors, let entry = queue.pop(at: SliceClock.now) {
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
        // Those that found something left to do when the pool was stopped, and went to sleep over it.
        let others = isStopping ? callAll() : []
        pthread_mutex_unlock(mutex)
        for other in others { pthread_cond_signal(other.condition) }
        for call in calls { call.resume() }
        return nil
      }
      worker.isCalled = false
      parked.append(worker)
      while !worker.isCalled { pthread_cond_wait(worker.condition, mutex) }
    }
  }

  private func run(_ entry: PoolEntry) {
    switch entry.kind {
    case .task(let job, let executor):
      LaneThread.beginJob(for: entry.work, on: executor)
      job.runSynchronously(on: executor.asUnownedTaskExecutor())
      LaneThread.endJob()
    case .place(let place):
      let job = locked { place.jobs.popFirst() }
      if let job {
        LaneThread.beginJob(for: job.work)
        place.run(job.job)
        LaneThread.endJob()
      }
      locked {
        if let next = place.jobs.first {
          push(.place(place), next.work)
        } else {
          place.isInLine = false
        }
      }
    case .turn(let continuation, let executor):
      let thread = clanes_this_thread()
      LaneThread.beginJob(for: entry.work, on: executor)
      thread.pointee.catches = 1
      thread.pointee.caught = nil
      continuation.resume()
      thread.pointee.catches = 0
      // The task that gave way stands here now, and goes on without another wait.
      if let caught = thread.pointee.caught {
        thread.pointee.caught = nil
        unsafeBitCast(caught, to: UnownedJob.self).runSynchronously(
          on: executor.asUnownedTaskExecutor())
      }
      LaneThread.endJob()
    }
  }
}
