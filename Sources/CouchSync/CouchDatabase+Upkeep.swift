import Documents
package import JSON
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
  package func compact() async throws -> CouchAnswer {
    if case .named = store.name { try await dropHistory() }
    try await store.compact()
    let value: JSONValue = ["ok": true]
    return CouchAnswer(202, value.bytes)
  }

  private func dropHistory() async throws {
    var reached: Int64? = 0
    while let start = reached {
      let (ids, next) = try await store.read { view in
        try Self.documentsWithHistory(after: start, in: view)
      }
      reached = next
      if !ids.isEmpty {
        try await store.update(loading: Set(ids)) { changes in
          for id in ids { changes.dropHistory(of: id) }
        }
      }
      try await Slice.giveWay()
    }
  }

  /// Documents that may have bodies of former revisions, until the slice is over.
  /// - Returns: besides, the number of the last change that was looked at; nil at the end.
  private static func documentsWithHistory(
    after start: Int64, in view: any StoreView
  ) throws -> (ids: [DocumentID], next: Int64?) {
    let changes = try view.changes(after: start, limit: CouchLimits.compactedDocuments)
    var ids: [DocumentID] = []
    for change in changes {
      if let tree = try view.newest(change.id), tree.nodes.contains(where: { !$0.isLeaf }) {
        ids.append(change.id)
      }
      if Slice.isOver { return (ids, change.sequence) }
    }
    return (ids, changes.count == CouchLimits.compactedDocuments ? changes.last?.sequence : nil)
  }
}

extension CouchDatabase {
  /// `POST /{db}/_purge`: forgets leaves, and with its last leaf a document. Documents are committed some at a time,
  /// each whole. What is forgotten leaves nothing to replicate, and for 90 days a peer that still has it does not bring
  /// it back; see ``PurgedRevisions``.
  ///
  /// Source: CouchDB, "POST /{db}/_purge".
  /// - Returns: 201 with the leaves that were forgotten, by document in the order of the request. Revisions
  ///   that are unknown or no leaves are left out, and an id without any has an empty array.
  /// - Throws: what is wrong with the store; what was committed before stays. A full store is no obstacle.
  package func purge(_ request: PurgeRequest) async throws -> CouchAnswer {
    var purged: [[RevisionID]] = []
    while purged.count < request.documents.count {
      let rest = request.documents.dropFirst(purged.count)
      purged += try await updating(Set(rest.map(\.id))) { changes in
        try Self.purge(rest, in: &changes)
      }
      try await Slice.giveWay()
    }
    return Self.answer(to: request, purged)
  }

  /// Forgets leaves of the first of some documents: as many as are decided in the time of a commit, one at least.
  /// - Returns: the leaves of each.
  private static func purge(
    _ documents: ArraySlice<(id: DocumentID, revisions: [RevisionID])>,
    in changes: inout StoreChanges
  ) throws -> [[RevisionID]] {
    var purged: [[RevisionID]] = []
    let end = ContinuousClock.now + CouchLimits.commitTime
    for (id, revisions) in documents where ContinuousClock.now < end || purged.isEmpty {
      let tree = try changes.view.tree(id)
      let places = tree?.places(of: revisions) ?? [:]
      let leaves = revisions.filter { revision in
        places[revision].flatMap { tree?.nodes[$0].isLeaf } ?? false
      }
      purged.append(leaves)
      guard let tree, !leaves.isEmpty else { continue }
      changes.purge(Purge(id: id, tree: tree.purging(Set(leaves))))
    }
    return purged
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

/// The body of `_purge`: leaves to forget by document id.
///
/// Source: CouchDB, "POST /{db}/_purge".
package struct PurgeRequest: Sendable {
  /// Documents in one request, as in CouchDB (`max_document_id_number`).
  package static let maximumDocuments = 100
  /// Revisions in one request, as in CouchDB (`max_revisions_number`).
  package static let maximumRevisions = 1_000

  /// Ids in the order of the request, each with its revisions. Any text: one that is no id is of no document.
  let documents: [(id: DocumentID, revisions: [RevisionID])]

  /// Reads a body.
  /// - Throws: 400 for anything but an object of arrays of revisions, and for more than
  ///   ``maximumDocuments`` or ``maximumRevisions``, in CouchDB's words.
  package init(_ body: JSONNode) throws {
    guard body.kind == .object else {
      throw ServiceError.badRequest("Request body must be a JSON object")
    }
    guard body.count <= Self.maximumDocuments else {
      throw ServiceError.badRequest("Exceeded maximum number of documents.")
    }
    var documents: [(id: DocumentID, revisions: [RevisionID])] = []
    var count = 0
    for member in body.members {
      guard member.value.kind == .array else {
        throw ServiceError.badRequest("Request body must be an object of arrays of revisions")
      }
      count += member.value.count
      guard count <= Self.maximumRevisions else {
        throw ServiceError.badRequest("Exceeded maximum number of revisions.")
      }
      documents.append(
        (DocumentID(stored: member.name), try RevisionsRequest.revisions(member.value)))
    }
    self.documents = documents
  }
}

extension CouchDatabase {
  /// `GET /{db}/_revs_limit`: how many revision ids are kept along a branch, a bare number.
  package func revisionsLimit() async throws -> CouchAnswer {
    let store = store
    let limits = try await store.readInline { view in
      try store.historyLimits(in: view)
    }
    return CouchAnswer(JSONValue.number(JSONNumber(limits.revisions)).bytes)
  }

  /// `PUT /{db}/_revs_limit`: says how many are kept from the next write of a document on. People's own stores keep
  /// what merging bookmarks needs.
  ///
  /// Source: CouchDB, "PUT /{db}/_revs_limit".
  /// - Throws: 400 for anything but a number from 1 to what the server keeps; 403 for a person's own store.
  package func setRevisionsLimit(_ body: JSONNode) async throws -> CouchAnswer {
    guard case .named = store.name else {
      throw ServiceError(.forbidden, "The limit of people's own stores is the server's")
    }
    guard let limit = body.int, (1...store.historyLimits.revisions).contains(limit) else {
      throw ServiceError.badRequest(
        "`_revs_limit` is a whole number from 1 to \(store.historyLimits.revisions)")
    }
    let note: JSONValue = [DocumentStore.limitMember: .number(JSONNumber(limit))]
    try await updating { changes in
      changes.write(
        LocalEdit(DocumentStore.limitID, LocalDocument(revision: 1, body: note.bytes)))
    }
    return CouchAnswer(Array(#"{"ok":true}"#.utf8))
  }
}

extension DocumentStore {
  /// Where a database keeps the limit that it was given: a note of the service's own.
  static let limitID = LocalID(receipt: "revs_limit")
  /// The note's one member.
  static let limitMember = "limit"

  /// How much history a write keeps: along a branch what the database was given, or the server's limit.
  func historyLimits(in view: any StoreView) throws -> HistoryLimits {
    var limits = historyLimits
    guard case .named = name, let note = try view.local(Self.limitID) else { return limits }
    let given = (try? ParsedJSON(note.body, limits: .small))?.root[Self.limitMember]?.int
    limits.revisions = min(given ?? limits.revisions, limits.revisions)
    return limits
  }
}
