package import Documents
import Stores

/// The body of `_find` and `_explain`.
///
/// Source: CouchDB, "POST /{db}/_find".
package struct FindRequest: Sendable {
  package private(set) var selector: Selector
  package let useIndex: UseIndex?
  /// The position to continue from; nil for the beginning.
  package let bookmark: QueryCursor?
  /// The bookmark as sent, or the text for the beginning.
  package let bookmarkText: String
  /// The most documents in the answer.
  package let limit: Int
  /// How many documents to leave out at the beginning.
  package let skip: Int
  let sort: QuerySort
  /// The fields of each document in the answer; nil for whole documents.
  package let projection: FieldProjection?
  /// Whether each document gets `_conflicts`, which the selector can also use.
  package let showsConflicts: Bool
  /// Whether the answer contains statistics about the query's cost.
  package let wantsStatistics: Bool
  /// Whether another index, or none, may be used instead of the requested one.
  let allowsFallback: Bool
  /// Options that only make sense in a cluster. They are checked and shown by `_explain` but have no effect: here an
  /// index is always up to date.
  let clusterOptions: JSONObject

  /// The most documents when the request has no limit, as in CouchDB.
  static let standardLimit = 25

  private static let names = [
    "selector", "use_index", "bookmark", "limit", "skip", "sort", "fields", "partition", "r",
    "conflicts", "stale", "update", "stable", "execution_stats", "allow_fallback",
  ]

  /// Reads a body.
  /// - Throws: 400 with CouchDB's message for the wrong option.
  package init(_ body: JSONNode) throws {
    selector = try Selector(QueryOption.required("selector", in: body, allows: Self.names))
    useIndex = try body["use_index"].flatMap { node in try UseIndex(node) }
    bookmarkText = try Self.bookmark(in: body)
    bookmark = try QueryCursor(bookmarkText)
    limit = try QueryOption.count("limit", in: body, default: Self.standardLimit)
    skip = try QueryOption.count("skip", in: body, default: 0)
    sort = try body["sort"].map { node in try QuerySort(node) } ?? .unordered
    projection = try body["fields"].flatMap { node in try FieldProjection(node) }
    showsConflicts = try QueryOption.flag("conflicts", in: body, default: false)
    wantsStatistics = try QueryOption.flag("execution_stats", in: body, default: false)
    allowsFallback = try QueryOption.flag("allow_fallback", in: body, default: true)
    clusterOptions = try Self.clusterOptions(in: body)
  }

  /// The request with the long lists of its selector sorted.
  /// - Throws: `WorkEnded` (503) when the request has ended.
  package func prepared() async throws -> FindRequest {
    var request = self
    request.selector = try await selector.prepared()
    return request
  }

  private static func bookmark(in body: JSONNode) throws -> String {
    guard let node = body["bookmark"], !node.isNull else { return QueryCursor.start }
    guard let text = node.string else { throw QueryCursor.invalid(QueryOption.shown(node)) }
    return text.isEmpty ? QueryCursor.start : text
  }

  private static func clusterOptions(in body: JSONNode) throws -> JSONObject {
    guard body["partition"]?.stringEquals("") ?? true else {
      throw ServiceError.badRequest("`partition` is not supported on this db")
    }
    let stale = body["stale"]
    let isStale = stale?.stringEquals("ok") ?? false
    guard stale == nil || isStale || stale?.bool == false else {
      throw ServiceError(.invalidStaleValue, "`stale` is \"ok\" or false")
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
