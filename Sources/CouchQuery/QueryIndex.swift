package import Documents

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
