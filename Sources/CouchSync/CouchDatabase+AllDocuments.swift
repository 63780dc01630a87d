import Documents
import Stores

extension CouchDatabase {
  /// `GET` and `POST /{db}/_all_docs`: live documents by id, or rows for given keys.
  ///
  /// Source: CouchDB, "GET /{db}/_all_docs".
  /// - Throws: 413 when the answer would be longer than ``CouchLimits/answerBytes``.
  package func allDocuments(_ query: AllDocumentsQuery) async throws(CouchError) -> CouchAnswer {
    let tag = tag
    let bytes = try await reading { view throws(StoreError) in
      var reader = AllDocumentsReader(view, query, of: tag)
      return try reader.answer()
    }
    guard let bytes else { throw Self.tooLong }
    return CouchAnswer(bytes)
  }

  /// `POST /{db}/_all_docs/queries`: several queries, answered from one state.
  ///
  /// Source: CouchDB, "POST /{db}/_all_docs/queries".
  /// - Throws: 413 when the answers together would be longer than ``CouchLimits/answerBytes``.
  package func allDocuments(
    _ queries: [AllDocumentsQuery]
  ) async throws(CouchError) -> CouchAnswer {
    let tag = tag
    let bytes = try await reading { view throws(StoreError) -> [UInt8]? in
      var writer = JSONWriter(reserving: 4_096)
      writer.beginObject()
      writer.name("results")
      writer.beginArray()
      for query in queries {
        var reader = AllDocumentsReader(view, query, of: tag)
        guard let answer = try reader.answer() else { return nil }
        writer.raw(answer)
        guard writer.bytes.count <= CouchLimits.answerBytes else { return nil }
      }
      writer.endArray()
      writer.endObject()
      return writer.bytes
    }
    guard let bytes else { throw Self.tooLong }
    return CouchAnswer(bytes)
  }

  private static let tooLong = CouchError.tooLarge(
    "The answer is too long: ask for fewer with `limit`")
}
