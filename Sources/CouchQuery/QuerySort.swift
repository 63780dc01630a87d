import Documents
import Stores

/// The order of a query or an index: fields, all in one direction.
///
/// Source: CouchDB, "POST /{db}/_find: sort syntax".
struct QuerySort: Sendable {
  /// The fields, the most significant first; empty for no order.
  let fields: [FieldPath]
  /// Whether the greatest value comes first.
  let isDescending: Bool

  static let unordered = QuerySort(fields: [], isDescending: false)
}

extension QuerySort {
  /// Reads `["a",{"b":"asc"}]`.
  /// - Throws: 400 `invalid_sort_json` for anything but an array of at most
  ///   ``QueryLimits/indexFields``, `invalid_sort_field`, `unsupported_mixed_sort`.
  init(_ node: JSONNode) throws {
    guard node.kind == .array else {
      throw ServiceError(
        .invalidSortJSON,
        "Sort must be an array of sort specs, not: \(QueryOption.shown(node))")
    }
    guard node.count <= QueryLimits.indexFields else {
      throw ServiceError(.invalidSortJSON, "Sort has at most \(QueryLimits.indexFields) fields")
    }
    try self.init(node.elements.map { try Self.pair($0) })
  }

  /// Reads `{"a":"asc","b":"asc"}`, as a design document contains an index's fields.
  /// - Throws: the same errors as ``init(_:)-(JSONNode)``.
  init(members node: JSONNode) throws {
    guard node.kind == .object, node.count <= QueryLimits.indexFields else {
      throw ServiceError(.invalidSortJSON, "Index fields must be an object of directions")
    }
    try self.init(node.members.map { try Self.pair($0) })
  }

  private init(_ pairs: [(FieldPath, isDescending: Bool)]) throws {
    let isDescending = pairs.first?.isDescending ?? false
    guard pairs.allSatisfy({ $0.isDescending == isDescending }) else {
      throw ServiceError(
        .unsupportedMixedSort,
        "Sorts currently only support a single direction for all fields.")
    }
    self.init(fields: pairs.map(\.0), isDescending: isDescending)
  }

  private static func pair(_ node: JSONNode) throws -> (FieldPath, isDescending: Bool) {
    if let text = node.string, !text.isEmpty { return (try FieldPath(text), false) }
    var members = node.members
    guard node.kind == .object, node.count == 1, let member = members.next() else {
      throw invalid(QueryOption.shown(node))
    }
    return try pair(member)
  }

  private static func pair(_ member: JSONMember) throws -> (FieldPath, isDescending: Bool) {
    let isDescending = member.value.stringEquals("desc")
    guard isDescending || member.value.stringEquals("asc"), !member.name.isEmpty else {
      throw invalid(String(member.name.prefix(64)))
    }
    return (try FieldPath(member.name), isDescending)
  }

  private static func invalid(_ field: String) -> ServiceError {
    ServiceError(.invalidSortField, "Invalid sort field: \(field)")
  }

  /// The direction: `asc` or `desc`.
  var direction: String { isDescending ? "desc" : "asc" }

  /// The fields as an array, `[{"a":"asc"}]`.
  var array: JSONValue {
    .array(fields.map { .object(JSONObject([($0.text, .string(direction))])) })
  }

  /// The fields as an object, `{"a":"asc"}`.
  var object: JSONValue { .object(JSONObject(fields.map { ($0.text, .string(direction)) })) }
}
