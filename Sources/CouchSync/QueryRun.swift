import CouchQuery
import Documents
import Scheduling
import Stores

/// Builds the answer to a query from the candidates of its plan.
struct QueryRun {
  private let request: FindRequest
  private let plan: QueryPlan
  private var text = AnswerText()
  private var last: IndexEntry?
  private var skipped = 0
  private var results = 0
  /// How many candidates were examined, and for how many of them a document was read.
  private var (taken, documents) = (0, 0)
  /// The remaining cost that matching may have.
  var budget = SelectorBudget()

  /// Makes an answer without documents.
  init(_ request: FindRequest, _ plan: QueryPlan) {
    self.request = request
    self.plan = plan
    text.writer.beginObject()
    text.writer.name("docs")
    text.writer.beginArray()
  }

  var byteCount: Int { text.count }
  /// Whether the answer can contain more documents.
  var wantsMore: Bool { results < request.limit }

  /// How many positions to examine next. The first page has as many as there may be results, because most plans lead
  /// straight to them; further pages are full.
  var pageSize: Int {
    guard taken == 0 else { return QueryLimits.pageDocuments }
    let wanted = request.limit.addingReportingOverflow(request.skip)
    return wanted.overflow
      ? QueryLimits.pageDocuments : min(max(16, wanted.partialValue), QueryLimits.pageDocuments)
  }

  /// Adds the candidates that match to the answer.
  /// - Throws: 400 `selector_too_costly`; 413 when the answer is longer than ``CouchLimits/answerBytes``; 503 when the
  ///   request has ended.
  mutating func take(_ candidates: [QueryCandidate]) async throws {
    for candidate in candidates where wantsMore {
      try await Slice.giveWay()
      taken += 1
      if !candidate.isCovered { documents += 1 }
      if isPassedOver {
        last = candidate.position
        skipped += 1
        continue
      }
      let document = try candidate.parsed()
      guard try await matches(document, isCovered: candidate.isCovered) else { continue }
      last = candidate.position
      guard skipped >= request.skip else {
        skipped += 1
        continue
      }
      if let projection = request.projection {
        projection.append(document, to: &text.writer)
      } else {
        text.value(candidate.json)
      }
      results += 1
      text.flush()
      guard !text.isTooLong else {
        throw ServiceError.tooLarge("The answer is too long: ask for fewer with `limit`")
      }
    }
  }

  /// The answer.
  /// - Parameter examined: the number of positions that were examined.
  mutating func answer(examined: Int, time: Duration) -> CouchAnswer {
    let statistics = QueryStatistics(keys: examined, documents: documents, results: results)
    text.writer.endArray()
    text.writer.member("bookmark", bookmark)
    if request.wantsStatistics { text.writer.member("execution_stats", statistics.json(time)) }
    let warnings = self.warnings(statistics)
    if !warnings.isEmpty { text.writer.member("warning", warnings.joined(separator: "\n")) }
    text.writer.endObject()
    return CouchAnswer(.done, inPieces: text.finish())
  }

  /// Whether the next document is skipped whatever its content, because selector and index filter match all.
  private var isPassedOver: Bool {
    skipped < request.skip && request.selector.matchesAll
      && plan.index.definition?.filter?.matchesAll ?? true
  }

  /// Checks the document as it is now; it may have changed since it was indexed. For a covered document the index's
  /// filter is not checked again: the index contains its content from when the filter matched.
  private mutating func matches(_ document: JSONNode, isCovered: Bool) async throws -> Bool {
    guard try await request.selector.matches(document, givingWay: &budget) else { return false }
    guard !isCovered, let filter = plan.index.definition?.filter else { return true }
    return try await filter.matches(document, givingWay: &budget)
  }

  /// The `bookmark` of the answer. As in CouchDB the end has no bookmark of its own: the last bookmark leads to an
  /// empty answer, which has the same bookmark.
  private var bookmark: String {
    last.map { QueryCursor(plan.index.kind, $0).text } ?? request.bookmarkText
  }

  private func warnings(_ statistics: QueryStatistics) -> [String] {
    var warnings: [String] = []
    if let wanted = request.useIndex, !(plan.index.definition.map { wanted.names($0) } ?? false) {
      warnings.append(wanted.warning)
    }
    if case .documents = plan.index {
      warnings.append("No matching index found, create an index to optimize query time.")
    }
    if statistics.isWasteful {
      warnings.append(
        "The number of documents examined is high in proportion to the number of results returned. "
          + "Consider adding a more specific index to improve this.")
    }
    return warnings
  }
}

/// A document that may match a query, and its position in the query's order.
struct QueryCandidate: Sendable {
  /// The position: the document's id, and its key when the plan uses an index.
  let position: IndexEntry
  /// The document as in the answer, or the part of it that its index contains.
  let json: [UInt8]
  /// Whether the content comes from the index, so that the document was not read.
  var isCovered = false

  /// The parsed document.
  /// - Throws: 500 `integrity_error` for bytes that are not a document.
  func parsed() throws -> JSONNode {
    do { return try ParsedJSON(json, limits: .stored).root } catch {
      throw ServiceError(
        .integrity, "A stored document can't be read", detail: error.debugDescription)
    }
  }
}

/// The cost of a query.
///
/// Source: CouchDB, "POST /{db}/_find: execution statistics".
struct QueryStatistics: Sendable {
  /// How many positions of an index were examined.
  var keys = 0
  /// How many documents were read and matched.
  var documents = 0
  /// Documents in the answer.
  var results = 0

  /// When more documents than this are read for each one in the answer, there is a warning, as in CouchDB
  /// (`index_scan_warning_threshold`).
  static let warningRatio = 10

  /// Whether far more documents were read than the answer contains.
  var isWasteful: Bool { documents > Self.warningRatio * max(1, results) }

  /// The statistics in CouchDB's form. Quorum reads exist only in a cluster.
  func json(_ time: Duration) -> JSONValue {
    [
      "total_keys_examined": .number(JSONNumber(keys)),
      "total_docs_examined": .number(JSONNumber(documents)),
      "total_quorum_docs_examined": 0,
      "results_returned": .number(JSONNumber(results)),
      "execution_time_ms": Self.milliseconds(time),
    ]
  }

  /// Milliseconds with three decimals.
  private static func milliseconds(_ time: Duration) -> JSONValue {
    let (seconds, attoseconds) = time.components
    let microseconds = max(0, seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    let decimals = String(1_000 + microseconds % 1_000).dropFirst()
    return JSONNumber(text: "\(microseconds / 1_000).\(decimals)").map { .number($0) } ?? 0
  }
}
