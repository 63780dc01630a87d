package import Documents

/// The bytes of an attachment that a document names: new ones, or some that the store has.
package enum AttachmentContent: Sendable {
  case new(NewAttachment)
  case stored(AttachmentKey)
}

/// The bytes of an attachment that have arrived completely.
package struct NewAttachment: Sendable {
  package let facts: AttachmentFacts
  /// The pieces; nil if they were written to the store.
  let held: [[UInt8]]?

  /// The bytes of the pieces in memory.
  package var heldBytes: Int { held?.reduce(0) { $0 + $1.count } ?? 0 }
}

/// A revision whose attachments' bytes an update gives.
package struct AttachedRevision: Hashable, Sendable {
  let id: DocumentID
  let revision: RevisionID

  package init(id: DocumentID, revision: RevisionID) {
    self.id = id
    self.revision = revision
  }
}
