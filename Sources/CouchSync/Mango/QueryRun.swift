import Documents
import Stores

/// Puts a query's answer together from the documents on its way.
struct QueryRun {
  private let request: FindRequest
  private let plan: QueryPlan
  private var text = AnswerText()
  private var last: IndexEntry?
  private var skipped = 0
  private var results = 0
  /// Candidates that were taken, and those of them whose documents were read.
  private var (taken, documents) = (0, 0)
  /// What matching may still cost.
  var budget = SelectorBudget()

  /// An answer without documents.
  init(_ request: FindRequest, _ plan: QueryPlan) {
    self.request = request
    self.plan = plan
    text.writer.beginObject()
    text.writer.name("docs")
    text.writer.beginArray()
  }

  /// How many bytes the answer has.
  var byteCount: Int { text.count }
  /// Whether the answer takes further documents.
  var wantsMore: Bool { results < request.limit }

  /// How many places to look at next: as many as there may be results at first, for most ways lead
  /// straight to them, then a full page.
  var pageSize: Int {
    guard taken == 0 else { return QueryLimits.pageDocuments }
    let wanted = request.limit.addingReportingOverflow(request.skip)
    return wanted.overflow
      ? QueryLimits.pageDocuments : min(max(16, wanted.partialValue), QueryLimits.pageDocuments)
  }

  /// Takes those that match.
  /// - Throws: 400 `selector_too_costly`; 413 when the answer is longer than
  ///   ``CouchLimits/answerBytes``; 503 when nobody waits for it any more.
  mutating func take(_ candidates: [QueryCandidate]) async throws(CouchError) {
    for candidate in candidates where wantsMore {
      try await CouchError.givingWay()
      taken += 1
      if !candidate.isCovered { documents += 1 }
      if isPassedOver {
        last = candidate.place
        skipped += 1
        continue
      }
      let document = try candidate.parsed()
      guard try await matches(document, isCovered: candidate.isCovered) else { continue }
      last = candidate.place
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
      text.settle()
      guard !text.isTooLong else {
        throw .tooLarge("The answer is too long: ask for fewer with `limit`")
      }
    }
  }

  /// The answer.
  /// - Parameter examined: places that were looked at.
  mutating func answer(examined: Int, time: Duration) -> CouchAnswer {
    let statistics = QueryStatistics(keys: examined, documents: documents, results: results)
    text.writer.endArray()
    text.writer.member("bookmark", bookmark)
    if request.wantsStatistics { text.writer.member("execution_stats", statistics.json(time)) }
    let warnings = self.warnings(statistics)
    if !warnings.isEmpty { text.writer.member("warning", warnings.joined(separator: "\n")) }
    text.writer.endObject()
    return CouchAnswer(200, inPieces: text.finish())
  }

  /// Whether the next document is left out whatever it says.
  private var isPassedOver: Bool {
    skipped < request.skip && request.selector.matchesAll
      && plan.index.definition?.filter?.matchesAll ?? true
  }

  /// Checks the document as it is, which may have changed since the index took it in. What an index tells of a
  /// document is what it said when the filter let it in.
  private mutating func matches(
    _ document: JSONNode, isCovered: Bool
  ) async throws(CouchError) -> Bool {
    guard try await request.selector.matches(document, givingWay: &budget) else { return false }
    guard !isCovered, let filter = plan.index.definition?.filter else { return true }
    return try await filter.matches(document, givingWay: &budget)
  }

  /// Where to go on. As in CouchDB the end of the walk has no bookmark of its own: the last one leads to
  /// an empty answer, which leads to itself.
  private var bookmark: String {
    last.map { QueryCursor(plan.index.way, $0).text } ?? request.bookmarkText
  }

  private func warnings(_ statistics: QueryStatistics) -> [String] {
    var warnings: [String] = []
    if let wish = request.useIndex, !(plan.index.definition.map { wish.names($0) } ?? false) {
      warnings.append(wish.warning)
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
