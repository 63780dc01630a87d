import Documents
import Lanes
import Stores

extension CouchDatabase {
  /// `POST /{db}/_bulk_docs`: writes many documents, each independent of the others.
  ///
  /// They are committed some at a time. A document's second revision in the same request sees the first; those that
  /// are committed together are one change of the document.
  /// Source: CouchDB, "POST /{db}/_bulk_docs".
  /// - Returns: 201 with one element a document, in order; for a peer's revisions with those only that can never be
  ///   stored. 417 with one element a document where all or nothing is asked for.
  /// - Throws: 400 for a malformed document, before anything is written; what is wrong with the store, not with a
  ///   document. Of a peer's revisions 507 `quota_exceeded` when some found no room: a replicator takes what is
  ///   refused in an element for settled and never sends it again.
  package func bulkDocuments(_ request: BulkRequest) async throws(CouchError) -> CouchAnswer {
    var entries: [BulkEntry] = []
    entries.reserveCapacity(request.elements.count)
    let limits = documentLimits
    for element in request.elements {
      let entry = try BulkEntry(
        element, isNewEdit: request.isNewEdit, limits: limits, newID: newID)
      entries.append(entry.checked(by: checkDesign))
      try await CouchError.givingWay()
    }
    guard !request.isAllOrNothing else { return Self.notAtomic(entries) }
    var bulk = BulkWriter(store, count: entries.count)
    do { try await bulk.write(entries) } catch { throw CouchError(error) }
    if !request.isNewEdit, let refusal = bulk.refusal { throw refusal }
    var writer = JSONWriter(reserving: entries.count * 96 + 2)
    writer.beginArray()
    for (place, entry) in entries.enumerated() {
      let outcome = bulk.outcomes[place] ?? entry.write.map { _ in "" }
      Self.append(outcome, of: entry, isNewEdit: request.isNewEdit, to: &writer)
    }
    writer.endArray()
    var answer = CouchAnswer(201, writer.bytes)
    answer.hasUnrunRules = !request.isNewEdit && entries.contains(where: \.hasRules)
    return answer
  }

  private static func append(
    _ outcome: BulkWriter.Outcome, of entry: BulkEntry, isNewEdit: Bool, to writer: inout JSONWriter
  ) {
    switch outcome {
    case .success(let revision):
      guard isNewEdit else { return }
      CouchAnswer.appendWritten(id: entry.id ?? "", revision: revision, to: &writer)
    case .failure(let error):
      writer.beginObject()
      if let id = entry.id { writer.member("id", id) }
      if !isNewEdit { writer.member("rev", entry.sentRevision) }
      (isNewEdit ? error : error.forReplication).appendMembers(to: &writer)
      writer.endObject()
    }
  }

  /// Each document with the reason, as CouchDB 2 and 3 answer.
  private static func notAtomic(_ entries: [BulkEntry]) -> CouchAnswer {
    let error = CouchError(417, "not_implemented", "all_or_nothing is not supported")
    var writer = JSONWriter(reserving: entries.count * 96 + 2)
    writer.beginArray()
    for entry in entries {
      writer.beginObject()
      if let id = entry.id { writer.member("id", id) }
      writer.member("rev", entry.sentRevision)
      error.appendMembers(to: &writer)
      writer.endObject()
    }
    writer.endArray()
    return CouchAnswer(error.status, writer.bytes)
  }
}
