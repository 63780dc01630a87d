package import Documents
import Stores

extension CouchDatabase {
  /// `PUT /{db}/{docid}`: writes a document under its id.
  ///
  /// Source: CouchDB, "PUT /{db}/{docid}".
  /// - Parameter isNewEdit: false for `new_edits=false`, a revision that was made elsewhere.
  /// - Returns: 201, or 200 for a tombstone, with id and revision.
  /// - Throws: 409 `conflict`; 400 for a document that contradicts itself or the request; 413; 415.
  package func put(
    _ id: DocumentID, _ body: JSONNode, base: BaseRevision = .none, isNewEdit: Bool = true
  ) async throws(CouchError) -> CouchAnswer {
    let document = try Self.document(in: body)
    // Clients leave the prefix of a design document's id to the path.
    if let own = document.id, own != id,
      !(id.isDesign && id.text.equalsBytes(of: "_design/" + own.text))
    {
      throw CouchError(400, "doc_validation", "Document's _id differs from the id of the request")
    }
    let base = try base.agreed(with: document.revision)
    return try await write(document, id: id, base: base, isNewEdit: isNewEdit)
  }

  /// `POST /{db}`: writes a document under its `_id` or, without one, a new id.
  ///
  /// Source: CouchDB, "POST /{db}".
  /// - Returns: 201 with id and revision.
  /// - Throws: as ``put(_:_:base:isNewEdit:)``.
  package func post(_ body: JSONNode) async throws(CouchError) -> CouchAnswer {
    let document = try Self.document(in: body)
    let id = document.id ?? newID()
    let answer = try await write(document, id: id, base: nil, isNewEdit: true)
    return CouchAnswer(201, answer.body, revision: answer.revision, made: id)
  }

  private func write(
    _ document: IncomingDocument, id: DocumentID, base: RevisionID?, isNewEdit: Bool
  ) async throws(CouchError) -> CouchAnswer {
    let write: DocumentWrite
    do {
      write = try DocumentWrite(document, id: id, base: base, isNewEdit: isNewEdit)
    } catch { throw CouchError(error) }
    let limit = store.revisionLimit
    let revision = try await updating([id]) { view throws(StoreError) in
      let decided = try write.decided(in: view, limit: limit)
      return Decision(decided.mutation.map { [$0] } ?? [], value: decided.revision)
    }
    return .written(
      write.isDeleted ? 200 : 201, id: id.text, revision: revision?.description ?? "",
      entity: revision)
  }

  private static func document(in body: JSONNode) throws(CouchError) -> IncomingDocument {
    do { return try IncomingDocument(body) } catch { throw CouchError(error) }
  }
}
