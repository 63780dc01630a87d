import Documents

/// One element of `_bulk_docs`: a document to be written, or why it can't be.
struct BulkEntry: Sendable {
  /// The element's `_id` as it came, or the one it was given; nil where it has none that is text.
  let id: String?
  /// What is to be written.
  let write: Result<DocumentWrite, CouchError>

  /// Reads an element.
  init(_ node: JSONNode, isNewEdit: Bool, newID: () -> DocumentID) {
    do {
      let document = try IncomingDocument(node)
      let write = try DocumentWrite(
        document, id: document.id ?? newID(), base: nil, isNewEdit: isNewEdit)
      (id, self.write) = (write.id.text, .success(write))
    } catch {
      (id, write) = (node["_id"]?.string, .failure(Self.refusal(error)))
    }
  }

  private init(id: String?, write: Result<DocumentWrite, CouchError>) {
    self.id = id
    self.write = write
  }

  /// The entry, refused with what a rule about its document's id throws.
  func checked(by rule: (DocumentID) throws(CouchError) -> Void) -> BulkEntry {
    guard case .success(let write) = write else { return self }
    do { try rule(write.id) } catch { return BulkEntry(id: id, write: .failure(error)) }
    return self
  }

  /// PouchDB reports a `forbidden` document as denied and goes on; any other word stops its push.
  private static func refusal(_ error: DocumentError) -> CouchError {
    error.code == .attachmentsUnsupported
      ? CouchError(403, "forbidden", error.reason) : CouchError(error)
  }
}
