import Documents
import Lanes
import Stores

extension CouchDatabase {
  /// `POST /{db}/_compact`: gives the disk space of what was removed back to the system. Unlike CouchDB, which
  /// answers when it begins, it is done when this returns; other requests to the database wait meanwhile.
  ///
  /// In a database of the administrator's the bodies of former revisions go before, as in CouchDB. People's own stores
  /// keep them: history and restore live of them.
  ///
  /// Source: CouchDB, "POST /{db}/_compact".
  /// - Returns: 202 `{"ok":true}`.
  /// - Throws: what is wrong with the store, a full disk too; no leaf is lost then.
  package func compact() async throws(CouchError) -> CouchAnswer {
    do {
      if case .named = store.name { try await dropHistory() }
      try await store.compact()
    } catch { throw CouchError(error) }
    let value: JSONValue = ["ok": true]
    return CouchAnswer(202, value.bytes)
  }

  private func dropHistory() async throws(StoreError) {
    var reached: Int64? = 0
    while let start = reached {
      let (ids, next) = try await store.read { view throws(StoreError) in
        try Self.documentsWithHistory(after: start, in: view)
      }
      reached = next
      if !ids.isEmpty {
        try await store.update(Set(ids)) { _ throws(StoreError) in
          var decision = Decision(value: ())
          decision.withoutHistory = ids
          return decision
        }
      }
      do { try await Slice.giveWay() } catch { throw .ended }
    }
  }

  /// Documents that may have bodies of former revisions, until the slice is over.
  /// - Returns: besides, the number of the last change that was looked at; nil at the end.
  private static func documentsWithHistory(
    after start: Int64, in view: any StoreView
  ) throws(StoreError) -> (ids: [DocumentID], next: Int64?) {
    let changes = try view.changes(after: start, limit: CouchLimits.compactedDocuments)
    var ids: [DocumentID] = []
    for change in changes {
      if let tree = try view.tree(change.id), tree.nodes.contains(where: { !$0.isLeaf }) {
        ids.append(change.id)
      }
      if Slice.isOver { return (ids, change.sequence) }
    }
    return (ids, changes.count == CouchLimits.compactedDocuments ? changes.last?.sequence : nil)
  }
}
