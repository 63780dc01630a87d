package import Documents
import Scheduling
import Stores

extension CouchDatabase {
  /// `POST /{db}/_compact`: gives the disk space of removed data back to the system. CouchDB answers when compaction
  /// begins; this service answers when it is done. Other requests to the database wait meanwhile.
  ///
  /// In a database that the administrator made, the bodies of former revisions are removed first, as in CouchDB. The
  /// stores of users, guests and lists keep them, because history and restore need them.
  ///
  /// Source: CouchDB, "POST /{db}/_compact".
  /// - Returns: 202 `{"ok":true}`.
  /// - Throws: the store's errors, also for a full disk; no leaf is lost then.
  package func compact() async throws -> CouchAnswer {
    if case .named = store.name { try await dropHistory() }
    try await store.removeAbandonedAttachments()
    try await store.compact()
    return CouchAnswer(.accepted, Array(#"{"ok":true}"#.utf8))
  }

  private func dropHistory() async throws {
    var reached: Int64? = 0
    while let start = reached {
      let (ids, next) = try await store.read { view in
        try Self.documentsWithHistory(after: start, in: view)
      }
      reached = next
      if !ids.isEmpty {
        try await store.update(loading: Set(ids), as: context) { changes in
          for id in ids { changes.dropHistory(of: id) }
        }
      }
      try await Slice.giveWay()
    }
  }

  /// The documents that may have bodies of former revisions, up to the end of the slice.
  /// - Returns: the ids, and the sequence of the last change that was examined; nil at the end.
  private static func documentsWithHistory(
    after start: Int64, in view: any StoreView
  ) throws -> (ids: [DocumentID], next: Int64?) {
    let changes = try view.changes(after: start, limit: CouchLimits.compactedDocuments)
    var ids: [DocumentID] = []
    for change in changes {
      if let tree = try view.newest(change.id), tree.nodes.contains(where: { !$0.isLeaf }) {
        ids.append(change.id)
      }
      if view.slice.isOver { return (ids, change.sequence) }
    }
    return (ids, changes.count == CouchLimits.compactedDocuments ? changes.last?.sequence : nil)
  }

  /// `POST /{db}/_purge`: removes leaves for good, and a document with its last leaf. Documents are committed in
  /// groups, each document as a whole. A purge is not replicated, and for 90 days a peer that still has the revision
  /// does not bring it back; see ``PurgedRevisions``.
  ///
  /// Source: CouchDB, "POST /{db}/_purge".
  /// - Returns: 201 with the purged leaves, by document in the order of the request. Revisions that are unknown or not
  ///   leaves are left out, and an id without any has an empty array.
  /// - Throws: the store's errors; earlier commits remain. Purging works in a full store too.
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

  /// Purges leaves of the first documents: as many documents as the time of one commit allows, at least one.
  /// - Returns: the purged leaves of each document.
  private static func purge(
    _ documents: ArraySlice<(id: DocumentID, revisions: [RevisionID])>,
    in changes: inout StoreChanges
  ) throws -> [[RevisionID]] {
    var purged: [[RevisionID]] = []
    let end = ContinuousClock.now + CouchLimits.commitTime
    for (id, revisions) in documents where ContinuousClock.now < end || purged.isEmpty {
      let tree = try changes.view.tree(id)
      let indices = tree?.indices(of: revisions) ?? [:]
      let leaves = revisions.filter { revision in
        indices[revision].flatMap { tree?.nodes[$0].isLeaf } ?? false
      }
      purged.append(leaves)
      guard let tree, !leaves.isEmpty else { continue }
      changes.purge(Purge(id: id, tree: tree.purging(Set(leaves))))
    }
    return purged
  }

  private static func answer(to request: PurgeRequest, _ purged: [[RevisionID]]) -> CouchAnswer {
    return CouchAnswer(
      .created,
      JSONWriter.object { writer in
        writer.name("purge_seq")
        writer.null()
        writer.object("purged") { writer in
          for ((id, _), revisions) in zip(request.documents, purged) {
            writer.array(id.text, of: revisions) { $1.revision($0) }
          }
        }
      })
  }
}

/// The body of `_purge`: leaves to purge by document id.
///
/// Source: CouchDB, "POST /{db}/_purge".
package struct PurgeRequest: Sendable {
  /// The most documents in one request, as in CouchDB (`max_document_id_number`).
  package static let maximumDocuments = 100
  /// The most revisions in one request, as in CouchDB (`max_revisions_number`).
  package static let maximumRevisions = 1_000

  /// The ids in the order of the request, each with its revisions. Ids are not checked: a text that is not a valid id
  /// matches no document.
  let documents: [(id: DocumentID, revisions: [RevisionID])]

  /// Reads a body.
  /// - Throws: 400 for anything but an object of arrays of revisions, and for more than ``maximumDocuments`` or
  ///   ``maximumRevisions``, with CouchDB's messages.
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
      // A revision that can't be stored is not here, like any other unknown one.
      documents.append(
        (
          DocumentID(stored: member.name),
          try RevisionsRequest.revisions(member.value).compactMap(\.revision)
        ))
    }
    self.documents = documents
  }
}

extension CouchDatabase {
  /// `GET /{db}/_revs_limit`: how many revision ids are kept along a branch, as a bare number.
  package func revisionsLimit() async throws -> CouchAnswer {
    let store = store
    let limits = try await store.readInline { view in
      try store.historyLimits(in: view)
    }
    return CouchAnswer(JSONValue.number(JSONNumber(limits.revisions)).bytes)
  }

  /// `PUT /{db}/_revs_limit`: sets how many revision ids are kept along a branch. It applies from the next write of a
  /// document. It can't be set for the stores of users, guests and lists, which keep the history that merging bookmarks
  /// needs.
  ///
  /// Source: CouchDB, "PUT /{db}/_revs_limit".
  /// - Throws: 400 for anything but a number from 1 to the server's limit; 403 for a store that is not an
  ///   administrator's database.
  package func setRevisionsLimit(_ body: JSONNode) async throws -> CouchAnswer {
    guard case .named = store.name else {
      throw ServiceError(
        .forbidden, "The limit of stores of guests, users and lists can't be changed")
    }
    guard let limit = body.int, (1...store.historyLimits.revisions).contains(limit) else {
      throw ServiceError.badRequest(
        "`_revs_limit` is a whole number from 1 to \(store.historyLimits.revisions)")
    }
    let note: JSONValue = [DocumentStore.limitMember: .number(JSONNumber(limit))]
    try await updating { changes in
      changes.write(LocalEdit(DocumentStore.limitID, LocalDocument(revision: 1, body: note.bytes)))
    }
    return CouchAnswer(Array(#"{"ok":true}"#.utf8))
  }
}

extension DocumentStore {
  /// The local document of the service in which a database keeps the limit that was set.
  static let limitID = LocalID(receipt: "revs_limit")
  /// The document's only member.
  static let limitMember = "limit"

  /// How much history a write keeps: the limit that was set for the database, at most the server's limit.
  func historyLimits(in view: any StoreView) throws -> HistoryLimits {
    var limits = historyLimits
    guard case .named = name, let note = try view.local(Self.limitID) else { return limits }
    let given = (try? ParsedJSON(note.body, limits: .small))?.root[Self.limitMember]?.int
    limits.revisions = min(given ?? limits.revisions, limits.revisions)
    return limits
  }
}
