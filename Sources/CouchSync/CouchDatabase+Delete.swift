package import Documents
import Stores

extension CouchDatabase {
  /// `DELETE /{db}/{docid}`: puts an empty tombstone on the document.
  ///
  /// Source: CouchDB, "DELETE /{db}/{docid}".
  /// - Returns: 200 with id and the tombstone's revision.
  /// - Throws: 404 `missing` or `deleted`; 409 `conflict`, also when no revision is given.
  package func delete(
    _ id: DocumentID, base: BaseRevision
  ) async throws(CouchError) -> CouchAnswer {
    let store = store
    let revision = try await updating([id]) { view throws(StoreError) in
      let limit = try store.historyLimits(in: view)
      let tree = try view.tree(id)
      let mutation = try applying { () throws(DocumentError) in
        try Edit.delete(id, in: tree, base: base.revision, limit: limit)
      }
      return Decision([mutation], value: mutation.revision)
    }
    return .written(200, id: id.text, revision: revision.description, entity: revision)
  }
}
