import Documents
import Stores

extension CouchDatabase {
  /// `GET` and `POST /{db}/_local_docs`: clients' local documents by id, or rows for given keys. The query's
  /// scope says nothing here; ids have their `_local/`.
  ///
  /// Source: CouchDB, "GET /{db}/_local_docs".
  /// - Throws: 413 when the answer would be longer than ``CouchLimits/answerBytes``.
  package func localDocuments(_ query: AllDocumentsQuery) async throws(CouchError) -> CouchAnswer {
    let bytes = try await reading(inSlices: LocalDocumentsReader(query, of: tag)) {
      reader, view throws(StoreError) in try reader.read(view) ? .some(reader.answer) : nil
    }
    guard let bytes else { throw .tooLarge("The answer is too long: ask for fewer with `limit`") }
    return CouchAnswer(bytes)
  }
}
