package import Documents

/// Which revision of a document is asked for, and with what.
///
/// Source: CouchDB, "GET /{db}/{docid}".
package struct DocumentQuery: Sendable {
  /// The revision; nil for the winner.
  package var revision: RevisionID?
  /// Whether a revision that is no leaf stands for the leaf that it led to.
  package var latest: Bool
  /// What comes with the document.
  package var extras: DocumentExtras

  /// The winner, or a revision.
  package init(
    revision: RevisionID? = nil, latest: Bool = false, extras: DocumentExtras = DocumentExtras()
  ) {
    self.revision = revision
    self.latest = latest
    self.extras = extras
  }

  /// Reads `rev`, `latest` and the extras. Parameters about attachments have nothing to act upon.
  /// - Throws: 400.
  package init(_ parameters: CouchParameters) throws(CouchError) {
    self.init(
      revision: try parameters.revision("rev"), latest: try parameters.flag("latest"),
      extras: try DocumentExtras(parameters))
  }
}
