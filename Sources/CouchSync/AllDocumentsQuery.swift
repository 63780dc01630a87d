package import Documents
import Scheduling
import Stores

/// The parameters of `_all_docs`, `_design_docs` or `_local_docs`.
///
/// Source: CouchDB, "GET /{db}/_all_docs" and "GET /{db}/_design/{ddoc}/_view/{view}: query parameters".
package struct AllDocumentsQuery: Sendable {
  package enum Scope: Sendable {
    /// All documents: `_all_docs`.
    case everything
    /// Design documents: `_design_docs`.
    case designs
    /// The clients' local documents, without the service's own: `_local_docs`. Their ids include `_local/`.
    case locals
  }

  let scope: Scope
  /// The key where the range begins, in its direction; nil for the first of all ids.
  private(set) var start: KeyBound?
  /// The key where the range ends, in its direction; nil for the last of all ids.
  private(set) var end: KeyBound?
  private(set) var includesEnd = true
  /// The keys of the rows, in this order, instead of a range.
  private(set) var keys: JSONNode?
  /// The most rows; nil for all.
  private(set) var limit: Int?
  /// The number of rows to leave out at the beginning.
  private(set) var skip = 0
  /// Whether the range is descending, or the keys are read from the last to the first.
  private(set) var descending = false
  private(set) var includesDocuments = false
  private(set) var extras = DocumentExtras()
  /// Whether the answer contains the last sequence.
  private(set) var includesSequence = false

  /// Reads the members of a `POST` body and the parameters of the query, which take precedence. A single key makes the
  /// range irrelevant. A range whose start comes after its end has no rows.
  /// - Throws: 400 `query_parse_error` for a malformed parameter, and for several keys together with a range (CouchDB,
  ///   `couch_mrview_util:validate_args`).
  package init(
    _ parameters: CouchParameters, body: JSONNode? = nil, scope: Scope = .everything
  ) throws {
    self.scope = scope
    let given = body.map { parameters.laid(over: $0) } ?? parameters
    descending = try given.flag("descending")
    limit = try given.count("limit")
    skip = try given.count("skip") ?? 0
    includesDocuments = try given.flag("include_docs")
    extras.conflicts = try given.flag("conflicts")
    if try given.flag("attachments") { extras.attachments = .all }
    includesEnd = try given.flag("inclusive_end", default: true)
    includesSequence = try given.flag("update_seq")
    keys = try Self.keys(given)
    try readRange(given)
    guard (keys?.count ?? 0) < 2 || (start == nil && end == nil) else {
      throw ServiceError.badQuery("`keys` is incompatible with `key`, `start_key` and `end_key`")
    }
  }

  /// The query of one element of `queries`. There CouchDB takes a list of one key for a `key`, so that an absent document
  /// has no row.
  private init(element: JSONNode, scope: Scope) throws {
    try self.init(CouchParameters(), body: element, scope: scope)
    guard let keys, keys.count == 1 else { return }
    var elements = keys.elements
    guard let bound = elements.next().map(KeyBound.init) else { return }
    (self.keys, start, end, includesEnd) = (nil, bound, bound, true)
  }

  /// Reads `queries` of a `POST` to `_all_docs/queries`, or to that of design or local documents: each element contains
  /// the parameters of one query.
  ///
  /// Source: CouchDB, "POST /{db}/_all_docs/queries".
  /// - Throws: 400 when there is no array of objects; 413 for more than ``CouchLimits/queries``; the errors of the
  ///   other initializer.
  package static func list(_ body: JSONNode, scope: Scope) throws -> [AllDocumentsQuery] {
    guard let queries = body["queries"] else {
      throw ServiceError.badRequest("POST body must include `queries` parameter.")
    }
    guard queries.kind == .array else {
      throw ServiceError.badRequest("`queries` member must be an array.")
    }
    guard queries.count <= CouchLimits.queries else {
      throw ServiceError.tooLarge("A request has at most \(CouchLimits.queries) queries")
    }
    return try queries.elements.map { query in
      guard query.kind == .object else {
        throw ServiceError.badRequest("A query must be a JSON object")
      }
      return try AllDocumentsQuery(element: query, scope: scope)
    }
  }

  private static func keys(_ given: CouchParameters) throws -> JSONNode? {
    guard let keys = try given.json("keys") else { return nil }
    guard keys.kind == .array else {
      let place = given.isInQuery("keys") ? "parameter" : "body member"
      throw ServiceError.badRequest("`keys` \(place) must be an array.")
    }
    return keys
  }

  private mutating func readRange(_ given: CouchParameters) throws {
    start = try given.json("startkey", "start_key").map(KeyBound.init)
    end = try given.json("endkey", "end_key").map(KeyBound.init)
    if let key = try given.json("key").map(KeyBound.init) {
      (start, end, includesEnd) = (key, key, true)
    }
    guard keys == nil else { return }
    start = start ?? Self.id(given, "startkey_docid", "start_key_doc_id")
    end = end ?? Self.id(given, "endkey_docid", "end_key_doc_id")
  }

  /// The id that a view's rows with equal keys begin or end at. Here ids are the keys, so it counts where there is no key
  /// (CouchDB, `couch_mrview_util:all_docs_key_opts`).
  private static func id(_ given: CouchParameters, _ names: String...) -> KeyBound? {
    names.lazy.compactMap { given[$0] }.first.map { .at($0) }
  }
}

extension AllDocumentsQuery {
  /// The range of the rows' ids; nil for none.
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

