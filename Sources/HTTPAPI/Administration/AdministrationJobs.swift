package import Documents
import HTTPTypes
import Scheduling
import Synchronization

/// Long work that the administrator has started. Only one job runs at a time, so that the disk stays usable for others.
/// The results of the last jobs can be read by id until the server stops.
package final class AdministrationJobs: Sendable {
  /// How many jobs are remembered.
  package static let maximumKept = 20
  /// How many lines about findings a job remembers; further ones are only counted.
  package static let maximumFindings = 100

  /// How many lines wait at most for a client that follows a job and does not read.
  static let maximumLines = 10_000

  /// What a client that follows a job is told, each an object in JSON.
  typealias Lines = AsyncStream<[UInt8]>

  /// The kind of work.
  package enum Kind: String, Sendable {
    case backup, verification, repair, replacement, move, catalogue
  }

  /// The state of a job.
  package enum State: String, Sendable {
    case running, done, failed
  }

  /// How work ended that did not fail.
  package struct Outcome: Sendable {
    /// One line.
    package let message: String
    /// Whether there is damage, or something is lost.
    package let isDamaged: Bool

    package init(_ message: String, isDamaged: Bool = false) {
      self.message = message
      self.isDamaged = isDamaged
    }
  }

  package struct Job: Sendable {
    /// Its id: 32 hex digits.
    package let id: String
    /// The kind of work.
    package let kind: Kind
    /// When it began.
    package let startedAt: Timestamp
    package fileprivate(set) var state = State.running
    package fileprivate(set) var endedAt: Timestamp?
    /// How much is done: stores, or bytes of a catalogue.
    package fileprivate(set) var done = 0
    /// How much there is to do; nil if that is unknown.
    package fileprivate(set) var total: Int?
    /// The result, or the reason of the failure.
    package fileprivate(set) var message = ""
    /// Whether there is damage, or something is lost.
    package fileprivate(set) var isDamaged = false
    /// The name of the problem if it failed, as in an answer.
    package fileprivate(set) var error: String?
    /// The findings, one line each.
    package fileprivate(set) var findings: [String] = []
    /// How many findings there are.
    package fileprivate(set) var findingCount = 0
  }

  /// Reports a job's progress, from any thread.
  package struct Report: Sendable {
    fileprivate let jobs: AdministrationJobs
    fileprivate let id: String
    fileprivate let lines: Lines.Continuation?

    /// Reports how much is done.
    package func progress(_ done: Int, of total: Int?) {
      jobs.change(id) { job in
        job.done = done
        job.total = total
      }
      say { writer in
        writer.member("done", done)
        if let total { writer.member("total", total) }
      }
    }

    /// Reports a finding in one line.
    package func finding(_ line: String) {
      jobs.change(id) { job in
        job.findingCount += 1
        if job.findings.count < AdministrationJobs.maximumFindings { job.findings.append(line) }
      }
      say { $0.member("finding", line) }
    }

    private func say(_ write: (inout JSONWriter) -> Void) { lines?.yield(JSONWriter.object(write)) }
  }

  private struct Kept {
    /// The jobs, the latest last.
    var jobs: [Job] = []
    /// The task of a job that continues after the answer.
    var running: Task<Void, Never>?
    /// Cancels the latest job.
    var cancel: (@Sendable () -> Void)?
    var isStopping = false
  }

  private let kept = Mutex(Kept())
  private let now: @Sendable () -> Timestamp

  /// Makes a list without jobs.
  /// - Parameter now: the clock.
  package init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

  /// Whether a job runs.
  var isBusy: Bool { kept.withLock { $0.jobs.contains { $0.state == .running } } }

  /// The remembered jobs, the latest first.
  var all: [Job] { kept.withLock { $0.jobs.reversed() } }

  /// A job; nil if it is not remembered.
  func job(_ id: String) -> Job? { kept.withLock { $0.jobs.first { $0.id.equalsBytes(of: id) } } }

  /// Starts work that continues after the answer.
  /// - Parameter lines: receives what the work reports, and its end.
  /// - Parameter work: its error becomes the reason of the failure.
  /// - Throws: ``Problem`` 409 while another job runs, 503 while the server stops.
  func start(
    _ kind: Kind, reportingTo lines: Lines.Continuation? = nil,
    _ work: @escaping Administration.Work
  ) throws -> Job {
    try begin(kind) { id, kept in
      // Detached: the work belongs to no request, because the request is answered before the work is done.
      let task = Task.detached {
        _ = await self.perform(Report(jobs: self, id: id, lines: lines), work)
        lines?.finish()
      }
      kept.running = task
      kept.cancel = { task.cancel() }
    }
  }

  /// Runs work within the calling task. The work ends when that is cancelled, as when its client closes the connection.
  /// - Returns: the finished job, and the error if it failed.
  /// - Throws: the errors of ``start(_:reportingTo:_:)``.
  package func run(
    _ kind: Kind, _ work: @escaping Administration.Work
  ) async throws -> (job: Job, failure: (any Error)?) {
    let (cancellation, continuation) = AsyncStream.makeStream(of: Never.self)
    let job = try begin(kind) { _, kept in kept.cancel = { continuation.finish() } }
    let failure = await Scheduling.Work.waiting {
      await withTaskGroup(of: (any Error)?.self) { group in
        group.addTask {
          // No account pays: a large file costs more than a request may.
          let failure = await Scheduling.Work.$current.withValue(nil) {
            await self.perform(Report(jobs: self, id: job.id, lines: nil), work)
          }
          continuation.finish()
          return failure
        }
        for await _ in cancellation {}
        group.cancelAll()
        return await group.next() ?? nil
      }
    }
    return (self.job(job.id) ?? job, failure)
  }

  /// Cancels a job, unless it has ended. It ends as soon as its work notices.
  func cancel(_ id: String) { kept.withLock { $0.jobs.last?.id == id ? $0.cancel : nil }?() }

  /// Refuses further work, cancels a job of ``start(_:reportingTo:_:)`` that is running, and waits for its end.
  package func stop() async {
    let running = kept.withLock { kept in
      kept.isStopping = true
      return kept.running
    }
    running?.cancel()
    await running?.value
  }

  /// Notes a new job.
  /// - Parameter start: notes how it is cancelled, and the task of a job that continues after the answer, so that neither
  ///   ``stop()`` nor ``cancel(_:)`` can miss it.
  private func begin(_ kind: Kind, _ start: (_ id: String, inout Kept) -> Void) throws -> Job {
    let job = Job(id: RequestRouter.requestID(), kind: kind, startedAt: now())
    try kept.withLock { kept in
      guard !kept.isStopping else {
        throw Problem(.serviceUnavailable, "unavailable", "The server is stopping")
      }
      guard !kept.jobs.contains(where: { $0.state == .running }) else { throw Problem.jobRunning }
      if kept.jobs.count >= Self.maximumKept { kept.jobs.removeFirst() }
      kept.jobs.append(job)
      kept.running = nil
      start(job.id, &kept)
    }
    return job
  }

  /// - Returns: the error if the work failed.
  private func perform(_ report: Report, _ work: Administration.Work) async -> (any Error)? {
    let outcome: Outcome
    var failure: (any Error)?
    do { outcome = try await work(report) } catch {
      outcome = Outcome(Self.message(error))
      failure = error
    }
    let (end, error) = (now(), failure.map { ErrorTable.problem(for: $0).error })
    change(report.id) { job in
      job.state = error == nil ? .done : .failed
      job.message = outcome.message
      job.isDamaged = outcome.isDamaged
      job.error = error
      job.endedAt = end
    }
    return failure
  }

  private static func message(_ error: any Error) -> String {
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

extension Problem {
  /// The problem of work that is started, or of a backup that is removed, while a job runs.
  package static let jobRunning = Problem(
    .conflict, "job_running", "Another job runs; wait for its end")
}
