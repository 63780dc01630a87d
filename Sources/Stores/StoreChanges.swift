package import Documents

/// The changes of one update: what a rule reads, and what it records to be written.
///
/// ```swift
/// let revision = try await store.update(loading: [id], as: context) { changes in
///   try changes.put(id, base: base, body: body)
/// }
/// ```
/// A rule is a pure function and may run more than once. All that it records is written together, or nothing is. A
/// rule that throws writes nothing. The update returns the result of the rule. A document is recorded once at most; for
/// several edits of one document see ``DocumentEdits``.
package struct StoreChanges {
  /// What the store holds: what earlier updates wrote, without what this update records.
  package let view: any StoreView
  package var author = Author.server
  /// When the update's documents count as written.
  package var time = Timestamp(milliseconds: 0)
  /// How much history ``put(_:base:body:isDeleted:)`` and ``delete(_:base:)`` keep of a document.
  package var historyLimits = HistoryLimits.standard
  /// The next states of documents, in order. Each takes the next sequence number.
  package private(set) var mutations: [Mutation] = []
  /// The next states of local documents, each once, in the order of their first edits.
  package private(set) var locals: [LocalEdit] = []
  /// Where the last state of a document or local document is in ``mutations`` and ``locals``. One update may write many
  /// local documents, such as the pieces of attachments, and look each of them up.
  private var latest: (documents: [DocumentID: Int], locals: [LocalID: Int]) = ([:], [:])
  /// Revisions to purge. Each purge takes a sequence number after those of ``mutations``.
  package private(set) var purges: [Purge] = []
  /// Documents that lose bodies of their ancestors. This is no change of the document, so it takes no sequence number.
  package private(set) var forgotten: [ForgottenBodies] = []
  /// Changes of indexes, in order.
  package private(set) var indexes: [IndexEdit] = []
  /// The bytes that attachments of added revisions have, by their names.
  package private(set) var attached: [AttachedRevision: [AttachmentName: AttachmentContent]] = [:]
  /// Attachments of another store. A body that was copied from there names them by their digests.
  package var offered: [NewAttachment] = []
  /// The attachments of which no byte was lost, as far as this update has looked at them.
  var wholeAttachments: Set<AttachmentKey> = []
  /// How many names and bytes of attachments that nothing needs any more this update removes itself.
  var removed = (names: 0, bytes: Int64(0))
  /// Whether more of them are left to later updates; see ``DocumentStore/removeAbandonedAttachments()``.
  var leavesAbandoned = false
  /// By how many bytes the store's attachments grow.
  package internal(set) var attachedBytes: Int64 = 0
  /// By how many bytes the local documents of a list's members grow, without checkpoints; negative for those that they free.
  package internal(set) var sharedBytes: Int64 = 0
  /// Whether written documents keep bodies of ancestors. If not, they keep only the bodies of their leaves.
  package var keepsHistory = true
  /// Whether the update copies complete documents from another store, with as much history as that store
  /// kept. The quota then counts all of that history, and none of it is left out.
  package var isWhole = false
  /// Whether the update is one step of an erasure, or ends somebody's access. An engine then accepts it when the disk is
  /// full, as it accepts an update that frees space by itself.
  package var freesSpace = false

  package init(of view: any StoreView) { self.view = view }

  package var isEmpty: Bool {
    mutations.isEmpty && locals.isEmpty && purges.isEmpty && indexes.isEmpty && forgotten.isEmpty
  }

  /// Whether a document is recorded twice. No engine writes such an update.
  package var changesTwice: Bool {
    let ids = mutations.map(\.id) + purges.map(\.id)
    return ids.count > 1 && Set(ids).count != ids.count
  }

  /// Records a document's next state; does nothing when `mutation` is nil.
  package mutating func write(_ mutation: Mutation?) {
    guard let mutation else { return }
    latest.documents[mutation.id] = mutations.count
    mutations.append(mutation)
  }

  /// Records a local document's next state. The rule has already compared revisions.
  package mutating func write(_ local: LocalEdit) {
    if let index = latest.locals[local.id] { return locals[index] = local }
    latest.locals[local.id] = locals.count
    locals.append(local)
  }

  /// Records which bytes the attachments of an added revision have. Without it, an attachment has the bytes that an
  /// attachment of the same name and digest has in an earlier revision.
  package mutating func attach(
    _ contents: [AttachmentName: AttachmentContent], to revision: AttachedRevision
  ) throws {
    attached[revision] = contents
    for case .new(let new) in contents.values where new.held != nil {
      if try view.attachment(new.facts.key) == nil { attachedBytes += new.facts.length }
    }
  }

  package mutating func purge(_ purge: Purge) { purges.append(purge) }

  /// Records that a document keeps only the bodies of its leaves from now on.
  package mutating func dropHistory(of id: DocumentID) { forget(ForgottenBodies(of: id)) }

  /// Records that a document loses bodies of its ancestors.
  package mutating func forget(_ bodies: ForgottenBodies) { forgotten.append(bodies) }

  package mutating func write(_ index: IndexEdit) { indexes.append(index) }

  /// The complete revision tree of a document, with what this update has recorded.
  package func tree(_ id: DocumentID) throws -> RevisionTree? {
    guard let mutation = latest.documents[id].map({ mutations[$0] }) else {
      return try view.tree(id)
    }
    guard mutation.tree.older > 0 else { return mutation.tree }
    return try mutation.tree.completed(from: try view.tree(id) ?? RevisionTree())
  }

  /// A local document, with what this update has recorded.
  package func local(_ id: LocalID) throws -> LocalDocument? {
    if let index = latest.locals[id] { return locals[index].document }
    return try view.local(id)
  }

  /// Adds a revision to a document; see ``Edit/put(_:in:base:after:body:isDeleted:limit:)``.
  /// - Returns: the new revision.
  /// - Throws: ``DocumentError``, for example `conflict` when `base` is not a leaf.
  @discardableResult
  package mutating func put(
    _ id: DocumentID, base: RevisionID?, body: DocumentBody, isDeleted: Bool = false
  ) throws -> RevisionID {
    let tree = try view.newest(id)
    let former = try view.former(id, tree)
    let mutation = try Edit.put(
      id, in: tree, base: base, after: former, body: body, isDeleted: isDeleted,
      limit: historyLimits)
    write(mutation)
    return mutation.revision
  }

  /// Adds a tombstone to a document; see ``Edit/delete(_:in:base:body:limit:)``.
  /// - Returns: the tombstone's revision.
  /// - Throws: the errors of ``put(_:base:body:isDeleted:)``.
  @discardableResult
  package mutating func delete(_ id: DocumentID, base: RevisionID?) throws -> RevisionID {
    let tree = try view.newest(id)
    let mutation = try Edit.delete(id, in: tree, base: base, limit: historyLimits)
    write(mutation)
    return mutation.revision
  }
}

/// Bodies of a document's ancestors that are removed. The revisions stay in its tree.
package struct ForgottenBodies: Sendable, Equatable {
  package let id: DocumentID
  /// The revisions that lose their bodies; nil for all. The body of a leaf always stays.
  package let revisions: Set<RevisionID>?

  package init(of id: DocumentID, revisions: Set<RevisionID>? = nil) {
    self.id = id
    self.revisions = revisions
  }

  /// Whether a revision of the document loses its body.
  /// - Parameter leaves: the document's leaves.
  package func contains(_ revision: RevisionID, leaves: Set<RevisionID>) -> Bool {
    !leaves.contains(revision) && revisions?.contains(revision) ?? true
  }
}
