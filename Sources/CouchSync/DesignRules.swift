import Documents
import Stores

/// The rules of design documents, `validate_doc_update`. In CouchDB they protect data; here they are not run. A client
/// that writes one gets an error. One that a peer replicates is stored, and the database's information then contains a
/// warning.
enum DesignRules {
  static let member = "validate_doc_update"

  static func isIn(_ document: JSONNode) -> Bool { document[member].map { !$0.isNull } ?? false }

  static func warning(of id: DocumentID) -> String { "\(id.text): \(member) is stored but not run" }

  /// The error for a client that writes a rule.
  static let refusal = ServiceError(
    .forbidden,
    "validate_doc_update is not run here and would protect nothing: leave it out, or use _security"
  )
}

/// Finds, in slices, the design documents of a database that have rules.
struct DesignRulesReader: Sendable {
  /// The most documents that are named.
  static let most = 100
  /// The most design documents that are examined.
  static let mostDesigns = 1_000

  private var range: DocumentRange? = AllDocumentsQuery.Scope.designs.part(of: DocumentRange())
  /// The ids of the documents with rules that were found so far.
  private(set) var ids: [DocumentID] = []

  private var looked = 0

  /// Continues with a snapshot of the store until the slice is over.
  /// - Returns: whether all design documents have been examined, or one of the limits is reached.
  mutating func read(_ view: any StoreView) throws -> Bool {
    range = try view.walk(range) { document in
      if let root = try? ParsedJSON(document.body, limits: .stored).root, DesignRules.isIn(root) {
        ids.append(document.id)
      }
      looked += 1
      return ids.count < Self.most && looked < Self.mostDesigns
    }
    return range == nil
  }
}

extension CouchDatabase {
  /// Throws the error that says why a function is not run: it does not exist, or functions are not supported.
  /// - Throws: always: 404 `not_found` or 501 `not_implemented`.
  package func run(_ function: DesignFunction) async throws -> Never {
    let document = try await store.readInline { view in
      try view.document(function.design)
    }
    if document?.isDeleted ?? false { throw DocumentError.deleted }
    let root = document.flatMap { try? ParsedJSON($0.body, limits: .stored).root }
    throw function.refusal(in: root)
  }
}
