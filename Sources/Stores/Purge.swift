package import Documents

/// Revisions of one document that a store forgets: unlike a deletion it leaves no tombstone, and it is not
/// replicated. For a time marks are left, by which the store knows what a peer would bring back.
///
/// Source: CouchDB, "POST /{db}/_purge".
package struct Purge: Sendable {
  /// Which document.
  package let id: DocumentID
  /// What is left of its tree; an empty one removes the document, which is then in no feed. One that is
  /// left keeps its time of birth and moves to the feed's end.
  package let tree: RevisionTree

  /// Whether marks are left: not where no peer could bring anything back.
  let leavesMarks: Bool
  /// Whether they are old tombstones: a copy of the store that has read them already is none the worse.
  let isForAge: Bool

  /// A document's tree after revisions were forgotten.
  package init(
    id: DocumentID, tree: RevisionTree, leavesMarks: Bool = true, isForAge: Bool = false
  ) {
    self.id = id
    self.tree = tree
    self.leavesMarks = leavesMarks
    self.isForAge = isForAge
  }
}

extension StoreView {
  /// How often the store has forgotten revisions, but for old tombstones: who keeps a copy of it can't learn of that
  /// from the feed.
  package func purgeCount() throws -> Int64 {
    try local(.purgeCount)?.revision ?? 0
  }
}

extension LocalID {
  /// The local document whose revision counts purges; see ``PurgeLog``.
  package static let purgeCount = LocalID(receipt: "purges")
}

/// What is left of purged revisions in one state of a store: looked up only where there was ever a purge.
package struct PurgeMarks {
  private let view: any StoreView
  /// Whether the store has forgotten anything yet.
  package let isEmpty: Bool

  /// The marks in one state.
  package init(_ view: any StoreView) throws {
    self.view = view
    isEmpty = try view.local(.purgeCount) == nil
  }

  /// The marks of a document's purged revisions; none where nothing was purged lately.
  /// - Throws: `integrity` for marks that can't be read.
  package func of(_ id: DocumentID) throws -> PurgedRevisions {
    guard !isEmpty else { return PurgedRevisions() }
    return try Self.stored(id, in: view)
  }

  /// What a document goes on from that is not there: its latest purged revision; nil for none.
  /// - Parameter tree: the document's tree; of one that is there nil is the answer.
  package func former(
    _ id: DocumentID, _ tree: RevisionTree?
  ) throws -> RevisionID? {
    guard tree == nil else { return nil }
    return try of(id).latest
  }

  /// Records, besides the purges of an update, that there were some, and what they take away.
  static func note(in changes: inout StoreChanges, at now: Timestamp) throws {
    guard !changes.purges.isEmpty else { return }
    if changes.purges.contains(where: { !$0.isForAge }) {
      var log = try changes.view.purgeLog() ?? PurgeLog()
      log.count &+= 1
      changes.write(log.edit)
    }
    for purge in changes.purges {
      if let note = try note(purge, in: changes.view, at: now) { changes.write(note) }
    }
  }

  /// The note that makes known what a purge takes away; nil where none is to be left.
  private static func note(
    _ purge: Purge, in view: any StoreView, at now: Timestamp
  ) throws -> LocalEdit? {
    guard purge.leavesMarks, let tree = try view.tree(purge.id) else { return nil }
    var purged = try stored(purge.id, in: view)
    purged.add(from: tree, leaving: purge.tree, on: now.day)
    let id = LocalID.purged(purge.id)
    let revision = (try view.local(id)?.revision ?? 0) &+ 1
    return LocalEdit(
      id, LocalDocument(revision: revision, body: purged.bytes),
      expires: now.adding(seconds: Int64(ClosedBranches.days) * 86_400))
  }

  private static func stored(
    _ id: DocumentID, in view: any StoreView
  ) throws -> PurgedRevisions {
    guard let local = try view.local(.purged(id)) else { return PurgedRevisions() }
    do { return try PurgedRevisions(local.body) } catch {
      throw ServiceError(.integrity, "The marks of purged revisions can't be read")
    }
  }
}

extension StoreView {
  /// What a document goes on from that is not there; see ``PurgeMarks/former(_:_:)``.
  package func former(
    _ id: DocumentID, _ tree: RevisionTree?
  ) throws -> RevisionID? {
    guard tree == nil else { return nil }
    return try PurgeMarks(self).former(id, nil)
  }
}

extension LocalID {
  /// What the ids of local documents with such marks start with.
  package static let purgedPrefix = receiptPrefix + "purged/"

  /// The local documents that rules read with documents, for an engine to which each read costs a round trip.
  package static func read(with ids: Set<DocumentID>) -> [LocalID] {
    ids.isEmpty ? [] : [purgeCount] + ids.map { purged($0) }
  }

  /// The marks of one document's purged revisions.
  fileprivate static func purged(_ id: DocumentID) -> LocalID {
    LocalID(receipt: "purged/" + id.text)
  }
}
