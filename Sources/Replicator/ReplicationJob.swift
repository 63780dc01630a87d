package import Documents
import Glibc

/// One replication, as the administrator sees it.
///
/// Source: CouchDB, "GET /_active_tasks" and "GET /_scheduler/jobs".
package struct ReplicationJob: Sendable {
  /// How many events of a job are kept, as in CouchDB (`max_history`).
  static let events = 20
  /// How much of the reason of an event is kept, in bytes.
  private static let reasonBytes = 1_000

  /// How long one runs until its failures are forgotten that copies nothing, as in CouchDB (`health_threshold`).
  private static let healthy = Duration.seconds(120)

  /// The document that describes a replication.
  struct Reference: Sendable, Equatable {
    let database: String
    let id: String
  }

  /// What it does now, with CouchDB's words.
  enum State: String, Sendable {
    /// It waits until one of those that run stops.
    case pending
    case running
    /// It waits after a failure.
    case crashing
  }

  /// Its id.
  package let id: String
  /// The id of its checkpoints.
  let base: String
  /// Tells those apart that have the same id one after the other.
  let number: Int
  /// The document that describes it; nil for one that a request has begun.
  let document: Reference?
  let request: ReplicationRequest
  let startedAt: Timestamp
  let task: Task<ReplicationJobs.Outcome, Never>
  private(set) var progress = Replication.Progress()
  /// Whether the progress is of the present run.
  private(set) var hasProgress = false
  private(set) var updatedAt: Timestamp
  private var isRunning = false
  /// How often it has failed since it last copied anything.
  private(set) var errorCount = 0
  /// The last failure, until it has run again for a while.
  private var failure: ReplicationFailure?
  private var history: [(time: Timestamp, type: String, reason: String?)] = []

  init(
    id: String, base: String, number: Int, _ request: ReplicationRequest, of document: Reference?,
    at now: Timestamp, _ task: Task<ReplicationJobs.Outcome, Never>
  ) {
    (self.document, self.base, self.number) = (document, base, number)
    (self.id, self.request, startedAt, updatedAt, self.task) = (id, request, now, now, task)
    add("added", nil, now)
  }

  private mutating func add(_ type: String, _ reason: String?, _ now: Timestamp) {
    history.insert((now, type, reason?.beginning(Self.reasonBytes)), at: 0)
    if history.count > Self.events { history.removeLast() }
  }

  mutating func start(at now: Timestamp) {
    (isRunning, hasProgress) = (true, false)
    add("started", nil, now)
  }

  /// Notes that it makes room for another one.
  mutating func stop(at now: Timestamp) {
    isRunning = false
    add("stopped", nil, now)
  }

  mutating func crash(_ failure: ReplicationFailure, at now: Timestamp) {
    (isRunning, self.failure, updatedAt) = (false, failure, now)
    errorCount += 1
    add("crashed", "\(failure.error): \(failure.reason)", now)
  }

  mutating func note(_ progress: Replication.Progress, at now: Timestamp) {
    (self.progress, updatedAt, hasProgress, failure) = (progress, now, true, nil)
    if progress.changes > 0 || ContinuousClock.now - progress.began > Self.healthy {
      errorCount = 0
    }
  }

  var state: State { isRunning ? .running : failure == nil ? .pending : .crashing }

  /// The element of `_active_tasks`; nil while it waits after a failure.
  package var activeTask: JSONObject? {
    guard isRunning else { return nil }
    var task: JSONObject = [
      "type": "replication", "replication_id": .string(id), "node": "nonode@nohost",
      "pid": Self.process, "process_status": "waiting", "user": user,
      "database": database, "doc_id": documentID, "source": .string(request.source.name),
      "target": .string(request.target.name), "continuous": .bool(request.isContinuous),
      "started_on": .count(Int(startedAt.seconds)), "updated_on": .count(Int(updatedAt.seconds)),
      "checkpoint_interval": .count(Int(request.checkpointInterval.components.seconds * 1_000)),
    ]
    for (name, value) in info.members { task.append(name, value) }
    return task
  }

  /// The process that runs it: the server's own.
  private static let process = JSONValue.string(String(getpid()))

  private var user: JSONValue { request.user.map { .string($0) } ?? .null }
  private var database: JSONValue { document.map { .string($0.database) } ?? .null }
  private var documentID: JSONValue { document.map { .string($0.id) } ?? .null }

  /// The counts, or the last failure.
  var shownInfo: JSONObject {
    guard let failure else { return info }
    return ["error": .string("\(failure.error): \(failure.reason)")]
  }

  /// The counts.
  var info: JSONObject {
    var info: JSONObject = [
      "source_seq": .string(progress.highest.sequenceText),
      "through_seq": .string(progress.through.sequenceText),
      "checkpointed_source_seq": .string(progress.committed.sequenceText),
      "changes_pending": progress.pending.map { .count($0) } ?? .null,
    ]
    for (name, value) in progress.statistics.task.members { info.append(name, value) }
    return info
  }

  /// How far it has come, for the person whose it is: changes that are done with and in all, bytes that were written.
  var plainProgress: JSONObject {
    var plain: JSONObject = [
      "state": .string(state.rawValue), "updated": .string(updatedAt.rfc3339),
    ]
    for (name, value) in plainCounts.members { plain.append(name, value) }
    let seconds = (ContinuousClock.now - progress.began) / .seconds(1)
    if isRunning, hasProgress, progress.pending != 0 {
      plain.append("bytesPerSecond", .count(Int(Double(progress.bytes) / max(seconds, 0.01))))
    }
    if let failure {
      let text = "\(failure.error): \(failure.reason)"
      plain.append("error", .string(ReplicationFailure.plainWords(text)))
      plain.append("reason", .string(text))
    }
    return plain
  }

  var plainCounts: JSONObject {
    guard hasProgress else { return [:] }
    var counts: JSONObject = [
      "done": .count(progress.changes), "refused": .count(progress.statistics.failures),
      "bytes": .count(progress.bytes),
    ]
    if let pending = progress.pending { counts.append("total", .count(progress.changes + pending)) }
    return counts
  }

  /// The element of `_scheduler/jobs`.
  package var scheduled: JSONObject {
    let events = history.map { event -> JSONValue in
      var object: JSONObject = [
        "timestamp": .string(event.time.rfc3339Seconds), "type": .string(event.type),
      ]
      if let reason = event.reason { object.append("reason", .string(reason)) }
      return .object(object)
    }
    return [
      "id": .string(id), "pid": isRunning ? Self.process : .null,
      "source": .string(request.source.name),
      "target": .string(request.target.name), "database": database, "user": user,
      "doc_id": documentID, "info": .object(shownInfo),
      "history": .array(events), "node": "nonode@nohost",
      "start_time": .string(startedAt.rfc3339Seconds),
    ]
  }
}
