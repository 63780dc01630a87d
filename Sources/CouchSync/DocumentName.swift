package import Documents

/// The id of a document in a request: of a replicated or a local document.
package enum DocumentName: Sendable {
  case document(DocumentID)
  case local(LocalID)

  /// Reads an id; the ids of local documents begin with `_local/`.
  /// - Throws: ``DocumentError`` with code `invalidID`.
  package init(_ text: String) throws(DocumentError) {
    self =
      text.utf8.starts(with: LocalID.clientPrefix.utf8)
      ? .local(try LocalID(client: text)) : .document(try DocumentID(text))
  }
}

/// The document that `COPY` writes, and the revision that it replaces.
package enum CopyTarget: Sendable {
  /// A document and its present revision; nil for a new document.
  case document(DocumentID, base: RevisionID?)
  /// A local document and the number of its present revision; nil for a new one.
  case local(LocalID, base: Int64?)

  /// Reads the parts of the header `Destination`.
  /// - Parameter revision: the revision as sent.
  /// - Throws: 400 for a malformed id or revision.
  package init(_ text: String, revision: String?) throws {
    switch try DocumentName(text) {
    case .document(let id):
      self = .document(id, base: try BaseRevision(query: revision, ifMatch: nil).revision)
    case .local(let id):
      self = .local(id, base: try revision.map { text in try LocalRevision.read(text) })
    }
  }
}
