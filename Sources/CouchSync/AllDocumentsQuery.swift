import Documents
package import JSON
import Lanes
import Stores

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
  ) throws {
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
  ) throws -> [AllDocumentsQuery] {
    guard let queries = body["queries"], queries.kind == .array else {
      throw ServiceError.badRequest("`queries` must be an array.")
    }
    guard queries.count <= CouchLimits.queries else {
      throw ServiceError.tooLarge("A request has at most \(CouchLimits.queries) queries")
    }
    var list: [AllDocumentsQuery] = []
    for query in queries.elements {
      guard query.kind == .object else {
        throw ServiceError.badRequest("A query must be a JSON object")
      }
      list.append(try AllDocumentsQuery(CouchParameters(), body: query, scope: scope))
    }
    return list
  }

  private static func keys(_ given: CouchParameters) throws -> JSONNode? {
    guard let keys = try given.json("keys") else { return nil }
    guard keys.kind == .array else {
      throw ServiceError.badQuery("`keys` must be an array of strings")
    }
    return keys
  }

  private mutating func readRange(_ given: CouchParameters) throws {
    start = try given.json("startkey", "start_key").map(KeyBound.init)
    end = try given.json("endkey", "end_key").map(KeyBound.init)
    if let key = try given.json("key").map(KeyBound.init) {
      (start, end, includesEnd) = (key, key, true)
    }
  }
}

extension AllDocumentsQuery {
  /// The rows' ids; nil for none.
  var range: DocumentRange? {
    var range = range(from: start, to: end)
    guard !includesEnd, case .at(let id) = end else { return range }
    if descending { range?.start = id.successor } else { range?.includesEnd = false }
    return range
  }

  /// The ids that come before the first row, in the query's direction; nil for none.
  var rangeBefore: DocumentRange? {
    guard let start, var range = range(from: nil, to: start) else { return nil }
    guard case .at(let id) = start else { return range }
    if descending { range.start = id.successor } else { range.includesEnd = false }
    return range
  }

  /// The ids from a bound to another, both included.
  private func range(from start: KeyBound?, to end: KeyBound?) -> DocumentRange? {
    let low = descending ? end : start
    let high = descending ? start : end
    if low == .last || high == .first { return nil }
    if let low, let high, low.isBehind(high) { return nil }
    var range = DocumentRange(descending: descending)
    if case .at(let id) = low { range.start = id }
    if case .at(let id) = high { range.end = id }
    return range
  }
}

extension DocumentRange {
  /// The part of the range whose ids begin with a text and go on.
  /// - Parameter behind: the least text that every id which begins so precedes.
  func among(_ prefix: String, before behind: String) -> DocumentRange {
    var range = self
    if start?.precedesBytes(of: prefix) ?? true { range.start = prefix }
    if !(end?.precedesBytes(of: behind) ?? false) {
      range.end = behind
      range.includesEnd = false
    }
    return range
  }
}

extension AllDocumentsQuery.Scope {
  /// The part of a range that may be of interest; nil for nothing.
  func part(of range: DocumentRange?) -> DocumentRange? {
    switch self {
    case .everything: range
    // No other ids have these prefixes, and `0` follows `/`.
    case .designs: range?.among("_design/", before: "_design0")
    case .locals: range?.among(LocalID.clientPrefix, before: "_local0")
    }
  }
}

extension String {
  /// The next text in the order of bytes.
  fileprivate var successor: String { self + "\0" }
}

/// A key where `_all_docs` begins or ends, in CouchDB's order of JSON values: null, truth values and
/// numbers stand before all strings, arrays and objects behind them. Strings compare by bytes, as ids do.
///
/// Source: CouchDB, "Views collation"; "GET /{db}/_all_docs".
enum KeyBound: Sendable, Equatable {
  /// Before every id.
  case first
  /// At an id.
  case at(String)
  /// Behind every id.
  case last

  /// The bound that a key makes.
  init(_ key: JSONNode) {
    switch key.kind {
    case .null, .bool, .number: self = .first
    case .string: self = .at(key.string ?? "")
    case .array, .object: self = .last
    }
  }

  /// Whether the bound stands behind another.
  func isBehind(_ other: KeyBound) -> Bool {
    switch (self, other) {
    case (.at(let text), .at(let other)): other.precedesBytes(of: text)
    case (.first, _), (_, .last): false
    case (.last, _), (_, .first): true
    }
  }
}

/// Counts the winners of a range in slices, by their ids alone; what is behind them is what is left of the range.
struct RangeCount: Sendable {
  /// Ids that are counted in one go.
  private static let idsAtOnce = 4_096
  /// Ids that are looked at at least, as far as no more winners than wanted are among them: where there are mostly
  /// tombstones, few are found in many.
  private static let fewestIDs = 256

  /// What is left of the range; nil for nothing.
  private(set) var rest: DocumentRange?
  /// How many winners there are before that.
  private(set) var count = 0
  private let limit: Int

  /// A count of a range, nil for an empty one.
  /// - Parameter limit: how many winners to count at most.
  init(_ range: DocumentRange?, limit: Int = .max) {
    rest = range
    self.limit = limit
  }

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: whether the count is done.
  mutating func read(_ view: any StoreView) throws -> Bool {
    while let range = rest, count < limit {
      let wanted = min(limit - count, Self.idsAtOnce)
      var part = try view.count(range, among: max(wanted, Self.fewestIDs))
      if part.count > wanted { part = try view.count(range, among: wanted) }
      count += part.count
      rest = part.last.map { range.behind($0.text) }
      if Slice.isOver { break }
    }
    return rest == nil || count >= limit
  }
}

/// Which databases `_all_dbs` and `_dbs_info` are asked for: `descending`, `limit`, `skip`, `key`,
/// `startkey`, `endkey` (each JSON, also with `_`), `inclusive_end` and `keys`.
///
/// Source: CouchDB, "GET /_all_dbs".
package struct DatabaseNamesQuery: Sendable {
  /// Databases that `POST _dbs_info` tells of in one request, as in CouchDB
  /// (`max_db_number_for_dbs_info_req`).
  package static let maximumKeys = 100

  private let query: AllDocumentsQuery

  /// Reads the parameters.
  /// - Throws: 400 `query_parse_error`.
  package init(_ parameters: CouchParameters) throws {
    query = try AllDocumentsQuery(parameters)
  }

  /// Those that are asked for by name, whether they are there or not; nil where a range is.
  package var keys: [String]? {
    guard query.keys != nil else { return nil }
    var (asked, names) = (AskedKeys(query), [String]())
    while !asked.prepare() {}
    while let key = asked.next() {
      if let name = key.string { names.append(name) }
    }
    return names
  }

  /// Those that are asked for, in the order asked for.
  /// - Parameter names: all of them, in byte order.
  package func chosen(from names: [String]) -> [String] {
    if let keys {
      let known = Set(names.map(DocumentID.init(stored:)))
      return keys.filter { known.contains(DocumentID(stored: $0)) }
    }
    let inOrder = query.descending ? names.reversed() : names
    return Array(
      inOrder.filter(isBetween).dropFirst(query.skip).prefix(query.limit ?? names.count))
  }

  private func isBetween(_ name: String) -> Bool {
    let place = KeyBound.at(name)
    func isBehind(_ one: KeyBound, _ other: KeyBound) -> Bool {
      query.descending ? other.isBehind(one) : one.isBehind(other)
    }
    if let start = query.start, isBehind(start, place) { return false }
    guard let end = query.end else { return true }
    if isBehind(place, end) { return false }
    return query.includesEnd || isBehind(end, place)
  }
}
