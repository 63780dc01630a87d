package import Documents
import Stores

extension CouchDatabase {
  /// `GET /{db}/{docid}?open_revs=…`: several revisions of one document at once.
  ///
  /// Source: CouchDB, "GET /{db}/{docid}: open_revs".
  /// - Throws: 404 `missing` for all leaves of an id never used; 413 beyond ``CouchLimits/answerBytes``.
  package func openRevisions(
    _ id: DocumentID, _ wanted: OpenRevisions, _ query: DocumentQuery
  ) async throws(CouchError) -> OpenRevisionsAnswer {
    if case .these(let revisions) = wanted, revisions.count > CouchLimits.askedRevisions {
      throw .tooLarge("A request has at most \(CouchLimits.askedRevisions) revisions")
    }
    let reader = OpenRevisionsReader(id, wanted, query)
    let revisions = try await reading(inSlices: reader) { reader, view throws(StoreError) in
      try reader.read(view) ? .some(reader.found) : nil
    }
    guard let revisions else { throw .tooLarge("The answer is too long: ask for fewer revisions") }
    if revisions.isEmpty, wanted == .all { throw .missing }
    return OpenRevisionsAnswer(revisions: revisions)
  }
}
