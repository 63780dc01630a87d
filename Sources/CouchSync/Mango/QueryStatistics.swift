import Documents

/// What a query took.
///
/// Source: CouchDB, "POST /{db}/_find: execution statistics".
struct QueryStatistics: Sendable {
  /// Places of an index that were looked at.
  var keys = 0
  /// Documents that were read and matched.
  var documents = 0
  /// Documents in the answer.
  var results = 0

  /// How many documents may be read for each one in the answer without a warning, as in CouchDB
  /// (`index_scan_warning_threshold`).
  static let warningRatio = 10

  /// Whether far more documents were read than are in the answer.
  var isWasteful: Bool { documents > Self.warningRatio * max(1, results) }

  /// The statistics as CouchDB gives them. Reads by quorum are a cluster's.
  func json(_ time: Duration) -> JSONValue {
    [
      "total_keys_examined": .number(JSONNumber(keys)),
      "total_docs_examined": .number(JSONNumber(documents)),
      "total_quorum_docs_examined": 0,
      "results_returned": .number(JSONNumber(results)),
      "execution_time_ms": Self.milliseconds(time),
    ]
  }

  /// Milliseconds with three places.
  private static func milliseconds(_ time: Duration) -> JSONValue {
    let (seconds, attoseconds) = time.components
    let microseconds = max(0, seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    let places = String(1_000 + microseconds % 1_000).dropFirst()
    return JSONNumber(text: "\(microseconds / 1_000).\(places)").map { .number($0) } ?? 0
  }
}
