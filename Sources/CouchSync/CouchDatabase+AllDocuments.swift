import Documents
import Stores

extension CouchDatabase {
  /// `GET` and `POST /{db}/_all_docs`, `_design_docs` and `_local_docs`: documents by id, or rows for given keys.
  ///
  /// Source: CouchDB, "GET /{db}/_all_docs", "GET /{db}/_local_docs".
  /// - Throws: 413 when the answer would be longer than ``CouchLimits/answerBytes``; 503 when there is no memory
  ///   for it.
  package func allDocuments(_ query: AllDocumentsQuery) async throws(CouchError) -> CouchAnswer {
    try await answer(by: AllDocumentsReader(query, of: tag), advice: Self.advice)
  }

  /// `POST /{db}/_all_docs/queries`: several queries, answered one after the other.
  ///
  /// Source: CouchDB, "POST /{db}/_all_docs/queries".
  /// - Throws: as for one, for the answers together.
  package func allDocuments(
    _ queries: [AllDocumentsQuery]
  ) async throws(CouchError) -> CouchAnswer {
    try await answer(by: AllDocumentsListReader(queries, of: tag), advice: Self.advice)
  }

  private static let advice = "ask for fewer with `limit`"
}
