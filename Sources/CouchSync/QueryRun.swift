import CouchQuery
import Documents
import JSON
import Lanes
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
  mutating func take(_ candidates: [QueryCandidate]) async throws {
    for candidate in candidates where wantsMore {
      try await Slice.giveWay()
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
        throw ServiceError.tooLarge("The answer is too long: ask for fewer with `limit`")
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
  ) async throws -> Bool {
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

/// A document that may match a query, and where it stands on the query's way.
struct QueryCandidate: Sendable {
  /// Its place: its id, and its key where the way is an index.
  let place: IndexEntry
  /// The document as it would be answered, or as far as its index tells of it.
  let json: [UInt8]
  /// Whether the index told of it, and the document was not read.
  var isCovered = false

  /// The document, read.
  /// - Throws: 500 `integrity_error` for bytes that are no document.
  func parsed() throws -> JSONNode {
    do { return try ParsedJSON(json, limits: .stored).root } catch {
      throw ServiceError(
        .integrity, "A stored document can't be read", detail: error.debugDescription)
    }
  }
}

/// A stretch of a walk, read from one state of a store until it is long enough.
struct QueryPage: Sendable {
  /// The documents that are there and live.
  private(set) var candidates: [QueryCandidate] = []
  /// Places that were looked at, those of documents that are gone included.
  private(set) var examined = 0
  /// The place that was looked at last.
  private(set) var last: IndexEntry?

  private let count: Int
  private let bytes: Int
  private let extras: DocumentExtras
  private let endsWithSlice: Bool
  private var size = 0

  /// An empty page that takes so many places and, roughly, bytes.
  init(
    count: Int, bytes: Int = QueryLimits.pageBytes, extras: DocumentExtras = DocumentExtras(),
    endsWithSlice: Bool = true
  ) {
    self.count = count
    self.bytes = bytes
    self.extras = extras
    self.endsWithSlice = endsWithSlice
  }

  /// Whether the page takes no more. A page that is read in one piece ends with its slice, but not empty.
  var isFull: Bool {
    examined >= count || size >= bytes || (endsWithSlice && examined > 0 && Slice.isOver)
  }

  /// Looks at a place.
  /// - Parameter document: what stands there; nil, a tombstone or a design document leave the place empty.
  mutating func add(
    _ place: IndexEntry, _ document: Document?, in view: any StoreView
  ) throws {
    examined += 1
    last = place
    guard let document, !document.isDeleted, !document.id.isDesign else { return }
    let json = try DocumentReader(document, in: view, extras: extras).winning()
    size += json.count
    candidates.append(QueryCandidate(place: place, json: json))
  }

  /// Takes what an index tells of a document.
  mutating func add(_ place: IndexEntry, covered json: [UInt8]) {
    examined += 1
    last = place
    size += json.count
    candidates.append(QueryCandidate(place: place, json: json, isCovered: true))
  }
}

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
