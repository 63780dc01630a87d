package import Documents
import HTTPTypes
import Synchronization

/// Long work that the administrator has started: one piece at a time, so that no two take the disk from people at
/// once. What became of the last ones can be looked up by id until the server stops.
package final class AdministrationJobs: Sendable {
  /// Jobs that are remembered.
  package static let maximumKept = 20
  /// Lines about findings that a job remembers; beyond these they are counted.
  package static let maximumFindings = 100

  /// What is done.
  package enum Kind: String, Sendable {
    case backup, verification, catalogue
  }

  /// How far it is.
  package enum State: String, Sendable {
    case running, done, failed
  }

  /// One piece of work.
  package struct Job: Sendable {
    /// Its id: 32 hex digits.
    package let id: String
    /// What is done.
    package let kind: Kind
    /// When it began.
    package let startedAt: Timestamp
    /// How far it is.
    package fileprivate(set) var state = State.running
    /// When it ended.
    package fileprivate(set) var endedAt: Timestamp?
    /// How much is done: stores, or bytes of a catalogue.
    package fileprivate(set) var done = 0
    /// How much there is to do; nil where that can't be known.
    package fileprivate(set) var total: Int?
    /// What it came to, or why it failed.
    package fileprivate(set) var words = ""
    /// What was found, a line each.
    package fileprivate(set) var findings: [String] = []
    /// How many findings there are.
    package fileprivate(set) var findingCount = 0
  }

  /// Takes what a job tells, from any thread.
  package struct Report: Sendable {
    fileprivate let jobs: AdministrationJobs
    fileprivate let id: String

    /// Takes how far it is.
    package func progress(_ done: Int, of total: Int?) {
      jobs.change(id) { job in
        job.done = done
        job.total = total
      }
    }

    /// Takes a line about something that was found.
    package func finding(_ line: String) {
      jobs.change(id) { job in
        job.findingCount += 1
        if job.findings.count < AdministrationJobs.maximumFindings { job.findings.append(line) }
      }
    }
  }

  private struct Kept {
    /// The last one stands last.
    var jobs: [Job] = []
    var running: Task<Void, Never>?
    var isStopping = false
  }

  private let kept = Mutex(Kept())
  private let now: @Sendable () -> Timestamp

  /// No jobs.
  /// - Parameter now: the clock.
  package init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

  /// The jobs that are remembered, the last one first.
  var all: [Job] { kept.withLock { $0.jobs.reversed() } }

  /// A job; nil for one that is not remembered.
  func job(_ id: String) -> Job? {
    kept.withLock { $0.jobs.first { $0.id.equalsBytes(of: id) } }
  }

  /// Begins work that goes on behind the answer.
  /// - Parameter work: answers what it came to; what it throws is taken for why it failed.
  /// - Throws: ``Problem`` 409 while another job runs, 503 while the server stops.
  func start(
    _ kind: Kind, _ work: @escaping @Sendable (Report) async throws -> String
  ) throws -> Job {
    let job = try begin(kind)
    // Nobody's request: whoever asked has the answer long before it is done.
    let task = Task.detached { await self.perform(job.id, work) }
    kept.withLock { $0.running = task }
    return job
  }

  /// Does work within a request, whose client may leave and so end it.
  /// - Returns: the job at its end, also a failed one.
  /// - Throws: as ``start(_:_:)``.
  func run(
    _ kind: Kind, _ work: @Sendable (Report) async throws -> String
  ) async throws -> Job {
    let job = try begin(kind)
    await perform(job.id, work)
    return self.job(job.id) ?? job
  }

  /// Refuses further work and ends what runs; returns when it has ended.
  package func stop() async {
    let running = kept.withLock { kept in
      kept.isStopping = true
      return kept.running
    }
    running?.cancel()
    await running?.value
  }

  private func begin(_ kind: Kind) throws -> Job {
    let job = Job(id: RequestRouter.requestID(), kind: kind, startedAt: now())
    try kept.withLock { kept in
      guard !kept.isStopping else {
        throw Problem(.serviceUnavailable, "unavailable", "The server is stopping")
      }
      guard !kept.jobs.contains(where: { $0.state == .running }) else {
        throw Problem(.conflict, "job_running", "Another job runs; wait for its end")
      }
      if kept.jobs.count >= Self.maximumKept { kept.jobs.removeFirst() }
      kept.jobs.append(job)
    }
    return job
  }

  private func perform(
    _ id: String, _ work: @Sendable (Report) async throws -> String
  ) async {
    let (state, words): (State, String)
    do { (state, words) = (.done, try await work(Report(jobs: self, id: id))) } catch {
      (state, words) = (.failed, Self.words(error))
    }
    let end = now()
    change(id) { job in
      job.state = state
      job.words = words
      job.endedAt = end
    }
  }

  private static func words(_ error: any Error) -> String {
    error is CancellationError
      ? "It was ended before it was done" : ErrorTable.problem(for: error).reason
  }

  private func change(_ id: String, _ change: (inout Job) -> Void) {
    kept.withLock { kept in
      guard let index = kept.jobs.lastIndex(where: { $0.id == id }),
        kept.jobs[index].state == .running
      else { return }
      change(&kept.jobs[index])
    }
  }
}
