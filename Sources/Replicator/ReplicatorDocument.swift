import Documents
import Stores

/// A document of a replicator database, as this server knows it.
///
/// Source: CouchDB, "Replicator database" and "GET /_scheduler/docs".
struct ReplicatorDocument: Sendable {
  /// What the server has noted in the document. A client that removes it begins the replication again.
  struct Note: Sendable {
    /// `completed` or `failed`, or what another replicator has written.
    let state: String
    let time: String?
    let reason: String?
    let statistics: JSONObject?
    /// When the replication began that is complete.
    let start: String?
  }

  /// Why it is not done, for what is not said in the document itself. It is tried again.
  struct Trouble: Sendable, Equatable {
    let reason: String
    /// Whether it will probably not pass by itself.
    let isLasting: Bool

    init(_ error: any Error) {
      let known = ServiceError(error)
      reason = known?.reason ?? String(reflecting: type(of: error))
      isLasting = ![.unavailable, .storage, .storageFull, .readOnly, .moved, .overloaded]
        .contains(known?.code)
    }
  }

  let id: DocumentID
  /// Nil for one that can't be read.
  let revision: RevisionID?
  let updated: Timestamp
  let source: String?
  let target: String?
  /// The id of the replication; nil before it is known, and for one that is complete or a document that is wrong.
  var job: String?
  private(set) var note: Note?
  var trouble: Trouble?

  /// A document that can't be read.
  /// - Parameter now: when that was found.
  init(unreadable id: DocumentID, at now: Timestamp) {
    (self.id, revision, updated, source, target) = (id, nil, now, nil, nil)
  }

  /// The longest text of a note that is kept, in characters, and the longest counts of one, in bytes. This server writes
  /// less. All documents are in memory, so that a long one is not kept whole.
  private static let (mostCharacters, mostStatistics) = (4_000, 32 << 10)

  /// Reads a stored document. Nothing in it need be right.
  init(_ document: Document, _ body: JSONNode) {
    (id, revision, updated) = (document.id, document.revision, document.updated)
    // As in CouchDB, one that is no database is not shown, because a password may be in it.
    func name(_ end: JSONNode?) -> String? { try? ReplicationEndpoint(end, as: "end").name }
    func text(_ name: String) -> String? {
      body[name]?.string.map { String($0.prefix(Self.mostCharacters)) }
    }
    (source, target) = (name(body["source"]), name(body["target"]))
    // These are the states of a replication that goes on, which older versions of CouchDB wrote.
    if let state = text("_replication_state"), state != "triggered", state != "error" {
      let statistics = body["_replication_stats"].flatMap {
        $0.offsets.count <= Self.mostStatistics ? $0.value.object : nil
      }
      let counts = statistics?.members.filter { $0.name != "start_time" }
      note = Note(
        state: state, time: text("_replication_state_time"),
        reason: text("_replication_state_reason"),
        statistics: counts.map { JSONObject($0.map { ($0.name, $0.value) }) },
        start: statistics?["start_time"]?.string)
    }
  }

  /// The element of `_scheduler/docs`.
  /// - Parameter job: its replication, if that is known here.
  func scheduled(in database: String, _ job: ReplicationJob?) -> JSONObject {
    // As in CouchDB, one whose replication was ended waits.
    var (state, info): (JSONValue, JSONValue) = (
      self.job == nil ? "initializing" : "pending", .null
    )
    if let note {
      state = .string(note.state)
      if let reason = note.reason {
        info = ["error": .string(reason)]
      } else {
        info = note.statistics.map { .object($0) } ?? .null
      }
    } else if let trouble {
      state = trouble.isLasting ? "failed" : "error"
      info = ["error": .string(trouble.reason)]
    } else if let job {
      (state, info) = (.string(job.state.rawValue), .object(job.shownInfo))
    }
    let hasFailed = trouble != nil || note?.state == "failed"
    let updated = note?.time ?? (job?.updatedAt ?? self.updated).rfc3339Seconds
    let start = note?.start ?? (job?.startedAt ?? self.updated).rfc3339Seconds
    return [
      "database": .string(database), "doc_id": .string(id.text),
      "id": self.job.map { .string($0) } ?? .null, "node": "nonode@nohost",
      "source": source.map { .string($0) } ?? .null, "target": target.map { .string($0) } ?? .null,
      "state": state, "info": info,
      "error_count": .count(job?.errorCount ?? (hasFailed ? 1 : 0)),
      "last_updated": .string(updated),
      "start_time": .string(start),
      "source_proxy": .null, "target_proxy": .null,
    ]
  }
}
