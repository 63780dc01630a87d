package import Documents

/// Which document a client names: one that is replicated, or a local one.
package enum DocumentName: Sendable {
  /// One that is replicated.
  case document(DocumentID)
  /// One that is not.
  case local(LocalID)

  /// Reads an id; `_local/` begins local ones.
  /// - Throws: ``DocumentError`` with code `invalidID`.
  package init(_ text: String) throws {
    self =
      text.utf8.starts(with: LocalID.clientPrefix.utf8)
      ? .local(try LocalID(client: text)) : .document(try DocumentID(text))
  }
}

/// What `COPY` writes, and over which revision.
package enum CopyTarget: Sendable {
  /// A document, and the revision that it has; nil where it is new.
  case document(DocumentID, base: RevisionID?)
  /// A local document, and how often the writer saw it written.
  case local(LocalID, base: Int64?)

  /// Takes the parts of the header `Destination`.
  /// - Parameter revision: the revision as it was sent.
  /// - Throws: 400 for a malformed id or revision.
  package init(_ text: String, revision: String?) throws {
    let name: DocumentName
    name = try DocumentName(text)
    switch name {
    case .document(let id):
      self = .document(id, base: try BaseRevision(query: revision, ifMatch: nil).revision)
    case .local(let id):
      self = .local(
        id, base: try revision.map { text in try LocalRevision.read(text) })
    }
  }
}
