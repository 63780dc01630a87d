import Documents

/// What a replication has done, with the names of CouchDB's history.
package struct ReplicationStatistics: Sendable, Equatable {
  /// Revisions that the target was asked about.
  var checked = 0
  /// Revisions that the target lacked.
  var found = 0
  /// Revisions that were read from the source.
  var read = 0
  /// Revisions that the target has stored.
  var written = 0
  /// Revisions that can never be stored there.
  var failures = 0
  /// Revisions that were asked for by `_bulk_get`, and how many came.
  var bulkAttempts = 0
  var bulkRead = 0

  /// The counts with their names in a session's history and in a task.
  private static let names:
    [(count: any WritableKeyPath<Self, Int> & Sendable, history: String, task: String)] = [
      (\.checked, "missing_checked", "revisions_checked"),
      (\.found, "missing_found", "missing_revisions_found"), (\.read, "docs_read", "docs_read"),
      (\.written, "docs_written", "docs_written"),
      (\.failures, "doc_write_failures", "doc_write_failures"),
      (\.bulkRead, "bulk_get_docs", "bulk_get_docs"),
      (\.bulkAttempts, "bulk_get_attempts", "bulk_get_attempts"),
    ]

  static func + (one: Self, other: Self) -> Self {
    names.reduce(into: one) { $0[keyPath: $1.count] += other[keyPath: $1.count] }
  }

  /// Reads the counts of a session's history. A wrong one counts as 0, because a peer may have written it.
  init(_ entry: JSONObject?) {
    for (count, name, _) in Self.names {
      self[keyPath: count] = entry?[name]?.int?.boundedCount ?? 0
    }
  }

  init() {}

  /// The counts as members of a session's history.
  var history: JSONObject {
    JSONObject(Self.names.map { ($0.history, .count(self[keyPath: $0.count])) })
  }

  /// The counts as members of a task.
  var task: JSONObject { JSONObject(Self.names.map { ($0.task, .count(self[keyPath: $0.count])) }) }
}

extension JSONValue {
  static func count(_ count: Int) -> JSONValue { .number(JSONNumber(count)) }
}

extension Int {
  /// The number as a count that a peer has sent: not negative, and so small that a sum of some counts does not overflow.
  var boundedCount: Int { Swift.min(Swift.max(self, 0), Int.max >> 8) }
}
