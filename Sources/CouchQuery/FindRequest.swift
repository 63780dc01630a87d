import Documents
package import JSON
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
    try QueryOption.check(body, allows: Self.names)
    selector = try Selector(QueryOption.required("selector", in: body))
    useIndex = try body["use_index"].flatMap { node in try UseIndex(node) }
    bookmarkText = try Self.bookmark(in: body)
    bookmark = try QueryCursor(bookmarkText)
    limit = try QueryOption.count("limit", in: body, default: Self.standardLimit)
    skip = try QueryOption.count("skip", in: body, default: 0)
    sort =
      try body["sort"].map { node in try QuerySort(node) } ?? .unordered
    projection = try body["fields"].flatMap { node in
      try FieldProjection(node)
    }
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
    guard let text = node.string else {
      throw QueryCursor.invalid(QueryOption.shown(node))
    }
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

/// The index that a client requests for a query.
///
/// Source: CouchDB, "POST /{db}/_find: use_index".
package struct UseIndex: Sendable {
  /// The design document's name, without `_design/`.
  let design: String
  /// The index's name; nil for any index of the design document.
  let name: String?

  /// Reads `"ddoc"`, `"ddoc/name"`, `["ddoc"]` or `["ddoc","name"]`, with or without `_design/`; nil for null and an
  /// empty array.
  /// - Throws: 400 `invalid_index_name`.
  init?(_ node: JSONNode) throws {
    if node.isNull || (node.kind == .array && node.count == 0) { return nil }
    let parts: [String]?
    if let text = node.string {
      parts = Self.parts(text)
    } else {
      let names = node.elements.map(\.string)
      parts = names.contains(nil) ? nil : names.compactMap { $0 }
    }
    guard let parts, (1...2).contains(parts.count) else {
      throw ServiceError(.invalidIndexName, "Invalid index name: \(QueryOption.shown(node))")
    }
    design = Self.name(of: parts[0])
    name = parts.count == 2 ? parts[1] : nil
  }

  private static func parts(_ text: String) -> [String] {
    var parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
    if parts.count > 1, parts[0].equalsBytes(of: "_design") { parts.removeFirst() }
    return parts
  }

  /// A design document's name without `_design/`.
  package static func name(of design: String) -> String {
    let prefix = "_design/".utf8
    guard design.utf8.starts(with: prefix) else { return design }
    return String(Substring(design.utf8.dropFirst(prefix.count)))
  }

  /// Whether this requests the index of a definition.
  package func names(_ definition: IndexDefinition) -> Bool {
    design.equalsBytes(of: Self.name(of: definition.design.text))
      && (name.map { $0.equalsBytes(of: definition.name) } ?? true)
  }

  /// The warning in the answer when the index was not used.
  package var warning: String {
    if let name {
      "_design/\(design), \(name) was not used because it is not a valid index for this query."
    } else {
      "_design/\(design) was not used because it does not contain a valid index for this query."
    }
  }

  /// The requested index as `_explain` shows it.
  var json: JSONValue {
    .array([.string(design)] + (name.map { [.string($0)] } ?? []))
  }
}

/// Reads the members of a query's body, with CouchDB's messages for errors.
///
/// Source: CouchDB, `mango_opts`.
package enum QueryOption {
  /// Checks that a body is an object without members other than these.
  /// - Throws: 400 `bad_request`, `invalid_key`.
  package static func check(_ body: JSONNode, allows names: [String]) throws {
    guard body.kind == .object else {
      throw ServiceError.badRequest("Request body must be a JSON object")
    }
    for member in body.members where !names.contains(where: { member.nameEquals($0) }) {
      throw ServiceError(.invalidKey, "Invalid key \(member.name.prefix(64)) for this request.")
    }
  }

  /// The value of a required member.
  /// - Throws: 400 `missing_required_key`.
  package static func required(_ name: String, in body: JSONNode) throws -> JSONNode {
    guard let node = body[name] else {
      throw ServiceError(.missingRequiredKey, "Missing required key: \(name)")
    }
    return node
  }

  /// The value of a member that is a Boolean; `standard` when absent.
  /// - Throws: 400 `invalid_boolean`.
  static func flag(
    _ name: String, in body: JSONNode, default standard: Bool
  ) throws -> Bool {
    guard let node = body[name] else { return standard }
    guard let flag = node.bool else {
      throw ServiceError(.invalidBoolean, "Invalid boolean value: \(shown(node))")
    }
    return flag
  }

  /// The value of a member that is a whole number from `least`, which is 0 or 1; `standard` when absent.
  /// - Throws: 400 `invalid_non_neg_integer`, `invalid_pos_integer`.
  package static func count(
    _ name: String, in body: JSONNode, default standard: Int, least: Int = 0
  ) throws -> Int {
    guard let node = body[name] else { return standard }
    guard let count = node.int, count >= least else {
      throw least > 0
        ? ServiceError(
          .invalidPositiveInteger, "\(shown(node)) is not an integer greater than zero")
        : ServiceError(
          .invalidNonNegativeInteger,
          "\(shown(node)) is not an integer greater than or equal to zero")
    }
    return count
  }

  /// The value of a member that is a string; nil when absent.
  /// - Throws: 400 `invalid_string`.
  static func text(_ name: String, in body: JSONNode) throws -> String? {
    guard let node = body[name] else { return nil }
    guard let text = node.string else {
      throw ServiceError(.invalidString, "Invalid string: \(shown(node))")
    }
    return text
  }

  /// The first 64 bytes of a value, for the reason of an error.
  package static func shown(_ node: JSONNode) -> String {
    String(decoding: node.minified.prefix(64), as: UTF8.self)
  }
}
