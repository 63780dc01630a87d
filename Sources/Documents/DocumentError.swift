/// Why a document, an id or a revision was refused. The reason may be shown to a client.
package struct DocumentError: Error, Sendable, Equatable, CustomDebugStringConvertible {
  /// What went wrong. The enumeration is complete, so that each adapter handles every case.
  package enum Code: String, Sendable, CaseIterable {
    /// The edit names a revision that is not, or no longer, a leaf, or it names none where one is needed.
    case conflict
    /// The document or the revision is unknown.
    case missing
    /// The document's winner is a tombstone.
    case deleted
    /// The id breaks the rules of ``DocumentID`` or ``LocalID``.
    case invalidID
    /// The revision breaks the grammar of ``RevisionID``.
    case invalidRevision
    /// The document's own fields contradict each other or are unknown.
    case invalidDocument
    /// The text is not JSON that may be stored; see ``JSONError``.
    case invalidJSON
    case tooLarge
    /// An attachment's name, type or bytes are not what they have to be.
    case invalidAttachment
    /// The attachments' names, types or number are beyond a limit that CouchDB does not have.
    case attachmentLimit
    /// A stub names an attachment whose bytes are not here.
    case missingStub
    /// The document has the highest number of leaves, or its tree would be too large.
    case tooManyLeaves
    /// The revision is known with another body: one of the two peers has an error.
    case revisionCollision
    /// A stored tree or body differs from what was written.
    case damaged
  }

  package let code: Code
  /// A sentence for the client that says what to change.
  package let reason: String
  /// The parser's error, when ``code`` is `invalidJSON` or `tooLarge`.
  package let json: JSONError?

  package init(_ code: Code, _ reason: String, json: JSONError? = nil) {
    self.code = code
    self.reason = reason
    self.json = json
  }

  /// Creates an error for a text that the parser refused.
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
