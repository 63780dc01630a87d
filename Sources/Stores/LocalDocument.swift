package import Documents

/// A local document. Its revision is a counter (`0-N` for clients).
package struct LocalDocument: Sendable, Equatable {
  /// How often the document was written, from 1.
  package let revision: Int64
  /// The body. The body of a client's document is JSON.
  package let body: [UInt8]

  package init(revision: Int64, body: [UInt8]) {
    self.revision = revision
    self.body = body
  }
}

/// A local document's next state. The rule has already compared revisions.
package struct LocalEdit: Sendable {
  package let id: LocalID
  /// Its next state; nil removes it.
  package let document: LocalDocument?
  /// When the document expires; nil when it never expires.
  package let expires: Timestamp?

  /// A local document's next state.
  package init(_ id: LocalID, _ document: LocalDocument?, expires: Timestamp? = nil) {
    self.id = id
    self.document = document
    self.expires = expires
  }
}
