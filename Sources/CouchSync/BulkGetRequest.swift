import Documents
package import JSON
import Stores

/// The revisions that one `_bulk_get` asks for.
///
/// Source: CouchDB, "POST /{db}/_bulk_get".
package struct BulkGetRequest: Sendable {
  /// One element of `docs`. Its `id` and `rev` are checked when it is answered.
  struct Entry: Sendable {
    /// Whether the element is an object with members.
    let isObject: Bool
    /// The document's id; nil when the element has no `id` that is a string.
    let id: String?
    /// The revision as sent; nil for every leaf.
    let sentRevision: String?
    /// The revision; nil when none was sent, or the text is not a revision.
    let revision: NamedRevision?
    /// `atts_since`, which is read when the element is answered: all of a request together may be millions of revisions.
    private let since: JSONNode?

    /// Which attachments the element asks for; nil for those of the request.
    /// - Throws: 400 for anything else than a list of revisions, and for more than a branch has.
    func attachments() throws(ServiceError) -> WantedAttachments? {
      guard let since else { return nil }
      let wanted = try WantedAttachments(since: since)
      return wanted.since.isEmpty ? nil : wanted
    }

    init(_ node: JSONNode) {
      isObject = node.kind == .object && node.count > 0
      id = node["id"]?.string
      sentRevision = node["rev"]?.string
      revision = sentRevision.flatMap { try? NamedRevision($0) }
      since = node["atts_since"]
    }
  }

  /// The elements, in order.
  let entries: [Entry]
  /// The indexes of the elements that name a document.
  private let named: [DocumentID: [Int]]
  let extras: DocumentExtras
  let form: OpenRevisions.Form
  /// Whether a revision that is not a leaf is replaced by the leaves that descend from it.
  let latest: Bool

  /// Parameters of a single document, which CouchDB refuses here (`chttpd_db:bulk_get_parse_doc_query`).
  private static let refused = ["open_revs", "new_edits", "w", "rev", "atts_since"]

  /// Reads a body and the query's `revs`, `attachments` and `latest`. CouchDB's replicator repeats them in the body, where they count
  /// too.
  /// - Throws: 400 for a body without `docs`, and for a parameter of a single document; 413 for too many documents.
  package init(
    _ body: JSONNode, _ parameters: CouchParameters, as form: OpenRevisions.Form = .json
  ) throws {
    self.form = form
    if let name = Self.refused.first(where: { parameters[$0] != nil }) {
      throw ServiceError.badRequest("\"\(name)\" query parameter is not acceptable")
    }
    let entries = try CouchBody.documents(in: body).map(Entry.init)
    self.entries = entries
    named = entries.enumerated().reduce(into: [:]) { named, entry in
      guard let id = entry.element.id else { return }
      named[DocumentID(stored: id), default: []].append(entry.offset)
    }
    var extras = DocumentExtras()
    let isTrue = { (name: String) in parameters.isTrue(name) || body[name]?.bool == true }
    extras.revisions = isTrue("revs")
    if isTrue("attachments") { extras.attachments = .all }
    self.extras = extras
    latest = isTrue("latest")
  }

  func entries(of id: DocumentID) -> [Entry] { (named[id] ?? []).map { entries[$0] } }
}
