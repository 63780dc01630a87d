import Documents

/// Some changes of a replication, which are copied together.
struct Batch: Sendable {
  /// What became of a batch.
  struct Result: Sendable {
    let number: Int
    /// The sequence of its last change.
    let last: JSONValue
    var statistics = ReplicationStatistics()
    /// How many changes it has.
    var changes = 0
    /// How many bytes were written.
    var bytes = 0
    /// Whether an answer or a request was too large for it.
    var isSplit = false
    var duration = Duration.zero
  }

  /// How many revisions are asked for at a time: as many as a batch of documents without conflicts has.
  private static let revisionsAtOnce = 500
  /// How many revisions with attachments are copied at a time.
  private static let transfersAtOnce = 4

  private let rows: [PeerChanges.Row]
  private let last: JSONValue
  private let source: ReplicationPeer
  private let target: ReplicationPeer
  /// Whether the source is asked for several documents at once.
  private let usesBulkGet: Bool

  init(rows: [PeerChanges.Row], last: JSONValue, of replication: Replication) {
    (self.rows, self.last) = (rows, last)
    (source, target) = (replication.source, replication.target)
    usesBulkGet = replication.request.usesBulkGet
  }

  /// Copies the revisions that the target lacks.
  /// - Throws: ``ReplicationFailure``; `CancellationError`.
  func run(_ number: Int) async throws -> Result {
    let began = ContinuousClock.now
    var result = Result(number: number, last: last, changes: rows.count)
    let (missing, asked) = try await target.missing(among: rows)
    result.statistics.checked = asked
    result.statistics.found = missing.count
    var attached: [MissingRevision] = []
    for start in stride(from: 0, to: missing.count, by: Self.revisionsAtOnce) {
      let part = Array(missing[start..<min(start + Self.revisionsAtOnce, missing.count)])
      try await copy(part, &attached, &result)
    }
    try await transfer(attached, &result)
    result.duration = ContinuousClock.now - began
    return result
  }

  /// Copies documents without attachments. Those that can't be read or written together are copied by halves, and one that
  /// can't be read by `_bulk_get` is read by itself.
  private func copy(
    _ revisions: [MissingRevision], _ attached: inout [MissingRevision], _ result: inout Result
  ) async throws {
    try Task.checkCancellation()
    guard usesBulkGet else {
      attached += revisions
      return
    }
    let fetched: FetchedRevisions?
    do { fetched = try await source.bulkGet(revisions) } catch is TooLongAnswer { fetched = nil }
    guard let fetched else {
      result.isSplit = true
      guard revisions.count > 1 else {
        attached += revisions
        return
      }
      let middle = revisions.count / 2
      try await copy(Array(revisions[..<middle]), &attached, &result)
      return try await copy(Array(revisions[middle...]), &attached, &result)
    }
    result.statistics.bulkAttempts += revisions.count
    result.statistics.bulkRead += fetched.documents.count
    result.statistics.read += fetched.documents.count
    attached += fetched.attached
    try await write(fetched.documents, &result)
  }

  private func write(_ documents: [[UInt8]], _ result: inout Result) async throws {
    guard !documents.isEmpty else { return }
    let failures: Int?
    do { failures = try await target.write(documents) } catch is TooLongAnswer { failures = nil }
    if let failures {
      result.statistics.failures += failures
      result.statistics.written += documents.count - failures
      result.bytes += documents.reduce(0) { $0 + $1.count }
      return
    }
    guard documents.count > 1 else {
      result.statistics.failures += 1
      return
    }
    result.isSplit = true
    let middle = documents.count / 2
    try await write(Array(documents[..<middle]), &result)
    try await write(Array(documents[middle...]), &result)
  }

  private func transfer(_ revisions: [MissingRevision], _ result: inout Result) async throws {
    let (source, target) = (source, target)
    try await withThrowingTaskGroup(of: AttachedTransfer.Outcome.self) { group in
      for (index, revision) in revisions.enumerated() {
        if index >= Self.transfersAtOnce, let outcome = try await group.next() {
          result.note(outcome)
        }
        let transfer = AttachedTransfer(source: source, target: target, revision: revision)
        group.addTask { try await transfer.run() }
      }
      while let outcome = try await group.next() { result.note(outcome) }
    }
  }
}

extension Batch.Result {
  fileprivate mutating func note(_ outcome: AttachedTransfer.Outcome) {
    switch outcome {
    case .written(let count):
      statistics.read += 1
      statistics.written += 1
      bytes += count
    case .refused:
      statistics.read += 1
      statistics.failures += 1
    case .absent: break
    }
  }
}

/// How many changes are read at a time. Batches grow while they are quick, and shrink when one is slow or too large, so
/// that a batch of long documents fits into memory and one of short documents is worth its requests.
struct BatchSize: Sendable, Equatable {
  /// The bounds; 500 as in CouchDB.
  static let bounds = 10...500
  /// A batch that takes less is quick, one that takes more is slow. One of twice the size takes less than the slow one, and
  /// three round trips to the other side of the world are quick.
  static let quick = Duration.seconds(4)
  static let slow = Duration.seconds(10)

  private(set) var count = 100

  /// Notes how long a batch took.
  /// - Parameter isSplit: whether an answer was too large for it.
  mutating func note(_ duration: Duration, isSplit: Bool) {
    if isSplit || duration > Self.slow {
      count = max(Self.bounds.lowerBound, count / 2)
    } else if duration < Self.quick {
      count = min(Self.bounds.upperBound, count * 2)
    }
  }
}
