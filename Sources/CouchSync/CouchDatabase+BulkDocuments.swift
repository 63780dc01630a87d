import Documents
import Lanes
import Stores

extension CouchDatabase {
  /// `POST /{db}/_bulk_docs`: writes many documents, each independent of the others.
  ///
  /// They are committed some at a time. A document's second revision in the same request sees the first; those that
  /// are committed together are one change of the document.
  /// Source: CouchDB, "POST /{db}/_bulk_docs".
  /// - Returns: 201 with one element a document, in order; for a peer's revisions with those only that
  ///   were refused.
  /// - Throws: what is wrong with the store, not with a document.
  package func bulkDocuments(_ request: BulkRequest) async throws(CouchError) -> CouchAnswer {
    var entries: [BulkEntry] = []
    var items: [BulkWriter.Item] = []
    entries.reserveCapacity(request.nodes.count)
    for (place, node) in request.nodes.enumerated() {
      let entry = BulkEntry(node, isNewEdit: request.isNewEdit, newID: newID)
        .checked(by: checkDesign)
      entries.append(entry)
      if case .success(let write) = entry.write {
        items.append(BulkWriter.Item(place: place, write: write))
      }
      do { try await Slice.giveWay() } catch { throw CouchError(StoreError.ended) }
    }
    var bulk = BulkWriter(store, count: entries.count)
    do { try await bulk.write(items) } catch { throw CouchError(error) }
    var writer = JSONWriter(reserving: entries.count * 96 + 2)
    writer.beginArray()
    for (place, entry) in entries.enumerated() {
      let outcome = bulk.outcomes[place] ?? entry.write.map { _ in nil }
      Self.append(outcome, of: entry, isNewEdit: request.isNewEdit, to: &writer)
    }
    writer.endArray()
    return CouchAnswer(201, writer.bytes)
  }

  private static func append(
    _ outcome: BulkWriter.Outcome, of entry: BulkEntry, isNewEdit: Bool, to writer: inout JSONWriter
  ) {
    switch outcome {
    case .success(let revision):
      guard isNewEdit else { return }
      CouchAnswer.appendWritten(
        id: entry.id ?? "", revision: revision?.description ?? "", to: &writer)
    case .failure(let error):
      writer.beginObject()
      if let id = entry.id { writer.member("id", id) }
      (isNewEdit ? error : error.forReplication).appendMembers(to: &writer)
      writer.endObject()
    }
  }
}
