package import Documents
import Stores

extension CouchDatabase {
  /// `GET /{db}/_local/{id}`: a local document, such as a replication's checkpoint.
  ///
  /// Source: CouchDB, "GET /{db}/_local/{docid}".
  /// - Throws: 404 `not_found`, reason `missing`.
  package func local(_ id: LocalID) async throws(CouchError) -> CouchAnswer {
    let found = try await glancing { view throws(StoreError) in try view.local(id) }
    guard let found else { throw .missing }
    var writer = JSONWriter(reserving: found.body.count + 128)
    found.append(as: id, to: &writer)
    return CouchAnswer(writer.bytes)
  }

  /// `PUT /{db}/_local/{id}`: writes a local document, or with `_deleted` removes it.
  ///
  /// Source: CouchDB, "PUT /{db}/_local/{docid}".
  /// - Returns: 201, or 200 for a removal, with the next `0-N`.
  /// - Throws: 409 `conflict` unless `_rev` is the stored one.
  package func putLocal(_ id: LocalID, _ write: LocalWrite) async throws(CouchError) -> CouchAnswer
  {
    guard !write.isDeleted else { return try await removeLocal(id, base: write.base) }
    let count = try await updating([]) { view throws(StoreError) in
      let stored = try view.local(id)?.revision
      guard write.base == stored else { throw StoreError(.conflict) }
      let next = (stored ?? 0) &+ 1
      let document = LocalDocument(revision: next, body: write.body.bytes)
      return Decision(locals: [LocalEdit(id, document)], value: next)
    }
    return .written(201, id: id.text, revision: LocalRevision.text(count))
  }

  /// `DELETE /{db}/_local/{id}?rev=0-N`: removes a local document.
  ///
  /// Source: CouchDB, "DELETE /{db}/_local/{docid}".
  /// - Throws: 404 `missing`; 409 `conflict` for another revision or none; 400 for a malformed one.
  package func deleteLocal(
    _ id: LocalID, revision: String?
  ) async throws(CouchError) -> CouchAnswer {
    let base = try revision.map { text throws(CouchError) in try LocalRevision.read(text) }
    return try await removeLocal(id, base: base)
  }

  private func removeLocal(_ id: LocalID, base: Int64?) async throws(CouchError) -> CouchAnswer {
    try await updating([]) { view throws(StoreError) in
      guard let stored = try view.local(id) else { throw StoreError(.missing) }
      guard stored.revision == base else { throw StoreError(.conflict) }
      return Decision(locals: [LocalEdit(id, nil)], value: ())
    }
    return .written(200, id: id.text, revision: LocalRevision.removed)
  }
}
