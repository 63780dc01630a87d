package import Documents
import Stores

extension CouchDatabase {
  /// `GET /{db}/{docid}`: the winner, or the revision asked for, which may be a tombstone.
  ///
  /// Source: CouchDB, "GET /{db}/{docid}".
  /// - Returns: with the revision for an ETag where nothing but the document was asked for: extras change
  ///   without it.
  /// - Throws: 404 `missing` or `deleted`.
  package func document(
    _ id: DocumentID, _ query: DocumentQuery = DocumentQuery()
  ) async throws(CouchError) -> CouchAnswer {
    guard query.extras.isEmpty else { return try await extended(id, query) }
    return try await glancing { view throws(StoreError) in
      guard let reader = try Self.reader(id, query, in: view) else { throw StoreError(.missing) }
      return try Self.answer(by: reader, query, in: view)
    }
  }

  /// With extras it may look for the bodies of many revisions.
  private func extended(
    _ id: DocumentID, _ query: DocumentQuery
  ) async throws(CouchError) -> CouchAnswer {
    try await reading(inSlices: DocumentReader?.none) { progress, view throws(StoreError) in
      var known = try progress?.renewed(in: view)
      if known == nil { known = try Self.reader(id, query, in: view) }
      guard var reader = known else { throw StoreError(.missing) }
      let revision = Self.target(of: query, by: reader)
      let isPrepared = try reader.prepare(revision, in: view)
      progress = reader
      return isPrepared ? try Self.answer(by: reader, query, in: view) : nil
    }
  }

  private static func reader(
    _ id: DocumentID, _ query: DocumentQuery, in view: any StoreView
  ) throws(StoreError) -> DocumentReader? {
    try DocumentReader(id, in: view, extras: query.extras, needsTree: query.revision != nil)
  }

  private static func target(of query: DocumentQuery, by reader: DocumentReader) -> RevisionID {
    guard let revision = query.revision else { return reader.winningRevision }
    return query.latest ? reader.leaf(below: revision) ?? revision : revision
  }

  private static func answer(
    by reader: DocumentReader, _ query: DocumentQuery, in view: any StoreView
  ) throws(StoreError) -> CouchAnswer {
    guard query.revision != nil || !reader.isDeleted else { throw StoreError(.deleted) }
    let revision = target(of: query, by: reader)
    guard let bytes = try reader.revision(revision, in: view) else { throw StoreError(.missing) }
    return CouchAnswer(200, bytes, revision: query.extras.isEmpty ? revision : nil)
  }
}
