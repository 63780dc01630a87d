package import Documents
import Stores

extension CouchDatabase {
  /// `COPY /{db}/{docid}`: writes what one document says under another id, in one transaction. Either may be local.
  ///
  /// Source: CouchDB, "COPY /{db}/{docid}".
  /// - Parameter revision: the revision to copy; nil for the winner. It says nothing of a local document.
  /// - Returns: 201 with the target's id and revision.
  /// - Throws: 404 `missing` or `deleted` for the source; 409 `conflict` for the target.
  package func copy(
    _ source: DocumentName, revision: RevisionID? = nil, to target: CopyTarget
  ) async throws(CouchError) -> CouchAnswer {
    let store = store
    switch target {
    case .local(let id, let base):
      let copy = try await updating([]) { view throws(StoreError) in
        let body = try Self.bytes(of: source, revision, in: view)
        let copy = LocalDocument(revision: (base ?? 0) &+ 1, body: body)
        return Decision(locals: [LocalEdit(id, copy)], value: copy)
      }
      return .written(201, local: id, copy)
    case .document(let id, let base):
      let outcome = try await updating([id]) {
        view throws(StoreError) -> Decision<Result<RevisionID, CouchError>> in
        let stored = try Self.bytes(of: source, revision, in: view)
        if id.isDesign, let root = try? ParsedJSON(stored, limits: .stored).root,
          DesignRules.isIn(root)
        {
          return Decision(value: .failure(DesignRules.refusal))
        }
        let limit = try store.historyLimits(in: view)
        let tree = try view.tree(id)
        let former = try view.former(id, tree)
        var edits = DocumentEdits(id, in: tree, after: former, limit: limit)
        let written = try applying { () throws(DocumentError) in
          try edits.write(
            base: base, body: DocumentBody(parsing: stored, limits: .stored), isDeleted: false)
        }
        return Decision(edits.finish().map { [$0] } ?? [], value: .success(written))
      }
      let written = try outcome.get()
      return .written(201, id: id.text, revision: written.description, entity: written)
    }
  }

  private static func bytes(
    of source: DocumentName, _ revision: RevisionID?, in view: any StoreView
  ) throws(StoreError) -> [UInt8] {
    switch source {
    case .local(let id):
      guard let document = try view.local(id) else { throw StoreError(.missing) }
      return document.body
    case .document(let id):
      if let revision {
        guard let body = try view.body(id, revision) else { throw StoreError(.missing) }
        return body
      }
      guard let document = try view.document(id) else { throw StoreError(.missing) }
      guard !document.isDeleted else { throw StoreError(.deleted) }
      return document.body
    }
  }
}
