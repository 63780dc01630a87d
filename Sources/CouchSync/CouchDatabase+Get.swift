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
    // With extras it may look for the bodies of many revisions.
    guard query.extras.isEmpty else {
      return try await reading { view throws(StoreError) in try Self.answer(id, query, in: view) }
    }
    return try await glancing { view throws(StoreError) in try Self.answer(id, query, in: view) }
  }

  private static func answer(
    _ id: DocumentID, _ query: DocumentQuery, in view: any StoreView
  ) throws(StoreError) -> CouchAnswer {
    let reader = try DocumentReader(
      id, in: view, extras: query.extras, needsTree: query.revision != nil)
    guard let reader else { throw StoreError(.missing) }
    guard var revision = query.revision else {
      guard !reader.isDeleted else { throw StoreError(.deleted) }
      return CouchAnswer(
        200, try reader.winning(), revision: query.extras.isEmpty ? reader.winningRevision : nil)
    }
    if query.latest, let leaf = reader.leaves(below: revision).first { revision = leaf }
    guard let bytes = try reader.revision(revision) else { throw StoreError(.missing) }
    return CouchAnswer(200, bytes, revision: query.extras.isEmpty ? revision : nil)
  }
}
