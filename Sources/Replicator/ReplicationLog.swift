import Documents
import Glibc

/// A replication's checkpoint: a local document of the same id on both ends. It names the last sessions and how far each
/// has come.
///
/// Source: CouchDB, "Replication protocol: replication log"; `couch_replicator_scheduler_job`.
struct ReplicationLog: Sendable, Equatable {
  /// The version of the ids of replications whose logs these are.
  static let version = 4
  /// How many sessions a log names.
  static let sessions = 50
  /// The limits of a stored log. The longest that this server writes has 50 sessions with three sequences of 4 KiB each.
  static let limits = {
    var limits = JSONLimits(maximumBytes: 1 << 20, maximumDepth: 8)
    (limits.maximumMembers, limits.maximumValues) = (100, 10_000)
    return limits
  }()
  /// The members of a log, besides its history, and those of a session that are read.
  private static let names = [
    "session_id", "source_last_seq", "replication_id_version", "start_time", "end_time",
    "docs_read", "docs_written", "doc_write_failures",
  ]
  private static let sessionNames = [
    "session_id", "start_time", "end_time", "start_last_seq", "end_last_seq", "recorded_seq",
    "missing_checked", "missing_found", "docs_read", "docs_written", "doc_write_failures",
    "bulk_get_docs", "bulk_get_attempts",
  ]

  /// The revision of the document; nil for one that is not stored.
  var revision: String?
  /// The members without `_id` and `_rev`.
  var body = JSONObject()

  init() {}

  /// Reads a stored log. Members of another form count as absent, and further ones are left out: a peer may have stored
  /// any number of them.
  init(_ node: JSONNode) {
    revision = node["_rev"]?.sequence?.string
    body = Self.object(node, Self.names)
    guard let history = node["history"], history.kind == .array else { return }
    let sessions = history.elements.prefix(Self.sessions)
    body.append("history", .array(sessions.map { .object(Self.object($0, Self.sessionNames)) }))
  }

  private static func object(_ node: JSONNode, _ names: [String]) -> JSONObject {
    JSONObject(names.compactMap { name in node[name]?.sequence.map { (name, $0) } })
  }

  private var session: String? { body["session_id"]?.string }

  /// The sessions, the last one first.
  private var history: [JSONObject] {
    (body["history"]?.array ?? []).prefix(Self.sessions).compactMap(\.object)
  }

  /// Where a replication continues: at what both ends have recorded in the same session.
  /// - Returns: the sequence of the source, 0 without a common session, and the sessions until then.
  static func common(
    source: ReplicationLog, target: ReplicationLog
  ) -> (since: JSONValue, history: [JSONObject]) {
    if let session = source.session, let other = target.session, session.equalsBytes(of: other) {
      return (sequence(source.body["source_last_seq"]), source.history)
    }
    let known = target.history.compactMap { $0["session_id"]?.string }
    for (index, entry) in source.history.enumerated() {
      guard let session = entry["session_id"]?.string, known.contains(where: session.equalsBytes)
      else { continue }
      return (sequence(entry["recorded_seq"]), Array(source.history.dropFirst(index + 1)))
    }
    return (0, [])
  }

  /// A sequence; 0 for anything else.
  private static func sequence(_ value: JSONValue?) -> JSONValue {
    guard let value, value.string != nil || value.number != nil else { return 0 }
    return value
  }

  /// Whether a log was written by a session.
  func isOf(_ session: String) -> Bool { self.session?.equalsBytes(of: session) ?? false }
}

/// One run of a replication, as its log names it.
struct ReplicationSession: Sendable {
  /// 32 random hex digits.
  let id: String
  let began: Timestamp
  /// Where it began, and the sessions before it.
  let since: JSONValue
  let history: [JSONObject]
  /// Whether the replication is one of named documents, whose answer has further members.
  let isByDocuments: Bool

  /// The log after this session has read the source up to a sequence.
  func log(
    upTo sequence: JSONValue, _ statistics: ReplicationStatistics, at now: Timestamp
  ) -> JSONObject {
    var entry: JSONObject = [
      "session_id": .string(id), "start_time": .string(began.httpDate),
      "end_time": .string(now.httpDate), "start_last_seq": since, "end_last_seq": sequence,
      "recorded_seq": sequence,
    ]
    for (name, value) in statistics.history.members { entry.append(name, value) }
    var log: JSONObject = [
      "session_id": .string(id), "source_last_seq": sequence,
      "replication_id_version": .count(ReplicationLog.version),
    ]
    if isByDocuments {
      for name in ["start_time", "end_time", "docs_read", "docs_written", "doc_write_failures"] {
        log.append(name, entry[name] ?? .null)
      }
    }
    let entries = [entry] + history.prefix(ReplicationLog.sessions - 1)
    log.append("history", .array(entries.map { .object($0) }))
    return log
  }
}

extension Timestamp {
  /// The time as in header fields of HTTP (RFC 9110, section 5.6.7). The C locale has English names.
  var httpDate: String {
    var (second, parts) = (time_t(seconds), tm())
    gmtime_r(&second, &parts)
    var text = [UInt8](repeating: 0, count: 64)
    let count = text.withUnsafeMutableBytes { buffer in
      strftime(
        buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count,
        "%a, %d %b %Y %H:%M:%S GMT", &parts)
    }
    return String(decoding: text.prefix(count), as: UTF8.self)
  }
}
