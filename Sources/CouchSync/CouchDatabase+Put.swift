package import Documents
import Stores

extension CouchDatabase {
  /// `PUT /{db}/{docid}`: writes a document under the path's id, whatever its own `_id` says.
  ///
  /// Source: CouchDB, "PUT /{db}/{docid}".
  /// - Parameter isNewEdit: false for `new_edits=false`, a revision that was made elsewhere.
  /// - Returns: 201, or 200 for a tombstone, with id and revision.
  /// - Throws: 409 `conflict`; 400 for a document that contradicts itself or the request; 413; 415.
  package func put(
    _ id: DocumentID, _ body: JSONNode, base: BaseRevision = .none, isNewEdit: Bool = true
  ) async throws(CouchError) -> CouchAnswer {
    let document = try Self.document(in: body)
    let base = try base.agreed(with: document.revision)
    let hasRules = try Self.hasRules(document, body, id, isNewEdit: isNewEdit)
    var answer = try await write(document, id: id, base: base, isNewEdit: isNewEdit)
    answer.hasUnrunRules = hasRules
    return answer
  }

  /// `POST /{db}`: writes a document, which may be a local one, under its `_id` or, without one, a new id.
  ///
  /// Source: CouchDB, "POST /{db}".
  /// - Returns: 201 with id and revision.
  /// - Throws: as ``put(_:_:base:isNewEdit:)``.
  package func post(_ body: JSONNode) async throws(CouchError) -> CouchAnswer {
    if let id = try LocalID(of: body) {
      return try await putLocal(id, LocalWrite(body, limits: documentLimits))
    }
    let document = try Self.document(in: body)
    let id = document.id ?? newID()
    _ = try Self.hasRules(document, body, id, isNewEdit: true)
    let answer = try await write(document, id: id, base: nil, isNewEdit: true)
    return CouchAnswer(201, answer.body, revision: answer.revision, written: id)
  }

  private func write(
    _ document: IncomingDocument, id: DocumentID, base: RevisionID?, isNewEdit: Bool
  ) async throws(CouchError) -> CouchAnswer {
    let write: DocumentWrite
    do {
      write = try DocumentWrite(
        document, id: id, base: base, isNewEdit: isNewEdit, limits: documentLimits)
    } catch { throw CouchError(error) }
    let store = store
    let revision = try await updating([id]) { view throws(StoreError) in
      let limit = try store.historyLimits(in: view)
      let decided = try write.decided(in: view, limit: limit)
      return Decision(decided.mutation.map { [$0] } ?? [], value: decided.revision)
    }
    return .written(
      write.isDeleted ? 200 : 201, id: id.text, revision: revision?.description ?? "",
      entity: revision)
  }

  /// Whether it is a design document with rules, which nothing runs.
  /// - Throws: 403 `forbidden` for one that is written here.
  private static func hasRules(
    _ document: IncomingDocument, _ body: JSONNode, _ id: DocumentID, isNewEdit: Bool
  ) throws(CouchError) -> Bool {
    guard id.isDesign, !document.isDeleted, DesignRules.isIn(body) else { return false }
    guard !isNewEdit else { throw DesignRules.refusal }
    return true
  }

  private static func document(in body: JSONNode) throws(CouchError) -> IncomingDocument {
    guard body.kind == .object else { throw .badRequest("Document must be a JSON object") }
    do { return try IncomingDocument(body) } catch { throw CouchError(error) }
  }
}
