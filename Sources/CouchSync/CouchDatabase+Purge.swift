import Documents
import Stores

extension CouchDatabase {
  /// `POST /{db}/_purge`: forgets leaves, and with its last leaf a document. Documents are committed some at a time,
  /// each whole. What is forgotten leaves nothing to replicate, and for 90 days a peer that still has it does not bring
  /// it back; see ``PurgedRevisions``.
  ///
  /// Source: CouchDB, "POST /{db}/_purge".
  /// - Returns: 201 with the leaves that were forgotten, by document in the order of the request. Revisions
  ///   that are unknown or no leaves are left out, and an id without any has an empty array.
  /// - Throws: what is wrong with the store; what was committed before stays. A full store is no obstacle.
  package func purge(_ request: PurgeRequest) async throws(CouchError) -> CouchAnswer {
    var purged: [[RevisionID]] = []
    while purged.count < request.documents.count {
      let rest = request.documents.dropFirst(purged.count)
      purged += try await updating(Set(rest.map(\.id))) { view throws(StoreError) in
        try Self.purging(rest, in: view)
      }
      try await CouchError.givingWay()
    }
    return Self.answer(to: request, purged)
  }

  /// Forgets leaves of the first of some documents: as many as are decided in the time of a commit, one at least.
  private static func purging(
    _ documents: ArraySlice<(id: DocumentID, revisions: [RevisionID])>, in view: any StoreView
  ) throws(StoreError) -> Decision<[[RevisionID]]> {
    var decision = Decision<[[RevisionID]]>(value: [])
    let end = ContinuousClock.now + CouchLimits.commitTime
    for (id, revisions) in documents where ContinuousClock.now < end || decision.value.isEmpty {
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
