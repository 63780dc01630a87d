import Documents
package import JSON
import Lanes
package import Stores

/// The design documents of one state of a store, and the names of the indexes whose data is there.
///
/// What the documents say is read apart from the store: a filter that they hold can take long.
package struct IndexSources: Sendable {
  /// One design document.
  struct Design: Sendable {
    /// Its id.
    let id: DocumentID
    /// The revision that was read.
    let revision: RevisionID
    /// What it says; nothing where it is too long to define indexes.
    let body: [UInt8]
  }

  /// The first design documents by id, ``QueryLimits/designDocuments`` at most.
  let designs: [Design]
  /// Indexes whose data is there.
  let indexes: [IndexID]

  /// The ids of all design documents: "0" follows "/".
  package static let range = DocumentRange(start: "_design/", end: "_design0", includesEnd: false)

  /// Reads a state.
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

  /// Whether another state has the same design documents.
  package func isSame(as other: IndexSources) -> Bool {
    designs.elementsEqual(other.designs) { $0.id == $1.id && $0.revision == $1.revision }
  }
}

/// The index definitions of one state of a store that count, and the data of indexes that none of them
/// defines.
package struct IndexCatalogue: Sendable {
  /// By design document and name in byte order, ``QueryLimits/definitions`` at most. Whatever replication
  /// brings along, a query has no more than this to choose from.
  package let definitions: [IndexDefinition]
  /// An index whose data is there without a definition, if any.
  package let stray: IndexID?

  /// Reads what design documents say, at most ``QueryLimits/triedDefinitions``; gives way between two.
  /// - Throws: 503 when nobody waits for the answer any more.
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

  /// Whether a design document and a name belong to one of the definitions.
  package func contains(_ definition: IndexDefinition) -> Bool {
    definitions.contains { known in
      known.design == definition.design && known.name.equalsBytes(of: definition.name)
    }
  }
}

/// What a query can be served from.
package enum QueryIndex: Sendable {
  /// All documents by id: CouchDB's `_all_docs`.
  case documents
  /// The engine's own index of documents by their `type`, which no CouchDB has.
  case types
  /// An index that a design document defines.
  case defined(IndexDefinition)

  /// The index as `_index` and `_explain` show it.
  package var json: JSONValue {
    switch self {
    case .documents: Self.special("_all_docs", field: "_id")
    case .types: Self.special("type", field: "type")
    case .defined(let definition): definition.json
    }
  }

  /// The definition, for an index that has one.
  package var definition: IndexDefinition? {
    guard case .defined(let definition) = self else { return nil }
    return definition
  }

  /// Which way a query walks that is served from here.
  package var way: QueryCursor.Way {
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

/// Bytes that order as the values of an index's fields do.
enum IndexKey {
  /// The key of the first values.
  static func bytes(_ values: [JSONNode], of fields: [FieldPath]) -> [UInt8] {
    var key: [UInt8] = []
    for (field, value) in zip(fields, values) {
      if field.isID, let id = value.string {
        // Ids stand in the order of their bytes, as wherever they are compared, and hold no zero.
        key += id.utf8
        key.append(0)
      } else {
        key += JSONCollation.key([value])
      }
    }
    return key
  }

  /// The part of a key that an index keeps.
  static func kept(_ key: [UInt8]) -> [UInt8] { Array(key.prefix(QueryLimits.keyBytes)) }
}
