import Documents
import Stores

extension CouchDatabase {
  /// `POST /{db}/_revs_diff`: which of a peer's revisions are unknown here; documents of which none is are
  /// left out.
  ///
  /// Source: CouchDB, "POST /{db}/_revs_diff".
  package func revisionsDifference(
    _ request: RevisionsRequest
  ) async throws(CouchError) -> CouchAnswer {
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
  ) async throws(CouchError) -> CouchAnswer {
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
  ) async throws(CouchError) -> [MissingRevisions] {
    try await reading(inSlices: MissingRevisionsReader(request)) {
      reader, view throws(StoreError) in try reader.read(view) ? reader.missing : nil
    }
  }
}
