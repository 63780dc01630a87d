package import Documents

/// The body of `_revs_diff` and `_missing_revs`: revisions by document id.
///
/// Source: CouchDB, "POST /{db}/_revs_diff".
package struct RevisionsRequest: Sendable {
  /// Ids as they came, in order, each with its revisions.
  let documents: [(id: String, revisions: [RevisionID])]

  /// Reads a body.
  /// - Throws: 400 for anything but an object of arrays of revisions; 413 for more than
  ///   ``CouchLimits/askedRevisions`` of them.
  package init(_ body: JSONNode) throws(CouchError) {
    var documents: [(id: String, revisions: [RevisionID])] = []
    var count = 0
    for member in body.members {
      let value = member.value
      guard value.kind == .array else {
        throw .badRequest("Request body must be an object of arrays of revisions")
      }
      count += value.count
      guard count <= CouchLimits.askedRevisions else {
        throw .tooLarge("A request has at most \(CouchLimits.askedRevisions) revisions")
      }
      documents.append((member.name, try Self.revisions(value)))
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
