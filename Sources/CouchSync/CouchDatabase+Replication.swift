package import Documents
import JSON
import Stores

extension CouchDatabase {
  /// `POST /{db}/_revs_diff`: which of a peer's revisions are unknown here; documents of which none is are
  /// left out.
  ///
  /// Source: CouchDB, "POST /{db}/_revs_diff".
  package func revisionsDifference(
    _ request: RevisionsRequest
  ) async throws -> CouchAnswer {
    let all = try await missing(request)
    var writer = JSONWriter()
    writer.beginObject()
    for missing in all {
      writer.name(missing.id)
      writer.beginObject()
      writer.name("missing")
      MissingRevisions.append(missing.revisions, to: &writer)
      if !missing.possibleAncestors.isEmpty {
        writer.name("possible_ancestors")
        MissingRevisions.append(missing.possibleAncestors, to: &writer)
      }
      writer.endObject()
    }
    writer.endObject()
    return CouchAnswer(writer.bytes)
  }

  /// `POST /{db}/_missing_revs`: the same without possible ancestors.
  ///
  /// Source: CouchDB, "POST /{db}/_missing_revs".
  package func missingRevisions(
    _ request: RevisionsRequest
  ) async throws -> CouchAnswer {
    let all = try await missing(request)
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("missing_revs")
    writer.beginObject()
    for missing in all {
      writer.name(missing.id)
      MissingRevisions.append(missing.revisions, to: &writer)
    }
    writer.endObject()
    writer.endObject()
    return CouchAnswer(writer.bytes)
  }

  private func missing(
    _ request: RevisionsRequest
  ) async throws -> [MissingRevisions] {
    try await store.read(inSlices: MissingRevisionsReader(request)) {
      reader, view in try reader.read(view) ? reader.missing : nil
    }
  }
}

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
    return CouchAnswer(200, writer.bytes, revision: LocalRevision.tag(found.revision))
  }

  /// `PUT /{db}/_local/{id}`: writes a local document, or with `_deleted` removes it, whatever is stored; see
  /// ``LocalWrite/stored``.
  ///
  /// Source: CouchDB, "PUT /{db}/_local/{docid}".
  /// - Returns: 201, or 200 for a removal, with the next `0-N`.
  package func putLocal(_ id: LocalID, _ write: LocalWrite) async throws -> CouchAnswer {
    let stored = write.stored
    try await updating { changes in changes.write(LocalEdit(id, stored)) }
    return .written(stored == nil ? 200 : 201, local: id, stored)
  }

  /// `DELETE /{db}/_local/{id}`: removes a local document, whichever revision is named.
  ///
  /// Source: CouchDB, "DELETE /{db}/_local/{docid}".
  /// - Throws: 404 `missing`; 400 for a malformed revision.
  package func deleteLocal(
    _ id: LocalID, revision: String?
  ) async throws -> CouchAnswer {
    if let revision { _ = try LocalRevision.read(revision) }
    try await updating { changes in
      guard try changes.local(id) != nil else { throw DocumentError.missing }
      changes.write(LocalEdit(id, nil))
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

extension CouchDatabase {
  /// `POST /{db}/_bulk_get`: many revisions at once, tombstones included; without `rev` every leaf.
  ///
  /// CouchDB's replicator wants one entry for each element asked, in order, each with one document that
  /// has exactly the key `ok` or `error`.
  /// Source: CouchDB, "POST /{db}/_bulk_get".
  /// - Throws: 413 when the answer would be longer than ``CouchLimits/answerBytes``; clients then ask one
  ///   by one. 503 when there is no memory for it.
  package func bulkGet(_ request: BulkGetRequest) async throws -> CouchAnswer {
    try await answer(by: BulkGetReader(request), advice: "ask for fewer documents")
  }
}

extension CouchDatabase {
  /// `GET /{db}/{docid}?open_revs=…`: several revisions of one document at once, in the order of the request, or
  /// winner first.
  ///
  /// Source: CouchDB, "GET /{db}/{docid}: open_revs".
  /// - Throws: 404 `missing` for all leaves of an id never used; 413 beyond ``CouchLimits/answerBytes``; 503 when
  ///   there is no memory for the answer.
  package func openRevisions(
    _ id: DocumentID, _ wanted: OpenRevisions, _ query: DocumentQuery,
    as form: OpenRevisions.Form = .json
  ) async throws -> CouchAnswer {
    if case .these(let revisions) = wanted, revisions.count > CouchLimits.askedRevisions {
      throw ServiceError.tooLarge("A request has at most \(CouchLimits.askedRevisions) revisions")
    }
    return try await answer(
      by: OpenRevisionsReader(id, wanted, query, as: form), advice: "ask for fewer revisions")
  }
}
