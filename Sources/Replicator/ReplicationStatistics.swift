import JSON

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

  static func + (one: Self, other: Self) -> Self {
    var sum = one
    sum.checked += other.checked
    sum.found += other.found
    sum.read += other.read
    sum.written += other.written
    sum.failures += other.failures
    sum.bulkAttempts += other.bulkAttempts
    sum.bulkRead += other.bulkRead
    return sum
  }

  /// Reads the counts of a session's history. A wrong one counts as 0, because a peer may have written it.
  init(_ entry: JSONObject?) {
    func count(_ name: String) -> Int {
      entry?[name]?.int?.boundedCount ?? 0
    }
    checked = count("missing_checked")
    found = count("missing_found")
    read = count("docs_read")
    written = count("docs_written")
    failures = count("doc_write_failures")
    bulkAttempts = count("bulk_get_attempts")
    bulkRead = count("bulk_get_docs")
  }

  init() {}

  /// The counts as members of a session's history.
  var history: JSONObject {
    [
      "missing_checked": .count(checked), "missing_found": .count(found), "docs_read": .count(read),
      "docs_written": .count(written), "doc_write_failures": .count(failures),
      "bulk_get_docs": .count(bulkRead), "bulk_get_attempts": .count(bulkAttempts),
    ]
  }

  /// The counts as members of a task.
  var task: JSONObject {
    [
      "revisions_checked": .count(checked), "missing_revisions_found": .count(found),
      "docs_read": .count(read), "docs_written": .count(written),
      "doc_write_failures": .count(failures), "bulk_get_docs": .count(bulkRead),
      "bulk_get_attempts": .count(bulkAttempts),
    ]
  }
}

extension JSONValue {
  static func count(_ count: Int) -> JSONValue { .number(JSONNumber(count)) }
}

extension Int {
  /// The number as a count that a peer has sent: not negative, and so small that a sum of some counts does not overflow.
  var boundedCount: Int { Swift.min(Swift.max(self, 0), Int.max >> 8) }
}
