import Documents
package import JSON
import Lanes
import Stores

/// The documents of one `_bulk_docs`.
///
/// Source: CouchDB, "POST /{db}/_bulk_docs".
package struct BulkRequest: Sendable {
  /// One element of `docs`.
  enum Element: Sendable {
    case value(JSONNode)
    /// A document that exceeds a limit of documents, and the error.
    case refused(id: String?, ServiceError)
  }

  /// The elements, in order.
  private(set) var elements: [Element]
  /// Whether the revisions are made here; false for a peer's revisions.
  let isNewEdit: Bool
  /// Whether `all_or_nothing` is requested, which CouchDB removed in version 2.
  let isAllOrNothing: Bool

  /// Makes a request from a parsed body.
  /// - Throws: 400 for a body that is not a request; 413 for too many documents.
  package init(_ body: JSONNode) throws {
    guard let documents = body["docs"] else {
      throw ServiceError.badRequest("POST body must include `docs` parameter.")
    }
    guard documents.kind == .array else {
      throw ServiceError.badRequest("`docs` parameter must be an array.")
    }
    try Self.check(count: documents.count)
    elements = documents.elements.map(Element.value)
    isNewEdit = try Self.isNewEdit(body)
    isAllOrNothing = isNewEdit && body["all_or_nothing"]?.bool ?? false
  }

  /// Parses a body. A document that exceeds a limit of documents is refused alone; otherwise a replicator would send it
  /// with the same other documents again and again.
  /// - Parameter limits: those of the database.
  /// - Throws: 400 and 413: the errors of the other initializer, and those for a body that is not JSON or is too long
  ///   as a whole.
  package static func read(
    _ bytes: [UInt8], limits: DocumentLimits
  ) async throws -> BulkRequest {
    var reader = JSONReader(bytes, limits: limits.bulk)
    while true {
      let parsed: ParsedJSON?
      do { parsed = try reader.next() } catch {
        guard error.isOfOneValue else { throw error }
        return try await readApart(bytes, limits.document, error)
      }
      try await Slice.giveWay()
      guard let root = parsed?.root else { continue }
      guard root.kind == .object else { throw CouchBody.noObject }
      return try BulkRequest(root)
    }
  }

  /// Parses each document of a body separately.
  /// - Parameter fault: the error that was found in one of them.
  private static func readApart(
    _ bytes: [UInt8], _ limits: JSONLimits, _ fault: JSONError
  ) async throws -> BulkRequest {
    guard let outline = JSONOutline(bytes, in: bytes.indices),
      outline.isObject, let range = outline.value(named: "docs", in: bytes),
      let documents = JSONOutline(bytes, in: range), !documents.isObject
    else { throw ServiceError(fault) }
    // The rest of the body, without the documents, must be a request too.
    let rest = Array(bytes[..<range.lowerBound]) + Array("[]".utf8) + bytes[range.upperBound...]
    var request = try BulkRequest(CouchBody.object(rest))
    try check(count: documents.parts.count)
    for part in documents.parts {
      request.elements.append(try element(Array(bytes[part.value]), limits))
      try await Slice.giveWay()
    }
    return request
  }

  /// Parses one document.
  /// - Throws: 400 for a text that is not JSON.
  static func element(
    _ bytes: [UInt8], _ limits: JSONLimits
  ) throws -> Element {
    do { return .value(try ParsedJSON(bytes, limits: limits).root) } catch {
      // Invalid UTF-8 is an error of the whole body; an escape that is not a character is an error of one document.
      guard error.isOfOneValue || error.code == .tooLarge,
        String(validating: bytes, as: UTF8.self) != nil
      else { throw ServiceError(error) }
      let outline = JSONOutline(bytes, in: bytes.indices)
      let id = outline?.value(named: "_id", in: bytes).flatMap {
        try? ParsedJSON(Array(bytes[$0]), limits: .small).root.string
      }
      return .refused(id: id, ServiceError(.forbidden, error.reason))
    }
  }

  /// - Throws: 413 for too many documents.
  package static func check(count: Int) throws {
    guard count <= CouchLimits.bulkDocuments else {
      throw ServiceError.tooLarge("A request has at most \(CouchLimits.bulkDocuments) documents")
    }
  }

  private static func isNewEdit(_ body: JSONNode) throws -> Bool {
    guard let flag = body["new_edits"] else { return true }
    guard let value = flag.bool else {
      throw ServiceError.badRequest("`new_edits` parameter must be a boolean.")
    }
    return value
  }
}

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
  /// - Throws: errors for what CouchDB refuses too; the whole request then writes nothing.
  init(
    _ element: BulkRequest.Element, isNewEdit: Bool, limits: DocumentLimits,
    newID: () -> DocumentID
  ) throws {
    switch element {
    case .refused(let id, let error): self.init(id: id, write: .failure(error))
    case .value(let node):
      guard node.kind == .object else {
        throw ServiceError.badRequest("Document must be a JSON object")
      }
      if let id = try LocalID(of: node) {
        try self.init(id, node, limits)
        return
      }
      do {
        let document = try IncomingDocument(node)
        let write = try DocumentWrite(
          document, id: document.id ?? newID(), base: nil, isNewEdit: isNewEdit, limits: limits)
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
    _ id: LocalID, _ node: JSONNode, _ limits: DocumentLimits
  ) throws {
    do {
      let write = try LocalWrite(node, limits: limits)
      self.init(id: id.text, write: .success(.local(id, write)))
    } catch {
      guard let error = ServiceError(error), error.couch.status != 400 else { throw error }
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

  /// Whether CouchDB would accept a document that is refused here.
  private static func isCouchDBs(_ node: JSONNode, _ error: DocumentError) -> Bool {
    switch error.code {
    case .attachmentsUnsupported, .tooLarge: true
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
