import Documents
import Stores

/// One element of `_bulk_docs`: a document to write, or why it can't be written.
struct BulkEntry: Sendable {
  enum Write: Sendable {
    case document(DocumentWrite)
    case local(LocalID, LocalWrite)
  }

  /// The element's `_id` as received, or the id that was made for it; nil when it has no `_id` that is a string.
  let id: String?
  let sentRevision: String
  /// What to write, or why it is refused.
  let write: Result<Write, ServiceError>
  /// Whether it is a design document with `validate_doc_update`, which is not run.
  private(set) var hasRules = false

  /// Reads an element. A document that CouchDB would accept and this service can never store gets the error
  /// `forbidden`: PouchDB reports such a document as denied and continues. With any other code it would push the same
  /// batch again and again.
  /// - Parameter body: the document's body if it has been read; see ``DocumentBody/readLong(_:)``.
  /// - Throws: errors for what CouchDB refuses too; the whole request then writes nothing.
  init(
    _ element: BulkRequest.Element, read body: DocumentBody? = nil, isNewEdit: Bool,
    limits: DocumentLimits
  ) throws {
    switch element {
    case .refused(let id, let revision, let error):
      self.init(id: id, sentRevision: revision ?? "0-", write: .failure(error))
    case .value(let node):
      guard node.kind == .object else {
        throw ServiceError.badRequest("Document must be a JSON object")
      }
      if let id = try LocalID(of: node) {
        try self.init(id, node, body, limits)
        return
      }
      do {
        let document = try IncomingDocument(node, read: body)
        let write = try DocumentWrite(
          document, id: document.id ?? .untitled(), base: nil, isNewEdit: isNewEdit,
          limits: limits)
        let hasRules = write.id.isDesign && !write.isDeleted && DesignRules.isIn(node)
        self.init(
          id: write.id.text, sentRevision: document.revision?.description ?? "0-",
          write: hasRules && isNewEdit
            ? .failure(DesignRules.refusal) : .success(.document(write)))
        self.hasRules = hasRules
      } catch let error as DocumentError where Self.isCouchDBs(node, error) {
        self.init(
          id: node["_id"]?.string, sentRevision: node["_rev"]?.string ?? "0-",
          write: .failure(ServiceError(.forbidden, error.reason)))
      }
    }
  }

  private init(
    _ id: LocalID, _ node: JSONNode, _ body: DocumentBody?, _ limits: DocumentLimits
  ) throws {
    do {
      let write = try LocalWrite(node, read: body, limits: limits)
      self.init(id: id.text, write: .success(.local(id, write)))
    } catch {
      guard let error = ServiceError(error),
        [.documentTooLarge, .stringTooLong].contains(error.code)
      else { throw error }
      self.init(id: id.text, write: .failure(ServiceError(.forbidden, error.reason)))
    }
  }

  private init(id: String?, sentRevision: String = "0-", write: Result<Write, ServiceError>) {
    self.id = id
    self.sentRevision = sentRevision
    self.write = write
  }

  /// What the answer says of an element, besides the outcome of its write.
  struct Head: Sendable {
    /// See ``BulkEntry/id``.
    let id: String?
    /// See ``BulkEntry/sentRevision``.
    let sentRevision: String
    /// Why it is refused; nil when it is to be written.
    let refusal: ServiceError?
    let isLocal: Bool
    /// See ``BulkEntry/hasRules``.
    let hasRules: Bool
  }

  /// The entry without its document.
  var head: Head {
    var (refusal, isLocal): (ServiceError?, Bool) = (nil, false)
    switch write {
    case .success(.document): break
    case .success(.local): isLocal = true
    case .failure(let error): refusal = error
    }
    return Head(
      id: id, sentRevision: sentRevision, refusal: refusal, isLocal: isLocal, hasRules: hasRules)
  }

  /// The entry, refused when the rule returns an error for its document's id.
  func checked(by rule: (DocumentID) -> ServiceError?) -> BulkEntry {
    guard case .success(.document(let write)) = write else { return self }
    guard let refusal = rule(write.id) else { return self }
    return BulkEntry(id: id, sentRevision: sentRevision, write: .failure(refusal))
  }

  /// What is kept of a replicated document that is refused before it is written; nil if it is not, and for one without an id
  /// and a revision that could be stored.
  /// - Parameter checked: the entry after all checks.
  func refused(as checked: BulkEntry) -> RefusedWrite? {
    guard case .failure(let error) = checked.write else { return nil }
    if case .success(.document(let write)) = write {
      return RefusedWrite(write: write, error: error)
    }
    return RefusedWrite(of: id, sentRevision, error)
  }

  /// The entry with the bytes of its document's attachments. One that is too long is refused alone.
  /// - Throws: 400 for attachments that are malformed.
  func received(_ limit: Int) async throws -> BulkEntry {
    guard case .success(.document(let write)) = write, !write.incoming.isEmpty else { return self }
    var entry: BulkEntry
    do {
      entry = BulkEntry(
        id: id, sentRevision: sentRevision,
        write: .success(.document(try await write.received(limit))))
    } catch let error as ServiceError where error.code == .attachmentTooLarge {
      entry = BulkEntry(
        id: id, sentRevision: sentRevision,
        write: .failure(ServiceError(.forbidden, error.reason)))
    }
    entry.hasRules = hasRules
    return entry
  }

  /// Whether CouchDB would accept a document that is refused here.
  private static func isCouchDBs(_ node: JSONNode, _ error: DocumentError) -> Bool {
    switch error.code {
    case .tooLarge, .attachmentLimit: true
    case .invalidJSON: error.json?.isOfOneValue ?? false
    case .invalidID:
      // CouchDB does not limit the length of an id, and accepts NUL in it.
      node["_id"]?.string.map { id in
        !id.isEmpty && (id.utf8.first != 0x5F || id.utf8.starts(with: "_design/".utf8))
          && !id.equalsBytes(of: "_design/")
      } ?? false
    case .invalidRevision:
      isCouchDBs(revision: node["_rev"]) && isCouchDBs(history: node["_revisions"])
        && (node["_rev"] != nil || node["_revisions"] != nil)
    default: false
    }
  }

  /// CouchDB does not limit the generation, and accepts any text after it.
  private static func isCouchDBs(revision node: JSONNode?) -> Bool {
    guard let node else { return true }
    return node.string.map(NamedRevision.isCouchDBs) ?? false
  }

  private static func isCouchDBs(history node: JSONNode?) -> Bool {
    guard let node else { return true }
    return node["ids"]?.elements.allSatisfy { $0.kind == .string } ?? false
  }
}
