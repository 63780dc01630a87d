package import Documents

/// Which revisions of one document `open_revs` asks for.
///
/// Source: CouchDB, "GET /{db}/{docid}: open_revs".
package enum OpenRevisions: Sendable, Equatable {
  /// Every leaf, tombstones included.
  case all
  /// These, in order.
  case these([RevisionID])

  /// How they are answered.
  package enum Form: Sendable, Equatable {
    /// A JSON array of `{"ok":…}` and `{"missing":…}`.
    case json
    /// The same as `multipart/mixed`, one part a revision, for CouchDB's replicator. The boundary is 1 to 70 letters
    /// and digits that occur in no document: random ones.
    ///
    /// Source: RFC 2046, section 5.1; CouchDB, "GET /{db}/{docid}: efficient multiple attachments retrieving".
    case multipart(boundary: String)
  }

  /// Reads `open_revs`: `all` or a JSON array of revisions; nil when absent.
  /// - Throws: 400.
  package static func parameter(
    _ parameters: CouchParameters
  ) throws(CouchError) -> OpenRevisions? {
    guard let text = parameters["open_revs"] else { return nil }
    guard !text.equalsBytes(of: "all") else { return .all }
    guard let list = try parameters.json("open_revs"), list.kind == .array else { throw malformed }
    var revisions: [RevisionID] = []
    for element in list.elements {
      guard let text = element.string else { throw malformed }
      do { revisions.append(try RevisionID(text)) } catch { throw CouchError(error) }
    }
    return .these(revisions)
  }

  private static let malformed = CouchError.badRequest(
    "`open_revs` is `all` or a JSON array of revisions")
}
