package import Documents
package import JSON
import Stores

/// What `POST /{db}/_index` is to define.
///
/// Source: CouchDB, "POST /{db}/_index".
package struct IndexRequest: Sendable {
  /// The definition.
  package let definition: IndexDefinition
  /// The definition as the client wrote it.
  package let given: JSONValue

  private static let names = ["index", "type", "name", "ddoc", "w", "partitioned"]

  /// Reads a body. Without `name` or `ddoc` they are made from the definition, so that the same definition
  /// made twice is one index; under two names it is two, each with a design document of its own.
  /// - Throws: 400 with CouchDB's words for what is wrong; 501 for an index of another type than `json`.
  package init(_ body: JSONNode) throws {
    try QueryOption.check(body, allows: Self.names)
    let index = try QueryOption.required("index", in: body)
    try Self.checkType(body)
    try Self.checkOptions(body)
    guard index.kind == .object else {
      throw ServiceError(
        .invalidIndex, "JSON indexes must be an object, not: \(QueryOption.shown(index))")
    }
    try QueryOption.check(index, allows: ["fields", "partial_filter_selector"])
    let sort = try QuerySort(QueryOption.required("fields", in: index))
    let filter = try index["partial_filter_selector"].map { node in
      try QueryOption.selector(node)
    }
    given = index.value
    let named = try QueryOption.text("name", in: body)
    let automatic = try Self.automaticName(of: given, named)
    let name = named ?? automatic
    guard !name.isEmpty else { throw ServiceError.badRequest("An index's name must not be empty") }
    let design = UseIndex.name(of: try QueryOption.text("ddoc", in: body) ?? automatic)
    definition = try IndexDefinition(
      design: try Self.designID(design), name: name, sort: sort,
      filter: index["partial_filter_selector"]?.count == 0 ? nil : filter)
  }

  /// The id of a design document, from a name with `_design/` or without.
  /// - Throws: 400 `illegal_docid`.
  package static func designID(_ name: String) throws -> DocumentID {
    return try DocumentID("_design/" + UseIndex.name(of: name))
  }

  private static func checkType(_ body: JSONNode) throws {
    switch try QueryOption.text("type", in: body) {
    case nil, "json": return
    case "text", "nouveau":
      throw ServiceError(.notImplemented, "Of indexes, those of type json are offered")
    case let type?:
      throw ServiceError(.invalidIndex, "Invalid type for index: \(type.prefix(64))")
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

  /// 40 hexadecimal digits, as many as CouchDB's, for the definition and the name that it is given.
  private static func automaticName(
    of given: JSONValue, _ name: String?
  ) throws -> String {
    // Names of an object stand in no order for a digest, but an index's fields do.
    let text = JSONValue.string(String(decoding: given.bytes, as: UTF8.self))
    var content: JSONObject = ["index": text]
    if let name { content.append("name", .string(name)) }
    return Hex.string(try IndexDefinition.digest(.object(content)).prefix(20))
  }
}

/// A design document whose views are index definitions, as it is changed.
package struct QueryDesign: Sendable {
  private var root: JSONObject

  /// A design document without definitions.
  static let empty = QueryDesign(root: ["language": "query"])

  private init(root: JSONObject) { self.root = root }

  /// Reads a stored document; one that is absent or deleted is empty.
  /// - Throws: 400 `invalid_ddoc_lang` for one that is not for queries.
  package init(_ document: Document?) throws {
    guard let document, !document.isDeleted else {
      self = .empty
      return
    }
    let value: JSONValue
    value = try JSONValue(parsing: document.body, limits: .stored)
    guard let root = value.object, root["language"] == "query" else {
      let language = value["language"].map { String(decoding: $0.bytes.prefix(64), as: UTF8.self) }
      throw ServiceError(
        .invalidDesignLanguage,
        "Existing design doc has an invalid language: \(language ?? "none")")
    }
    self.init(root: root)
  }

  /// Puts a view in; false when it is there as it is, its members' order included.
  package mutating func set(_ name: String, _ view: JSONValue) -> Bool {
    var views = root["views"]?.object ?? [:]
    guard views[name]?.bytes != view.bytes else { return false }
    views[name] = view
    root["views"] = .object(views)
    return true
  }

  /// Takes views out.
  package mutating func remove(_ names: [String]) {
    var views = root["views"]?.object ?? [:]
    for name in names { views[name] = nil }
    root["views"] = views.isEmpty ? nil : .object(views)
  }

  /// Whether nothing is left but the language.
  package var isEmpty: Bool { root.count == 1 }

  /// What is to be stored.
  /// - Throws: 413 for a document that queries would pass over.
  package func body() throws -> DocumentBody {
    let body: DocumentBody
    body = try DocumentBody(.object(root))
    guard body.bytes.count <= QueryLimits.designBytes else {
      throw ServiceError.tooLarge(
        "A design document with indexes has at most \(QueryLimits.designBytes) bytes")
    }
    return body
  }
}
