package import Documents

/// Which revisions of one document `open_revs` asks for.
///
/// Source: CouchDB, "GET /{db}/{docid}: open_revs".
package enum OpenRevisions: Sendable, Equatable {
  /// Every leaf, tombstones included.
  case all
  /// These, in order.
  case these([RevisionID])

  /// Reads `open_revs`: `all` or a JSON array of revisions; nil when absent.
  /// - Throws: 400.
  package static func parameter(
    _ parameters: CouchParameters
  ) throws(CouchError) -> OpenRevisions? {
    guard let text = parameters["open_revs"] else { return nil }
    guard !text.equalsBytes(of: "all") else { return .all }
    guard let list = try parameters.json("open_revs")?.array else { throw malformed }
    var revisions: [RevisionID] = []
    for element in list {
      guard let text = element.string else { throw malformed }
      do { revisions.append(try RevisionID(text)) } catch { throw CouchError(error) }
    }
    return .these(revisions)
  }

  private static let malformed = CouchError.badRequest(
    "`open_revs` is `all` or a JSON array of revisions")
}
