package import Documents
import Stores

/// Local documents, which are never replicated, such as checkpoints.
extension CouchDatabase {
  /// `GET /{db}/_local/{id}`: a local document, such as a replication's checkpoint.
  ///
  /// Source: CouchDB, "GET /{db}/_local/{docid}".
  /// - Throws: 404 `not_found`, reason `missing`.
  package func local(_ id: LocalID) async throws -> CouchAnswer {
    let found = try await store.readInline { view in try view.local(id) }
    guard let found else { throw ServiceError.missing }
    var writer = JSONWriter(reserving: found.body.count + 128)
    found.append(as: id, to: &writer)
    return CouchAnswer(.done, writer.bytes, revision: LocalRevision.tag(found.revision))
  }

  /// `PUT /{db}/_local/{id}`: writes a local document, or removes it when it has `_deleted`, whatever is stored; see
  /// ``LocalWrite/stored``.
  ///
  /// Source: CouchDB, "PUT /{db}/_local/{docid}".
  /// - Returns: 201, or 200 for a removal, with the next `0-N`.
  package func putLocal(_ id: LocalID, _ write: LocalWrite) async throws -> CouchAnswer {
    let stored = write.stored
    try await updating { changes in changes.write(LocalEdit(id, stored)) }
    return .written(stored == nil ? .done : .created, local: id, stored)
  }

  /// `DELETE /{db}/_local/{id}`: removes a local document, whatever revision is named.
  ///
  /// Source: CouchDB, "DELETE /{db}/_local/{docid}".
  /// - Throws: 404 `missing`; 400 for a malformed revision.
  package func deleteLocal(_ id: LocalID, revision: String?) async throws -> CouchAnswer {
    if let revision { _ = try LocalRevision.read(revision) }
    try await updating { changes in
      guard try changes.local(id) != nil else { throw DocumentError.missing }
      changes.write(LocalEdit(id, nil))
    }
    return .written(.done, local: id, nil)
  }
}

extension CouchAnswer {
  /// Makes the answer to a written or removed local document: `{"ok":true,"id":…,"rev":…}`.
  static func written(_ outcome: Outcome, local id: LocalID, _ document: LocalDocument?)
    -> CouchAnswer
  {
    let count = document?.revision ?? 0
    return .written(
      outcome, id: id.text, revision: LocalRevision.text(count), entity: LocalRevision.tag(count))
  }
}
