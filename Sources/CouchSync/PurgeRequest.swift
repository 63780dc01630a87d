package import Documents

/// The body of `_purge`: leaves to forget by document id.
///
/// Source: CouchDB, "POST /{db}/_purge".
package struct PurgeRequest: Sendable {
  /// Documents in one request, as in CouchDB (`max_document_id_number`).
  package static let maximumDocuments = 100
  /// Revisions in one request, as in CouchDB (`max_revisions_number`).
  package static let maximumRevisions = 1_000

  /// Ids in the order of the request, each with its revisions. Any text: one that is no id is of no document.
  let documents: [(id: DocumentID, revisions: [RevisionID])]

  /// Reads a body.
  /// - Throws: 400 for anything but an object of arrays of revisions, and for more than
  ///   ``maximumDocuments`` or ``maximumRevisions``, in CouchDB's words.
  package init(_ body: JSONNode) throws(CouchError) {
    guard body.kind == .object else { throw .badRequest("Request body must be a JSON object") }
    guard body.count <= Self.maximumDocuments else {
      throw .badRequest("Exceeded maximum number of documents.")
    }
    var documents: [(id: DocumentID, revisions: [RevisionID])] = []
    var count = 0
    for member in body.members {
      guard member.value.kind == .array else {
        throw .badRequest("Request body must be an object of arrays of revisions")
      }
      count += member.value.count
      guard count <= Self.maximumRevisions else {
        throw .badRequest("Exceeded maximum number of revisions.")
      }
      documents.append((DocumentID(stored: member.name), try Self.revisions(member.value)))
    }
    self.documents = documents
  }

  private static func revisions(_ list: JSONNode) throws(CouchError) -> [RevisionID] {
    var revisions: [RevisionID] = []
    for element in list.elements {
      guard let text = element.string else { throw .badRequest("Invalid rev format") }
      do { revisions.append(try RevisionID(text)) } catch { throw CouchError(error) }
    }
    return revisions
  }
}
