package import Documents
import Stores

/// What `_find` and `_explain` are asked for.
///
/// Source: CouchDB, "POST /{db}/_find".
package struct FindRequest: Sendable {
  /// Which documents.
  private(set) var selector: Selector
  /// The index that is wished for.
  let useIndex: UseIndex?
  /// Where to go on; nil from the beginning.
  let bookmark: QueryCursor?
  /// The bookmark as it came, or what stands for the beginning.
  let bookmarkText: String
  /// Documents at most.
  let limit: Int
  /// Documents to leave out first.
  let skip: Int
  /// In which order.
  let sort: QuerySort
  /// Which fields of each document; nil for whole documents.
  let projection: FieldProjection?
  /// What comes with each document, and can be selected by.
  let extras: DocumentExtras
  /// Whether the answer tells what it took.
  let wantsStatistics: Bool
  /// Whether another index than the one wished for, or none, will do.
  let allowsFallback: Bool
  /// Options that ask for something that only a cluster has; they are checked, shown by `_explain`, and
  /// change nothing: an index is always up to date here.
  let clusterOptions: JSONObject

  /// Documents where no limit is given, as in CouchDB.
  static let standardLimit = 25

  private static let names = [
    "selector", "use_index", "bookmark", "limit", "skip", "sort", "fields", "partition", "r",
    "conflicts", "stale", "update", "stable", "execution_stats", "allow_fallback",
  ]

  /// Reads a body.
  /// - Throws: 400 with CouchDB's words for the option that is wrong.
  package init(_ body: JSONNode) throws(CouchError) {
    try QueryOption.check(body, allows: Self.names)
    selector = try QueryOption.selector(QueryOption.required("selector", in: body))
    useIndex = try body["use_index"].flatMap { node throws(CouchError) in try UseIndex(node) }
    bookmarkText = try Self.bookmark(in: body)
    bookmark = try QueryCursor(bookmarkText)
    limit = try QueryOption.count("limit", in: body, default: Self.standardLimit)
    skip = try QueryOption.count("skip", in: body, default: 0)
    sort =
      try body["sort"].map { node throws(CouchError) in try QuerySort(node) } ?? .unordered
    projection = try body["fields"].flatMap { node throws(CouchError) in
      try FieldProjection(node)
    }
    var extras = DocumentExtras()
    extras.conflicts = try QueryOption.flag("conflicts", in: body, default: false)
    self.extras = extras
    wantsStatistics = try QueryOption.flag("execution_stats", in: body, default: false)
    allowsFallback = try QueryOption.flag("allow_fallback", in: body, default: true)
    clusterOptions = try Self.clusterOptions(in: body)
  }

  /// The same with its selector's long lists in order.
  /// - Throws: 503 when nobody waits for the answer any more.
  func prepared() async throws(CouchError) -> FindRequest {
    var request = self
    request.selector = try await selector.prepared()
    return request
  }

  private static func bookmark(in body: JSONNode) throws(CouchError) -> String {
    guard let node = body["bookmark"], !node.isNull else { return QueryCursor.start }
    guard let text = node.string else {
      throw QueryCursor.invalid(QueryOption.shown(node))
    }
    return text.isEmpty ? QueryCursor.start : text
  }

  private static func clusterOptions(in body: JSONNode) throws(CouchError) -> JSONObject {
    guard body["partition"]?.stringEquals("") ?? true else {
      throw .badRequest("`partition` is not supported on this db")
    }
    let stale = body["stale"]
    let isStale = stale?.stringEquals("ok") ?? false
    guard stale == nil || isStale || stale?.bool == false else {
      throw CouchError(400, "invalid_ok_or_false_value", "`stale` is \"ok\" or false")
    }
    let quorum = try QueryOption.count("r", in: body, default: 1, least: 1)
    return [
      "r": .number(JSONNumber(quorum)),
      "stale": isStale ? "ok" : false,
      "update": .bool(try QueryOption.flag("update", in: body, default: true)),
      "stable": .bool(try QueryOption.flag("stable", in: body, default: false)),
    ]
  }
}
