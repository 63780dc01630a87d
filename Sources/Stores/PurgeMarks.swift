package import Documents

/// The marks of purged revisions in one state of a store. Nothing is read from a store without purges.
package struct PurgeMarks {
  private let view: any StoreView
  /// Whether the store has never purged anything.
  package let isEmpty: Bool

  package init(_ view: any StoreView) throws {
    self.view = view
    isEmpty = try view.local(.purgeCount) == nil
  }

  /// The marks of a document's purged revisions; empty when nothing was purged in the last time.
  /// - Throws: `integrity` for marks that can't be read.
  package func of(_ id: DocumentID) throws -> PurgedRevisions {
    guard !isEmpty else { return PurgedRevisions() }
    return try Self.stored(id, in: view)
  }

  /// The latest purged revision of an absent document, which a new document continues; nil when there is
  /// none.
  /// - Parameter tree: the document's tree. For a document that exists the result is nil.
  package func former(_ id: DocumentID, _ tree: RevisionTree?) throws -> RevisionID? {
    guard tree == nil else { return nil }
    return try of(id).latest
  }

  /// Records in an update that it purges revisions, and the marks of those revisions.
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

  /// The local document with the marks of a purge; nil when no marks are kept.
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

  private static func stored(_ id: DocumentID, in view: any StoreView) throws -> PurgedRevisions {
    guard let local = try view.local(.purged(id)) else { return PurgedRevisions() }
    do { return try PurgedRevisions(local.body) } catch {
      throw ServiceError(.integrity, "The marks of purged revisions can't be read")
    }
  }
}

extension LocalID {
  /// The prefix of the ids of local documents with marks.
  package static let purgedPrefix = receiptPrefix + "purged/"

  /// The local documents that rules read together with documents. For an engine in which each read takes a
  /// round trip.
  package static func read(with ids: Set<DocumentID>) -> [LocalID] {
    ids.isEmpty ? [] : [purgeCount, attachmentTotal] + ids.flatMap { [purged($0), attached($0)] }
  }

  /// The id of the local document with the marks of one document.
  fileprivate static func purged(_ id: DocumentID) -> LocalID {
    LocalID(receipt: "purged/" + id.text)
  }
}
