package import Documents

/// The revisions that one `_bulk_get` asks for.
///
/// Source: CouchDB, "POST /{db}/_bulk_get".
package struct BulkGetRequest: Sendable {
  /// One element of `docs`, whose `id` and `rev` are checked when it is answered.
  struct Entry: Sendable {
    /// The document; nil where the element has none that is text.
    let id: String?
    /// The revision as it was sent; nil for every leaf.
    let sentRevision: String?
    /// The revision; nil where none was sent, or none that is one.
    let revision: RevisionID?

    init(id: String?, revision: String?) {
      self.id = id
      sentRevision = revision
      self.revision = revision.flatMap { try? RevisionID($0) }
    }
  }

  /// The elements, in order.
  let entries: [Entry]
  /// What comes with each document.
  let extras: DocumentExtras
  /// Whether a revision that is no leaf stands for the leaves that it led to.
  let latest: Bool

  /// Reads a body and the query's `revs` and `latest`. CouchDB's replicator repeats them in the body,
  /// where they count as well.
  /// - Throws: 400 for a body without `docs`; 413 for too many.
  package init(_ body: JSONNode, _ parameters: CouchParameters) throws(CouchError) {
    entries = try CouchBody.documents(in: body).map { node in
      Entry(id: node["id"]?.string, revision: node["rev"]?.string)
    }
    var extras = DocumentExtras()
    extras.revisions = try parameters.flag("revs", default: body["revs"]?.bool ?? false)
    self.extras = extras
    latest = try parameters.flag("latest", default: body["latest"]?.bool ?? false)
  }
}
