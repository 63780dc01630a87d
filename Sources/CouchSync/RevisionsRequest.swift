package import JSON
import Stores

/// The body of `_revs_diff` and `_missing_revs`: revisions by document id.
///
/// Source: CouchDB, "POST /{db}/_revs_diff".
package struct RevisionsRequest: Sendable {
  /// The ids as received, in order, each with its revisions.
  let documents: [(id: String, revisions: [NamedRevision])]

  /// Reads a body.
  /// - Throws: 400 for anything but an object of arrays of revisions, as CouchDB reads them; 413 for more than
  ///   ``CouchLimits/askedRevisions`` of them.
  package init(_ body: JSONNode) throws {
    var documents: [(id: String, revisions: [NamedRevision])] = []
    var count = 0
    for member in body.members {
      let value = member.value
      guard value.kind == .array else {
        throw ServiceError.badRequest("Request body must be an object of arrays of revisions")
      }
      count += value.count
      guard count <= CouchLimits.askedRevisions else {
        throw ServiceError.tooLarge("A request has at most \(CouchLimits.askedRevisions) revisions")
      }
      documents.append((member.name, try Self.revisions(value)))
    }
    self.documents = documents
  }

  static func revisions(_ list: JSONNode) throws -> [NamedRevision] {
    var revisions: [NamedRevision] = []
    for element in list.elements {
      guard let text = element.string else { throw ServiceError.badRequest("Invalid rev format") }
      revisions.append(try NamedRevision(text))
    }
    return revisions
  }
}
