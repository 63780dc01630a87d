package import Documents

/// One update of a store in the making: what a rule reads, and what it records to be written.
///
/// ```swift
/// let revision = try await store.update(loading: [id]) { changes in
///   try changes.put(id, base: base, body: body)
/// }
/// ```
/// A rule is a pure function: it may run more than once, and all that it records is written together or not at all. A
/// rule that throws has written nothing. What it returns is the answer of the update. A document is recorded once; see
/// ``DocumentEdits`` for several edits of one.
package struct StoreChanges {
  /// What the store holds: what updates before this one wrote, and nothing of what this one records.
  package let view: any StoreView
  /// Who writes.
  package var author = Author.server
  /// How much history the documents keep that ``put(_:base:body:isDeleted:)`` and ``delete(_:base:)`` write.
  package var historyLimits = HistoryLimits.standard
  /// Documents' next states, in order; each takes the next sequence number.
  package private(set) var mutations: [Mutation] = []
  /// Local documents' next states, in order.
  package private(set) var locals: [LocalEdit] = []
  /// Revisions to forget; each takes a sequence number after those of ``mutations``.
  package private(set) var purges: [Purge] = []
  /// Documents that are to keep the bodies of their leaves alone. They do not change by that, and get no number.
  package private(set) var withoutHistory: [DocumentID] = []
  /// What to write into indexes, in order.
  package private(set) var indexes: [IndexEdit] = []
  /// Whether written documents keep bodies of ancestors; without them, only leaves' bodies are left.
  package var keepsHistory = true
  /// Whether it brings whole documents from another store, with as much history as that one kept: the quota holds for
  /// all of it, and none of it is left out.
  package var isWhole = false
  /// What the use case answers, where that is not what the rule returns; see ``WriteReceipt``.
  package var outcome: (any Sendable)?
  /// Whether it is one step of an erasure: a full disk takes it, as it takes what makes room by itself.
  package var freesSpace = false

  /// Nothing yet.
  package init(of view: any StoreView) { self.view = view }

  /// Whether nothing is to be written.
  package var isEmpty: Bool {
    mutations.isEmpty && locals.isEmpty && purges.isEmpty && indexes.isEmpty
      && withoutHistory.isEmpty
  }

  /// Whether a document is recorded twice, which no engine writes.
  package var changesTwice: Bool {
    let ids = mutations.map(\.id) + purges.map(\.id)
    return ids.count > 1 && Set(ids).count != ids.count
  }

  /// Records a document's next state, if there is one.
  package mutating func write(_ mutation: Mutation?) {
    if let mutation { mutations.append(mutation) }
  }

  /// Records a local document's next state. The rule has compared revisions.
  package mutating func write(_ local: LocalEdit) { locals.append(local) }

  /// Records that revisions are to be forgotten.
  package mutating func purge(_ purge: Purge) { purges.append(purge) }

  /// Records that a document is to keep the bodies of its leaves alone.
  package mutating func dropHistory(of id: DocumentID) { withoutHistory.append(id) }

  /// Records a change of an index.
  package mutating func write(_ index: IndexEdit) { indexes.append(index) }

  /// The history of a document, with what is recorded of it.
  package func tree(_ id: DocumentID) throws -> RevisionTree? {
    guard let mutation = mutations.last(where: { $0.id == id }) else { return try view.tree(id) }
    guard mutation.tree.older > 0 else { return mutation.tree }
    return try mutation.tree.completed(from: try view.tree(id) ?? RevisionTree())
  }

  /// A local document, with what is recorded of it.
  package func local(_ id: LocalID) throws -> LocalDocument? {
    if let edit = locals.last(where: { $0.id == id }) { return edit.document }
    return try view.local(id)
  }

  /// Puts a revision on a document; see ``Edit/put(_:in:base:after:body:isDeleted:limit:)``.
  /// - Returns: the new revision.
  /// - Throws: ``DocumentError``, such as `conflict` where `base` is no leaf.
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

  /// Puts a tombstone on a document; see ``Edit/delete(_:in:base:body:limit:)``.
  /// - Returns: the tombstone's revision.
  /// - Throws: as ``put(_:base:body:isDeleted:)``.
  @discardableResult
  package mutating func delete(
    _ id: DocumentID, base: RevisionID?
  ) throws -> RevisionID {
    let tree = try view.newest(id)
    let mutation = try Edit.delete(id, in: tree, base: base, limit: historyLimits)
    write(mutation)
    return mutation.revision
  }
}

/// A local document's next state. The rule has already compared revisions.
package struct LocalEdit: Sendable {
  /// Which one.
  package let id: LocalID
  /// Its next state; nil removes it.
  package let document: LocalDocument?
  /// When it may be forgotten; nil for never.
  package let expires: Timestamp?

  /// A local document's next state.
  package init(_ id: LocalID, _ document: LocalDocument?, expires: Timestamp? = nil) {
    self.id = id
    self.document = document
    self.expires = expires
  }
}
