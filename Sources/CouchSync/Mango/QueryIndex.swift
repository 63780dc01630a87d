import Documents

/// What a query can be served from.
enum QueryIndex: Sendable {
  /// All documents by id: CouchDB's `_all_docs`.
  case documents
  /// The engine's own index of documents by their `type`, which no CouchDB has.
  case types
  /// An index that a design document defines.
  case defined(IndexDefinition)

  /// The index as `_index` and `_explain` show it.
  var json: JSONValue {
    switch self {
    case .documents: Self.special("_all_docs", field: "_id")
    case .types: Self.special("type", field: "type")
    case .defined(let definition): definition.json
    }
  }

  /// The definition, for an index that has one.
  var definition: IndexDefinition? {
    guard case .defined(let definition) = self else { return nil }
    return definition
  }

  /// Which way a query walks that is served from here.
  var way: QueryCursor.Way {
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
