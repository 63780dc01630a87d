import Documents
import Stores

extension CouchDatabase {
  /// `POST /{db}/_bulk_get`: many revisions at once, tombstones included; without `rev` every leaf.
  ///
  /// CouchDB's replicator wants one entry for each element asked, in order, each with one document that
  /// has exactly the key `ok` or `error`.
  /// Source: CouchDB, "POST /{db}/_bulk_get".
  /// - Throws: 413 when the answer would be longer than ``CouchLimits/answerBytes``; clients then ask one
  ///   by one. 503 when there is no memory for it.
  package func bulkGet(_ request: BulkGetRequest) async throws(CouchError) -> CouchAnswer {
    try await answer(by: BulkGetReader(request), advice: "ask for fewer documents")
  }
}
