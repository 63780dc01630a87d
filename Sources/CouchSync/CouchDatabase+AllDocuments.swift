import Documents
import Stores

extension CouchDatabase {
  /// `GET` and `POST /{db}/_all_docs`: live documents by id, or rows for given keys.
  ///
  /// Source: CouchDB, "GET /{db}/_all_docs".
  /// - Throws: 413 when the answer would be longer than ``CouchLimits/answerBytes``.
  package func allDocuments(_ query: AllDocumentsQuery) async throws(CouchError) -> CouchAnswer {
    let bytes = try await reading { view throws(StoreError) in
      var reader = AllDocumentsReader(view, query)
      return try reader.answer()
    }
    guard let bytes else { throw .tooLarge("The answer is too long: ask for fewer with `limit`") }
    return CouchAnswer(bytes)
  }
}
