import Documents
import Stores

/// Which of a peer's revisions of one document a store lacks.
struct MissingRevisions: Sendable {
  /// The document's id as it was asked for.
  let id: String
  /// What is unknown here, in the order of the request.
  let revisions: [RevisionID]
  /// Leaves here that the missing ones may descend from: those of a lower generation than the highest of
  /// them.
  let possibleAncestors: [RevisionID]

  /// Looks one document up; nil when nothing is missing. An id that can't be stored has nothing here: the
  /// write will say what is wrong with it.
  init?(_ id: String, of asked: [RevisionID], in view: any StoreView) throws(StoreError) {
    let tree = try view.tree(DocumentID(stored: id))
    let revisions = asked.filter { tree?.knows($0) != true }
    guard let highest = revisions.map(\.generation).max() else { return nil }
    self.id = id
    self.revisions = revisions
    possibleAncestors = (tree?.leaves ?? []).map(\.revision).filter { $0.generation < highest }
  }

  /// Every document of a request that something is missing of.
  static func all(
    _ request: RevisionsRequest, in view: any StoreView
  ) throws(StoreError) -> [MissingRevisions] {
    var all: [MissingRevisions] = []
    for (id, revisions) in request.documents {
      if let missing = try MissingRevisions(id, of: revisions, in: view) { all.append(missing) }
    }
    return all
  }

  /// Writes revisions as an array of strings.
  static func append(_ revisions: [RevisionID], to writer: inout JSONWriter) {
    writer.beginArray()
    for revision in revisions { writer.string(revision.description) }
    writer.endArray()
  }
}
