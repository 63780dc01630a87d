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
    return CouchAnswer(200, writer.bytes, revision: LocalRevision.tag(found.revision))
  }

  /// `PUT /{db}/_local/{id}`: writes a local document, or with `_deleted` removes it, whatever is stored; see
  /// ``LocalWrite/stored``.
  ///
  /// Source: CouchDB, "PUT /{db}/_local/{docid}".
  /// - Returns: 201, or 200 for a removal, with the next `0-N`.
  package func putLocal(_ id: LocalID, _ write: LocalWrite) async throws(CouchError) -> CouchAnswer
  {
    let stored = write.stored
    try await updating([]) { _ throws(StoreError) in
      Decision(locals: [LocalEdit(id, stored)], value: ())
    }
    return .written(stored == nil ? 200 : 201, local: id, stored)
  }

  /// `DELETE /{db}/_local/{id}`: removes a local document, whichever revision is named.
  ///
  /// Source: CouchDB, "DELETE /{db}/_local/{docid}".
  /// - Throws: 404 `missing`; 400 for a malformed revision.
  package func deleteLocal(
    _ id: LocalID, revision: String?
  ) async throws(CouchError) -> CouchAnswer {
    if let revision { _ = try LocalRevision.read(revision) }
    try await updating([]) { view throws(StoreError) in
      guard try view.local(id) != nil else { throw StoreError(.missing) }
      return Decision(locals: [LocalEdit(id, nil)], value: ())
    }
    return .written(200, local: id, nil)
  }
}

extension CouchAnswer {
  /// `{"ok":true,"id":…,"rev":…}`: a local document was written, or removed.
  static func written(_ status: Int, local id: LocalID, _ document: LocalDocument?) -> CouchAnswer {
    let count = document?.revision ?? 0
    return .written(
      status, id: id.text, revision: LocalRevision.text(count), entity: LocalRevision.tag(count))
  }
}
