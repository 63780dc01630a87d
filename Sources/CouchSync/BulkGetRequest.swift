package import Documents
import Scheduling
import Stores

/// The revisions that one `_bulk_get` asks for.
///
/// Source: CouchDB, "POST /{db}/_bulk_get".
package struct BulkGetRequest: Sendable {
  /// One element of `docs`.
  struct Entry: Sendable {
    /// The document's id.
    let id: String
    /// The revision; nil for every leaf.
    let revision: NamedRevision?
    private let node: JSONNode

    /// Checks an element as CouchDB does, before anything is looked up (`chttpd_db:bulk_get_parse_arg`).
    init(_ node: JSONNode) throws(Fault) {
      // Whether it has a member, without counting: a client decides how many there are.
      guard node.kind == .object, node.members.contains(where: { _ in true }) else {
        throw Fault(.badRequest("document must be a JSON object"))
      }
      guard let id = node["id"] else { throw Fault(.badRequest("document id missed")) }
      guard let text = id.string else {
        throw Fault(id: id, ServiceError(.invalidID, "Document id must be a string"))
      }
      do { _ = try DocumentName(text) } catch { throw Fault(id: id, ServiceError(error)) }
      self.id = text
      let rev = node["rev"]
      revision = rev?.string.flatMap { try? NamedRevision($0) }
      guard rev == nil || revision != nil else {
        throw Fault(id: id, revision: rev, .badRequest("Invalid rev format"))
      }
      self.node = node
    }

    /// Reads `atts_since`, the revisions that the client has; nil if the request says which attachments are wanted. It is
    /// read when the element is answered: a request may have millions of them.
    func attachments() throws(Fault) -> WantedAttachments? {
      guard let list = node["atts_since"], list.kind != .array || list.count > 0 else { return nil }
      do { return try WantedAttachments(since: list) } catch {
        throw Fault(id: node["id"], revision: error.node, .badRequest(error.reason))
      }
    }
  }

  /// What is wrong with an element. The answer repeats its `id` and the wrong revision, whatever they are, up to 1 KiB.
  struct Fault: Error {
    /// The element's `id` as JSON.
    let id: [UInt8]
    /// The wrong revision as JSON.
    let revision: [UInt8]
    let error: ServiceError

    fileprivate init(id: JSONNode? = nil, revision: JSONNode? = nil, _ error: ServiceError) {
      self.id = Self.shown(id)
      self.revision = Self.shown(revision)
      self.error = error
    }

    /// A value as JSON; null for none and for one of more than 1 KiB, which may be as long as the request.
    private static func shown(_ node: JSONNode?) -> [UInt8] {
      guard let node, node.isShort(1 << 10) else { return Array("null".utf8) }
      return node.minified
    }
  }

  /// The elements, in order.
  let entries: [Result<Entry, Fault>]
  /// The indexes of the elements that name a document.
  private let named: [DocumentID: [Int]]
  let extras: DocumentExtras
  let form: OpenRevisions.Form
  /// Whether a revision that is not a leaf is replaced by the leaves that descend from it.
  let latest: Bool

  /// Parameters of a single document, which CouchDB refuses here (`chttpd_db:bulk_get_parse_doc_query`).
  private static let refused = ["open_revs", "new_edits", "w", "rev", "atts_since"]

  /// Reads a body, in slices, and the query's `revs`, `attachments` and `latest`. CouchDB's replicator repeats them in the
  /// body, where they count too.
  /// - Throws: 400 for a body without `docs`, and for a parameter of a single document; 413 for too many documents;
  ///   ``WorkEnded``.
  package init(
    _ body: JSONNode, _ parameters: CouchParameters, as form: OpenRevisions.Form = .json
  ) async throws {
    self.form = form
    if let name = Self.refused.first(where: { parameters[$0] != nil }) {
      throw ServiceError.badRequest("\"\(name)\" query parameter is not acceptable")
    }
    var (entries, named) = ([Result<Entry, Fault>](), [DocumentID: [Int]]())
    for node in try CouchBody.documents(in: body) {
      let entry = Result { () throws(Fault) in try Entry(node) }
      if case .success(let found) = entry {
        named[DocumentID(stored: found.id), default: []].append(entries.count)
      }
      entries.append(entry)
      try await Slice.giveWay()
    }
    (self.entries, self.named) = (entries, named)
    var extras = DocumentExtras()
    let isTrue = { (name: String) in parameters.isTrue(name) || body[name]?.bool == true }
    extras.revisions = isTrue("revs")
    if isTrue("attachments") { extras.attachments = .all }
    self.extras = extras
    latest = isTrue("latest")
  }

  func entries(of id: DocumentID) -> [Entry] {
    (named[id] ?? []).compactMap { try? entries[$0].get() }
  }
}
