import Documents

/// One element of `_bulk_docs`: a document to be written, or why it can't be.
struct BulkEntry: Sendable {
  /// What is to be written.
  enum Write: Sendable {
    /// A replicated document.
    case document(DocumentWrite)
    /// A local document.
    case local(LocalID, LocalWrite)
  }

  /// The element's `_id` as it came, or the one it was given; nil where it has none that is text.
  let id: String?
  /// The revision that was sent, as it came.
  let sentRevision: String
  /// What is to be written.
  let write: Result<Write, CouchError>
  /// Whether it is a design document with rules, which nothing runs.
  private(set) var hasRules = false

  /// Reads an element. What CouchDB would take and this service can never store is `forbidden`: PouchDB reports such
  /// a document as denied and goes on, while any other word makes it push the same batch again for ever.
  /// - Throws: what is malformed for CouchDB too, and makes the whole request one that writes nothing.
  init(
    _ element: BulkRequest.Element, isNewEdit: Bool, limits: DocumentLimits,
    newID: () -> DocumentID
  ) throws(CouchError) {
    switch element {
    case .refused(let id, let error): self.init(id: id, write: .failure(error))
    case .value(let node):
      guard node.kind == .object else { throw .badRequest("Document must be a JSON object") }
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
      } catch {
        guard Self.isCouchDBs(node, error) else { throw CouchError(error) }
        self.init(
          id: node["_id"]?.string, sentRevision: node["_rev"]?.string ?? "0-",
          write: .failure(CouchError(403, "forbidden", error.reason)))
      }
    }
  }

  private init(
    _ id: LocalID, _ node: JSONNode, _ limits: DocumentLimits
  ) throws(CouchError) {
    do {
      let write = try LocalWrite(node, limits: limits)
      self.init(id: id.text, write: .success(.local(id, write)))
    } catch {
      guard error.status != 400 else { throw error }
      self.init(id: id.text, write: .failure(CouchError(403, "forbidden", error.reason)))
    }
  }

  private init(id: String?, sentRevision: String = "0-", write: Result<Write, CouchError>) {
    self.id = id
    self.sentRevision = sentRevision
    self.write = write
  }

  /// The entry, refused with what a rule about its document's id throws.
  func checked(by rule: (DocumentID) throws(CouchError) -> Void) -> BulkEntry {
    guard case .success(.document(let write)) = write else { return self }
    do { try rule(write.id) } catch {
      return BulkEntry(id: id, sentRevision: sentRevision, write: .failure(error))
    }
    return self
  }

  /// Whether CouchDB would take a document that is refused here.
  private static func isCouchDBs(_ node: JSONNode, _ error: DocumentError) -> Bool {
    switch error.code {
    case .attachmentsUnsupported, .tooLarge: true
    case .invalidID:
      // CouchDB bounds no id's length and takes NUL.
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

  /// CouchDB bounds no generation, and takes any text behind one.
  private static func isCouchDBs(revision node: JSONNode?) -> Bool {
    guard let node else { return true }
    guard let bytes = node.string?.utf8, let dash = bytes.firstIndex(of: 0x2D) else { return false }
    return dash > bytes.startIndex && bytes[..<dash].allSatisfy { (0x30...0x39).contains($0) }
  }

  private static func isCouchDBs(history node: JSONNode?) -> Bool {
    guard let node else { return true }
    return node["ids"]?.elements.allSatisfy { $0.kind == .string } ?? false
  }
}
