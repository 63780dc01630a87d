package import Documents
import Stores

extension CouchDatabase {
  /// `COPY /{db}/{docid}`: writes what one document says under another id, in one transaction.
  ///
  /// Source: CouchDB, "COPY /{db}/{docid}".
  /// - Parameter revision: the revision to copy; nil for the winner.
  /// - Parameter base: the revision that the target has, nil where it is new.
  /// - Returns: 201 with the target's id and revision.
  /// - Throws: 404 `missing` or `deleted` for the source; 409 `conflict` for the target.
  package func copy(
    _ source: DocumentID, revision: RevisionID? = nil, to target: DocumentID,
    base: RevisionID? = nil
  ) async throws(CouchError) -> CouchAnswer {
    let limit = store.revisionLimit
    let written = try await updating([target]) { view throws(StoreError) in
      let stored = try Self.bytes(of: source, revision, in: view)
      let tree = try view.tree(target)
      let mutation = try applying { () throws(DocumentError) in
        try Edit.put(
          target, in: tree, base: base, body: DocumentBody(parsing: stored), limit: limit)
      }
      return Decision([mutation], value: mutation.revision)
    }
    return .written(201, id: target.text, revision: written.description, entity: written)
  }

  private static func bytes(
    of id: DocumentID, _ revision: RevisionID?, in view: any StoreView
  ) throws(StoreError) -> [UInt8] {
    if let revision {
      guard let body = try view.body(id, revision) else { throw StoreError(.missing) }
      return body
    }
    guard let document = try view.document(id) else { throw StoreError(.missing) }
    guard !document.isDeleted else { throw StoreError(.deleted) }
    return document.body
  }
}
