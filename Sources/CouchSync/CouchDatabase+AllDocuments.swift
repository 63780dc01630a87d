import Documents
import Stores

extension CouchDatabase {
  /// `GET` and `POST /{db}/_all_docs`: live documents by id, or rows for given keys.
  ///
  /// Source: CouchDB, "GET /{db}/_all_docs".
  /// - Throws: 413 when the answer would be longer than ``CouchLimits/answerBytes``.
  package func allDocuments(_ query: AllDocumentsQuery) async throws(CouchError) -> CouchAnswer {
    let bytes = try await reading(inSlices: AllDocumentsReader(query, of: tag)) {
      reader, view throws(StoreError) in try reader.read(view) ? .some(reader.answer) : nil
    }
    guard let bytes else { throw Self.tooLong }
    return CouchAnswer(bytes)
  }

  /// `POST /{db}/_all_docs/queries`: several queries, answered one after the other.
  ///
  /// Source: CouchDB, "POST /{db}/_all_docs/queries".
  /// - Throws: 413 when the answers together would be longer than ``CouchLimits/answerBytes``.
  package func allDocuments(
    _ queries: [AllDocumentsQuery]
  ) async throws(CouchError) -> CouchAnswer {
    let bytes = try await reading(inSlices: AllDocumentsListReader(queries, of: tag)) {
      reader, view throws(StoreError) in try reader.read(view) ? .some(reader.answer) : nil
    }
    guard let bytes else { throw Self.tooLong }
    return CouchAnswer(bytes)
  }

  private static let tooLong = CouchError.tooLarge(
    "The answer is too long: ask for fewer with `limit`")
}
