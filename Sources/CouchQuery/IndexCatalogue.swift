import Documents
import Scheduling
package import Stores

/// The design documents of a store, read in slices, and the ids of the indexes that have data there.
///
/// The documents are parsed later, without using the store, because reading their filters can take long.
package struct IndexSources: Sendable {
  /// The first design documents by id, at most ``QueryLimits/designDocuments``. The body of one that is too long to
  /// define indexes is empty.
  private(set) var designs: [Document] = []
  /// The indexes that have data.
  private(set) var indexes: [IndexID] = []
  /// The range of ids that is still to be read; nil for none.
  private var range: DocumentRange? = Self.range

  /// The ids of all design documents: "0" is the byte after "/".
  package static let range = DocumentRange(start: "_design/", end: "_design0", includesEnd: false)

  /// Makes a value that has read nothing yet.
  package init() {}

  /// Continues with a snapshot of the store until the slice is over.
  /// - Returns: whether everything is read.
  package mutating func read(_ view: any StoreView) throws -> Bool {
    guard range != nil else { return true }
    range = try view.walk(range) { document in
      let isTooLong = document.body.count > QueryLimits.designBytes
      designs.append(isTooLong ? document.with([]) : document)
      return designs.count < QueryLimits.designDocuments
    }
    guard range == nil else { return false }
    indexes = try view.indexes()
    return true
  }

  /// Whether the design documents of another time are the same.
  package func isSame(as other: IndexSources) -> Bool {
    designs.elementsEqual(other.designs) { $0.id == $1.id && $0.revision == $1.revision }
  }
}

/// The index definitions of a store that queries use, and one index that has data but no definition.
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
