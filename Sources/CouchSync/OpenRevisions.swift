package import Documents
import Stores

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

  /// Finds the revisions.
  /// - Parameter reader: a reader of the document with its tree; nil for an id never used.
  /// - Parameter latest: whether a revision that is no leaf stands for the leaves that it led to; a leaf
  ///   comes once then.
  /// - Returns: one element for each revision found or missing; empty for ``all`` of an id never used; nil when
  ///   together they are longer than ``CouchLimits/answerBytes``.
  func found(
    by reader: DocumentReader?, latest: Bool
  ) throws(StoreError) -> [OpenRevision]? {
    guard let reader else {
      guard case .these(let revisions) = self else { return [] }
      return revisions.map { .missing($0) }
    }
    var found: [OpenRevision] = []
    var seen: Set<RevisionID> = []
    var room = CouchLimits.answerBytes
    for (asked, revision) in targets(reader, latest: latest) {
      if latest, !seen.insert(revision).inserted { continue }
      if let bytes = try reader.revision(revision) {
        room -= bytes.count
        guard room >= 0 else { return nil }
        found.append(.found(bytes))
      } else {
        found.append(.missing(asked))
      }
    }
    return found
  }

  private func targets(
    _ reader: DocumentReader, latest: Bool
  ) -> [(asked: RevisionID, revision: RevisionID)] {
    switch self {
    case .all: return reader.leaves.map { ($0, $0) }
    case .these(let revisions):
      guard latest else { return revisions.map { ($0, $0) } }
      return revisions.flatMap { asked in
        let leaves = reader.leaves(below: asked)
        return leaves.isEmpty ? [(asked, asked)] : leaves.map { (asked, $0) }
      }
    }
  }
}
