package import Documents

/// What `_all_docs` is asked for.
///
/// Source: CouchDB, "GET /{db}/_all_docs" and "GET /{db}/_design/{ddoc}/_view/{view}: query parameters".
package struct AllDocumentsQuery: Sendable {
  /// Which documents there are to it.
  package enum Scope: Sendable {
    /// All.
    case everything
    /// Design documents: `_design_docs`.
    case designs
    /// Clients' local documents, without the service's own notes: `_local_docs`. Ids have their `_local/`.
    case locals
  }

  /// Which documents there are to it.
  let scope: Scope
  /// Where the walk begins, in its direction; nil for the very end of all ids.
  private(set) var start: KeyBound?
  /// Where the walk ends, in its direction; nil for the very end of all ids.
  private(set) var end: KeyBound?
  /// Whether a document at the far end is wanted.
  private(set) var includesEnd = true
  /// Rows by key, in this order, instead of a walk over a range.
  private(set) var keys: JSONNode?
  /// Rows at most; nil for all.
  private(set) var limit: Int?
  /// Rows to leave out first.
  private(set) var skip = 0
  /// Whether the walk goes down, or the keys come last first.
  private(set) var descending = false
  /// Whether a row carries its document.
  private(set) var includesDocuments = false
  /// What comes with a document.
  private(set) var extras = DocumentExtras()
  /// Whether the answer names the last sequence.
  private(set) var includesSequence = false

  /// Parameters whose value in a query is JSON.
  private static let quoted = [
    "key", "keys", "startkey", "start_key", "endkey", "end_key",
  ]

  /// Reads the members of a `POST`'s body, and over them the parameters of the query. Beside keys a range says
  /// nothing, and one whose start is behind its end has no rows.
  /// - Throws: 400 `query_parse_error` for a malformed one.
  package init(
    _ parameters: CouchParameters, body: JSONNode? = nil, scope: Scope = .everything
  ) throws(CouchError) {
    self.scope = scope
    let given = body.map { parameters.laid(over: $0, quoted: Self.quoted) } ?? parameters
    descending = try given.flag("descending")
    limit = try given.count("limit")
    skip = try given.count("skip") ?? 0
    includesDocuments = try given.flag("include_docs")
    extras.conflicts = try given.flag("conflicts")
    includesEnd = try given.flag("inclusive_end", default: true)
    includesSequence = try given.flag("update_seq")
    keys = try Self.keys(given)
    try readRange(given)
  }

  /// Reads `queries` of a `POST` to `_all_docs/queries`: the members of each are the parameters of one.
  ///
  /// Source: CouchDB, "POST /{db}/_all_docs/queries".
  /// - Throws: 400 without an array of objects, and as the other initializer; 413 for more than
  ///   ``CouchLimits/queries``.
  package static func list(
    _ body: JSONNode, scope: Scope
  ) throws(CouchError) -> [AllDocumentsQuery] {
    guard let queries = body["queries"], queries.kind == .array else {
      throw .badRequest("`queries` must be an array.")
    }
    guard queries.count <= CouchLimits.queries else {
      throw .tooLarge("A request has at most \(CouchLimits.queries) queries")
    }
    var list: [AllDocumentsQuery] = []
    for query in queries.elements {
      guard query.kind == .object else { throw .badRequest("A query must be a JSON object") }
      list.append(try AllDocumentsQuery(CouchParameters(), body: query, scope: scope))
    }
    return list
  }

  private static func keys(_ given: CouchParameters) throws(CouchError) -> JSONNode? {
    guard let keys = try given.json("keys") else { return nil }
    guard keys.kind == .array else { throw .badQuery("`keys` must be an array of strings") }
    return keys
  }

  private mutating func readRange(_ given: CouchParameters) throws(CouchError) {
    start = try given.json("startkey", "start_key").map(KeyBound.init)
    end = try given.json("endkey", "end_key").map(KeyBound.init)
    if let key = try given.json("key").map(KeyBound.init) {
      (start, end, includesEnd) = (key, key, true)
    }
  }
}
