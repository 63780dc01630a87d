package import JSON

/// Why a document, an id or a revision was refused. The reason may be shown to a client.
package struct DocumentError: Error, Sendable, Equatable, CustomDebugStringConvertible {
  /// What went wrong; closed, so that each adapter maps every case.
  package enum Code: String, Sendable, CaseIterable {
    /// The edit names a revision that is no leaf (any more), or none where one is needed.
    case conflict
    /// No such document or revision was ever seen.
    case missing
    /// The document's winner is a tombstone.
    case deleted
    /// The id breaks the rules of ``DocumentID`` or ``LocalID``.
    case invalidID
    /// The revision breaks the grammar of ``RevisionID``.
    case invalidRevision
    /// The document's own fields contradict each other or are unknown.
    case invalidDocument
    /// The text is no JSON that may be stored; see ``JSONError``.
    case invalidJSON
    /// The document is over the size limit.
    case tooLarge
    /// The document carries attachments, which are not offered.
    case attachmentsUnsupported
    /// The document has as many leaves as it may have.
    case tooManyLeaves
    /// The revision is known with another body: one of the two peers is wrong.
    case revisionCollision
    /// A stored tree or body can't be read back as it was written.
    case damaged
  }

  /// What went wrong.
  package let code: Code
  /// A sentence for the client that says what to change.
  package let reason: String
  /// The parser's own error where ``code`` is `invalidJSON`.
  package let json: JSONError?

  /// An error with its words.
  package init(_ code: Code, _ reason: String, json: JSONError? = nil) {
    self.code = code
    self.reason = reason
    self.json = json
  }

  /// The error that stands for a text that the parser refused.
  package init(_ error: JSONError) {
    let isLarge = error.code == .tooLarge || error.code == .tooManyValues
    self.init(isLarge ? .tooLarge : .invalidJSON, error.reason, json: error)
  }

  /// The error of a stale or missing revision, in CouchDB's words.
  package static let conflict = DocumentError(.conflict, "Document update conflict.")
  /// The error of an unknown document or revision, in CouchDB's word.
  package static let missing = DocumentError(.missing, "missing")
  /// The error of a document whose winner is a tombstone, in CouchDB's word.
  package static let deleted = DocumentError(.deleted, "deleted")

  package var debugDescription: String { "DocumentError(\(code.rawValue): \(reason))" }
}
