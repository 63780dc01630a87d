package import Documents
import Stores

/// The body of `POST /{db}/_index`.
///
/// Source: CouchDB, "POST /{db}/_index".
package struct IndexRequest: Sendable {
  package let definition: IndexDefinition
  /// The definition as the client sent it.
  package let given: JSONValue

  private static let names = ["index", "type", "name", "ddoc", "w", "partitioned"]

  /// Reads a body. A missing `name` or `ddoc` is derived from the definition. The same definition sent twice is
  /// therefore one index; sent with two names it is two indexes, each with its own design document.
  /// - Throws: 400 with CouchDB's message for the error; 501 for an index of a type other than `json`.
  package init(_ body: JSONNode) throws {
    let index = try QueryOption.required("index", in: body, allows: Self.names)
    try Self.checkType(body)
    try Self.checkOptions(body)
    guard index.kind == .object else {
      throw ServiceError(
        .invalidIndex, "JSON indexes must be an object, not: \(QueryOption.shown(index))")
    }
    let sort = try QuerySort(
      QueryOption.required("fields", in: index, allows: ["fields", "partial_filter_selector"]))
    let filter = try index["partial_filter_selector"].map { try Selector($0) }
    given = index.value
    let named = try QueryOption.text("name", in: body)
    let automatic = try Self.automaticName(of: given, named)
    let name = named ?? automatic
    let design = UseIndex.name(of: try QueryOption.text("ddoc", in: body) ?? automatic)
    guard !name.isEmpty, !design.isEmpty else {
      throw ServiceError(.emptyString, "Index name or ddoc cannot be empty string")
    }
    definition = try IndexDefinition(
      design: try Self.designID(design), name: name, sort: sort,
      filter: index["partial_filter_selector"]?.count == 0 ? nil : filter)
  }

  /// The id of a design document, from a name with or without `_design/`.
  /// - Throws: 400 `illegal_docid`.
  package static func designID(_ name: String) throws -> DocumentID {
    return try DocumentID("_design/" + UseIndex.name(of: name))
  }

  private static func checkType(_ body: JSONNode) throws {
    switch try QueryOption.text("type", in: body) {
    case nil, "json": return
    case "text", "nouveau":
      throw ServiceError(.notImplemented, "Only indexes of type json are supported")
    case let type?: throw ServiceError(.invalidIndex, "Invalid type for index: \(type.prefix(64))")
    }
  }

  private static func checkOptions(_ body: JSONNode) throws {
    _ = try QueryOption.count("w", in: body, default: 1, least: 1)
    guard let partitioned = body["partitioned"] else { return }
    switch partitioned.bool {
    case false: return
    case true:
      throw ServiceError.badRequest(
        "partitioned option cannot be true in a non-partitioned database.")
    case nil:
      throw ServiceError(
        .invalidPartitionedValue,
        "`partitioned` is true or false, not: \(QueryOption.shown(partitioned))")
    }
  }

  /// The derived name of a definition with the given name: 40 hexadecimal digits, as many as CouchDB's.
  private static func automaticName(of given: JSONValue, _ name: String?) throws -> String {
    // The digest of an object does not depend on the order of its members, but the order of an index's fields counts.
    let text = JSONValue.string(String(decoding: given.bytes, as: UTF8.self))
    var content: JSONObject = ["index": text]
    if let name { content.append("name", .string(name)) }
    return Hex.string(try IndexDefinition.digest(.object(content)).prefix(20))
  }
}
