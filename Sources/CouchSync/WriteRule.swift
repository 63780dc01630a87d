package import Documents
package import Stores

/// What a database lets its writer do beyond what documents allow: this service's own `validate_doc_update`. Local
/// documents are not asked for, as in CouchDB: a reader's device keeps its checkpoints.
package struct WriteRule: Sendable {
  /// One revision that somebody wants to write.
  package struct Revision: Sendable {
    /// Which document.
    package let id: DocumentID
    /// The revision that it goes on from; nil for none.
    package let parent: RevisionID?
    /// What it says.
    package let body: DocumentBody
    /// Whether it is a tombstone.
    package let isDeleted: Bool
  }

  /// Refuses by the id alone, before anything is read; nil to go on.
  let refusal: @Sendable (DocumentID) -> ServiceError?
  /// Refuses by what the revision says; nil to let it in.
  let refusalOfRevision: @Sendable (Revision, any StoreView) throws -> ServiceError?

  /// A rule in two steps.
  package init(
    refusal: @escaping @Sendable (DocumentID) -> ServiceError?,
    refusalOfRevision: @escaping @Sendable (Revision, any StoreView) throws -> ServiceError?
  ) {
    self.refusal = refusal
    self.refusalOfRevision = refusalOfRevision
  }

  /// Everything is let in.
  package static let none = WriteRule(refusal: { _ in nil }, refusalOfRevision: { _, _ in nil })

  /// Looks at what an update has recorded.
  /// - Throws: the refusal.
  func check(_ changes: StoreChanges) throws {
    for mutation in changes.mutations {
      guard let node = mutation.tree[mutation.revision], let body = mutation.body else { continue }
      let revision = Revision(
        id: mutation.id, parent: node.parent.map { mutation.tree.nodes[$0].revision }, body: body,
        isDeleted: node.isDeleted)
      if let refusal = try refusalOfRevision(revision, changes.view) { throw refusal }
    }
  }

  /// Looks at one document of several.
  /// - Returns: why it is not let in; nil where it is.
  func refusal(of write: DocumentWrite, in view: any StoreView) throws -> ServiceError? {
    let parent: RevisionID? =
      switch write.kind {
      case .edit(let base): base
      case .replicated(let history): history.dropFirst().first
      }
    return try refusalOfRevision(
      Revision(id: write.id, parent: parent, body: write.body, isDeleted: write.isDeleted), view)
  }
}
