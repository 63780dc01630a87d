import Dispatch
import Synchronization

/// Runs tasks one after the other, and counts how often they are lined up for a thread.
package final class CountingExecutor: TaskExecutor {
  private let jobs = Atomic(0)
  private let queue = DispatchQueue(label: "counting")

  package init() {}

  /// How often tasks were lined up.
  package var count: Int { jobs.load(ordering: .relaxed) }

  package func enqueue(_ job: consuming ExecutorJob) {
    jobs.add(1, ordering: .relaxed)
    let job = UnownedJob(job)
    queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
