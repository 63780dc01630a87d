import Documents
import Stores

extension CouchDatabase {
  /// `GET` and `POST /{db}/_local_docs`: clients' local documents by id, or rows for given keys. The query's
  /// scope says nothing here; ids have their `_local/`.
  ///
  /// Source: CouchDB, "GET /{db}/_local_docs".
  /// - Throws: 413 when the answer would be longer than ``CouchLimits/answerBytes``.
  package func localDocuments(_ query: AllDocumentsQuery) async throws(CouchError) -> CouchAnswer {
    let tag = tag
    let bytes = try await reading { view throws(StoreError) in
      var reader = LocalDocumentsReader(view, query, of: tag)
      return try reader.answer()
    }
    guard let bytes else { throw .tooLarge("The answer is too long: ask for fewer with `limit`") }
    return CouchAnswer(bytes)
  }
}
