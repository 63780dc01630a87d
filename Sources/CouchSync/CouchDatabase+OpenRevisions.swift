package import Documents
import Stores

extension CouchDatabase {
  /// `GET /{db}/{docid}?open_revs=…`: several revisions of one document at once, in the order of the request, or
  /// winner first.
  ///
  /// Source: CouchDB, "GET /{db}/{docid}: open_revs".
  /// - Throws: 404 `missing` for all leaves of an id never used; 413 beyond ``CouchLimits/answerBytes``; 503 when
  ///   there is no memory for the answer.
  package func openRevisions(
    _ id: DocumentID, _ wanted: OpenRevisions, _ query: DocumentQuery,
    as form: OpenRevisions.Form = .json
  ) async throws(CouchError) -> CouchAnswer {
    if case .these(let revisions) = wanted, revisions.count > CouchLimits.askedRevisions {
      throw .tooLarge("A request has at most \(CouchLimits.askedRevisions) revisions")
    }
    return try await answer(
      by: OpenRevisionsReader(id, wanted, query, as: form), advice: "ask for fewer revisions")
  }
}
