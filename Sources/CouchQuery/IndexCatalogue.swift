package import Documents
package import JSON
import Lanes
package import Stores

/// The design documents in one snapshot of a store, and the ids of the indexes that have data there.
///
/// The documents are parsed later, without using the store, because reading their filters can take long.
package struct IndexSources: Sendable {
  struct Design: Sendable {
    let id: DocumentID
    let revision: RevisionID
    /// The body; empty when it is too long to define indexes.
    let body: [UInt8]
  }

  /// The first design documents by id, at most ``QueryLimits/designDocuments``.
  let designs: [Design]
  /// The indexes that have data.
  let indexes: [IndexID]

  /// The ids of all design documents: "0" is the byte after "/".
  package static let range = DocumentRange(start: "_design/", end: "_design0", includesEnd: false)

  package init(_ view: any StoreView) throws {
    var designs: [Design] = []
    try view.documents(Self.range) { document in
      let body = document.body.count > QueryLimits.designBytes ? [] : document.body
      designs.append(Design(id: document.id, revision: document.revision, body: body))
      return designs.count < QueryLimits.designDocuments
    }
    self.designs = designs
    indexes = try view.indexes()
  }

  /// Whether another snapshot has the same design documents.
  package func isSame(as other: IndexSources) -> Bool {
    designs.elementsEqual(other.designs) { $0.id == $1.id && $0.revision == $1.revision }
  }
}

/// The index definitions of one snapshot of a store that queries use, and one index that has data but no definition.
package struct IndexCatalogue: Sendable {
  /// The definitions by design document and name in byte order, at most ``QueryLimits/definitions``. A query chooses
  /// only from these, however many definitions replication brings.
  package let definitions: [IndexDefinition]
  /// An index that has data but no definition; nil for none.
  package let stray: IndexID?

  /// Reads the design documents, at most ``QueryLimits/triedDefinitions`` definitions; gives way between two.
  /// - Throws: `WorkEnded` (503) when the request has ended.
  package init(_ sources: IndexSources) async throws {
    var definitions: [IndexDefinition] = []
    var tried = 0
    for design in sources.designs where definitions.count < QueryLimits.definitions {
      try await Slice.giveWay()
      for view in IndexDefinition.views(in: design.body)
      where definitions.count < QueryLimits.definitions && tried < QueryLimits.triedDefinitions {
        tried += 1
        let definition = try? IndexDefinition(view: view.value, name: view.name, design: design.id)
        if let definition { definitions.append(try await definition.prepared()) }
        try await Slice.giveWay()
      }
    }
    let defined = Set(definitions.map(\.id))
    stray = sources.indexes.first { id in
      id.text.utf8.starts(with: IndexDefinition.namePrefix.utf8) && !defined.contains(id)
    }
    self.definitions = definitions
  }

  /// Whether one of the definitions has the same design document and name.
  package func contains(_ definition: IndexDefinition) -> Bool {
    definitions.contains { known in
      known.design == definition.design && known.name.equalsBytes(of: definition.name)
    }
  }
}

/// An index that a query can use.
package enum QueryIndex: Sendable {
  /// The index of all documents by id: CouchDB's `_all_docs`.
  case documents
  /// The engine's own index of documents by their `type`, which CouchDB does not have.
  case types
  case defined(IndexDefinition)

  /// The index as `_index` and `_explain` show it.
  package var json: JSONValue {
    switch self {
    case .documents: Self.special("_all_docs", field: "_id")
    case .types: Self.special("type", field: "type")
    case .defined(let definition): definition.json
    }
  }

  /// The index's definition; nil for an index that has none.
  package var definition: IndexDefinition? {
    guard case .defined(let definition) = self else { return nil }
    return definition
  }

  /// The kind of index, as a cursor stores it.
  package var kind: QueryCursor.IndexKind {
    switch self {
    case .documents: .documents
    case .types: .types
    case .defined(let definition): .index(definition.bookmarkDigest)
    }
  }

  private static func special(_ name: String, field: String) -> JSONValue {
    [
      "ddoc": nil, "name": .string(name), "type": "special",
      "def": ["fields": [.object([field: "asc"])]],
    ]
  }
}

/// Keys: bytes that have the same order as the values of an index's fields.
enum IndexKey {
  /// The key of the first values of an index's fields.
  static func bytes(_ values: [JSONNode], of fields: [FieldPath]) -> [UInt8] {
    var key: [UInt8] = []
    for (field, value) in zip(fields, values) {
      if field.isID, let id = value.string {
        // Ids are compared by bytes, as everywhere, and contain no zero byte.
        key += id.utf8
        key.append(0)
      } else {
        key += JSONCollation.key([value])
      }
    }
    return key
  }

  /// The part of a key that an index stores.
  static func kept(_ key: [UInt8]) -> [UInt8] { Array(key.prefix(QueryLimits.keyBytes)) }
}

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
    let filter = try index["partial_filter_selector"].map { try Selector($0) }
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

  /// The derived name of a definition with the given name: 40 hexadecimal digits, as many as CouchDB's.
  private static func automaticName(
    of given: JSONValue, _ name: String?
  ) throws -> String {
    // The digest of an object does not depend on the order of its members, but the order of an index's fields counts.
    let text = JSONValue.string(String(decoding: given.bytes, as: UTF8.self))
    var content: JSONObject = ["index": text]
    if let name { content.append("name", .string(name)) }
    return Hex.string(try IndexDefinition.digest(.object(content)).prefix(20))
  }
}

/// A design document whose views are index definitions, while it is changed.
package struct QueryDesign: Sendable {
  private var root: JSONObject

  /// A design document without definitions.
  static let empty = QueryDesign(root: ["language": "query"])

  private init(root: JSONObject) { self.root = root }

  /// Reads a stored document; an absent or deleted one is empty.
  /// - Throws: 400 `invalid_ddoc_lang` for a document of another language.
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

  /// Sets a view; returns false when the same view exists, with its members in the same order.
  package mutating func set(_ name: String, _ view: JSONValue) -> Bool {
    var views = root["views"]?.object ?? [:]
    guard views[name]?.bytes != view.bytes else { return false }
    views[name] = view
    root["views"] = .object(views)
    return true
  }

  package mutating func remove(_ names: [String]) {
    var views = root["views"]?.object ?? [:]
    for name in names { views[name] = nil }
    root["views"] = views.isEmpty ? nil : .object(views)
  }

  /// Whether the document has no member but the language.
  package var isEmpty: Bool { root.count == 1 }

  /// The body to store.
  /// - Throws: 413 for a document that is too long for queries to read.
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
