package import Documents
package import Stores

/// What a writer may write into a database, beyond the document rules: this service's own `validate_doc_update`. It is
/// not applied to local documents, as in CouchDB, so that a reader's device can store its checkpoints.
package struct WriteRule: Sendable {
  /// A revision that a client wants to write.
  package struct Revision: Sendable {
    package let id: DocumentID
    /// The parent of the revision; nil for none.
    package let parent: RevisionID?
    package let body: DocumentBody
    package let isDeleted: Bool
    /// Whether it was made elsewhere.
    package let isReplicated: Bool
  }

  /// The error by the id alone, before anything is read; nil when the id is allowed.
  let refusal: @Sendable (DocumentID) -> ServiceError?
  /// The error by the content of the revision; nil when it is allowed.
  let refusalOfRevision: @Sendable (Revision, any StoreView) throws -> ServiceError?

  package init(
    refusal: @escaping @Sendable (DocumentID) -> ServiceError?,
    refusalOfRevision: @escaping @Sendable (Revision, any StoreView) throws -> ServiceError?
  ) {
    self.refusal = refusal
    self.refusalOfRevision = refusalOfRevision
  }

  /// The rule that allows everything.
  package static let none = WriteRule(refusal: { _ in nil }, refusalOfRevision: { _, _ in nil })

  /// Checks the changes that an update has recorded.
  /// - Parameter isReplicated: whether they were made elsewhere.
  /// - Throws: the first refusal.
  func check(_ changes: StoreChanges, isReplicated: Bool) throws {
    for mutation in changes.mutations {
      guard let node = mutation.tree[mutation.revision], let body = mutation.body else { continue }
      let revision = Revision(
        id: mutation.id, parent: node.parent.map { mutation.tree.nodes[$0].revision }, body: body,
        isDeleted: node.isDeleted, isReplicated: isReplicated)
      if let refusal = try refusalOfRevision(revision, changes.view) { throw refusal }
    }
  }

  /// Checks one document of several.
  /// - Returns: why it is refused; nil when it is allowed.
  func refusal(of write: DocumentWrite, in view: any StoreView) throws -> ServiceError? {
    let parent: RevisionID? =
      switch write.kind {
      case .edit(let base): base
      case .replicated(let history): history.dropFirst().first
      case .proposed(let proposal):
        try proposal(view.tree(write.id) ?? RevisionTree(), view).history.dropFirst().first
      }
    return try refusalOfRevision(
      Revision(
        id: write.id, parent: parent, body: write.body, isDeleted: write.isDeleted,
        isReplicated: write.isReplicated), view)
  }
}
