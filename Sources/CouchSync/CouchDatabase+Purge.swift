import Documents
import Stores

extension CouchDatabase {
  /// `POST /{db}/_purge`: forgets leaves, and with its last leaf a document, in one transaction. What is
  /// forgotten leaves nothing to replicate; a peer that still has it brings it back.
  ///
  /// Source: CouchDB, "POST /{db}/_purge".
  /// - Returns: 201 with the leaves that were forgotten, by document in the order of the request. Revisions
  ///   that are unknown or no leaves are left out, and an id without any has an empty array.
  /// - Throws: what is wrong with the store. A full store is no obstacle.
  package func purge(_ request: PurgeRequest) async throws(CouchError) -> CouchAnswer {
    let ids = Set(request.documents.map(\.id))
    let purged = try await updating(ids) { view throws(StoreError) in
      var decision = Decision<[[RevisionID]]>(value: [])
      for (id, revisions) in request.documents {
        let tree = try view.tree(id)
        let places = tree?.places(of: revisions) ?? [:]
        let leaves = revisions.filter { revision in
          places[revision].flatMap { tree?.nodes[$0].isLeaf } ?? false
        }
        decision.value.append(leaves)
        guard let tree, !leaves.isEmpty else { continue }
        decision.purges.append(Purge(id: id, tree: tree.purging(Set(leaves))))
      }
      return decision
    }
    return Self.answer(to: request, purged)
  }

  private static func answer(
    to request: PurgeRequest, _ purged: [[RevisionID]]
  ) -> CouchAnswer {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("purge_seq")
    writer.null()
    writer.name("purged")
    writer.beginObject()
    for ((id, _), revisions) in zip(request.documents, purged) {
      writer.name(id.text)
      MissingRevisions.append(revisions, to: &writer)
    }
    writer.endObject()
    writer.endObject()
    return CouchAnswer(201, writer.bytes)
  }
}