  /// The ids between two bounds, both included.
  private func range(from start: KeyBound?, to end: KeyBound?) -> DocumentRange? {
    let low = descending ? end : start
    let high = descending ? start : end
    if high == .first { return nil }
    if let low, let high, low.follows(high) { return nil }
    var range = DocumentRange(descending: descending)
    if case .at(let id) = low { range.start = id }
    if case .at(let id) = high { range.end = id }
    return range
  }
}

extension DocumentRange {
  /// The part of the range whose ids begin with `prefix`.
  /// - Parameter behind: the least text that comes after all ids with this prefix.
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
  /// What its ids, and no others, begin with; nil for any.
  private var prefix: String? {
    switch self {
    case .everything: nil
    case .designs: "_design/"
    case .locals: LocalID.clientPrefix
    }
  }

  /// The part of a range that belongs to the scope; nil for none.
  func part(of range: DocumentRange?) -> DocumentRange? {
    guard let prefix else { return range }
    // `0` is the byte after `/`.
    return range?.among(prefix, before: prefix.dropLast() + "0")
  }

  /// Whether a requested key has a row, if only `not_found`. As in CouchDB an id of another kind has none.
  func hasRow(for key: JSONNode) -> Bool {
    guard let prefix else { return true }
    return key.string?.utf8.starts(with: prefix.utf8) ?? false
  }
}

extension String {
  /// The next text in the order of bytes.
  fileprivate var successor: String { self + "\0" }
}

/// A key at which `_all_docs` begins or ends. Ids are compared by bytes, and every key that is no string comes before all
/// ids, arrays and objects too: CouchDB compares these keys as Erlang's terms, not in the order of a view.
///
/// Source: CouchDB, `couch_bt_engine:fold_docs`.
enum KeyBound: Sendable, Equatable {
  /// Before every id.
  case first
  /// At an id.
  case at(String)

  init(_ key: JSONNode) { self = key.string.map { .at($0) } ?? .first }

  /// Whether the bound comes after another.
  func follows(_ other: KeyBound) -> Bool {
    switch (self, other) {
    case (.at(let text), .at(let other)): other.precedesBytes(of: text)
    case (.first, _): false
    case (.at, .first): true
    }
  }
}

/// Counts the winners of a range in slices, by ids only. What follows the counted ids is the rest of the range.
struct RangeCount: Sendable {
  /// How many ids are counted at once.
  private static let idsAtOnce = 4_096
  /// How many ids are examined at least, unless they contain more winners than wanted. In a range that consists mostly
  /// of tombstones, many ids contain few winners.
  private static let fewestIDs = 256

  /// The rest of the range; nil when nothing is left.
  private(set) var rest: DocumentRange?
  /// The number of winners before the rest.
  private(set) var count = 0
  private let limit: Int

  /// Makes a count of a range; nil for an empty range.
  /// - Parameter limit: how many winners to count at most.
  init(_ range: DocumentRange?, limit: Int = .max) {
    rest = range
    self.limit = limit
  }

  /// Continues with a snapshot of the store until the slice is over.
  /// - Returns: whether the count is complete.
  mutating func read(_ view: any StoreView) throws -> Bool {
    while let range = rest, count < limit {
      let wanted = min(limit - count, Self.idsAtOnce)
      var part = try view.count(range, among: max(wanted, Self.fewestIDs))
      if part.count > wanted { part = try view.count(range, among: wanted) }
      count += part.count
      rest = part.last.map { range.behind($0.text) }
      if view.slice.isOver { break }
    }
    return rest == nil || count >= limit
  }
}

/// The parameters of `_all_dbs` and `_dbs_info`: `descending`, `limit`, `skip`, `key`, `startkey`, `endkey` (JSON
/// values; also `start_key` and `end_key`), `inclusive_end` and `keys`.
///
/// Source: CouchDB, "GET /_all_dbs".
package struct DatabaseNamesQuery: Sendable {
  /// The most databases in one `POST /_dbs_info`, as in CouchDB (`max_db_number_for_dbs_info_req`).
  package static let maximumKeys = 100

  private let query: AllDocumentsQuery

  /// Reads the parameters.
  /// - Throws: 400 `query_parse_error`.
  package init(_ parameters: CouchParameters) throws { query = try AllDocumentsQuery(parameters) }

  /// The requested names, whether such databases exist or not; nil when a range is requested.
  package var keys: [String]? {
    guard query.keys != nil else { return nil }
    var (asked, names) = (AskedKeys(query), [String]())
    _ = asked.prepare(within: .endless)
    while let key = asked.next() {
      if let name = key.string { names.append(name) }
    }
    return names
  }

  /// The requested databases, in the requested order.
  /// - Parameter names: all databases, in byte order.
  package func chosen(from names: [String]) -> [String] {
    if let keys {
      let known = Set(names.map(DocumentID.init(stored:)))
      return keys.filter { known.contains(DocumentID(stored: $0)) }
    }
    let inOrder = query.descending ? names.reversed() : names
    return Array(inOrder.filter(isBetween).dropFirst(query.skip).prefix(query.limit ?? names.count))
  }

  private func isBetween(_ name: String) -> Bool {
    let bound = KeyBound.at(name)
    func follows(_ one: KeyBound, _ other: KeyBound) -> Bool {
      query.descending ? other.follows(one) : one.follows(other)
    }
    if let start = query.start, follows(start, bound) { return false }
    guard let end = query.end else { return true }
    if follows(bound, end) { return false }
    return query.includesEnd || follows(end, bound)
  }
}
