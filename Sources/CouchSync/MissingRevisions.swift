package import Documents
import Scheduling
import Stores

/// The body of `_revs_diff` and `_missing_revs`: revisions by document id.
///
/// Source: CouchDB, "POST /{db}/_revs_diff".
package struct RevisionsRequest: Sendable {
  /// The ids as received, in order, each with its revisions.
  let documents: [(id: String, revisions: [NamedRevision])]

  /// Reads a body in slices.
  /// - Throws: 400 for anything but an object of arrays of revisions, as CouchDB reads them; 413 for more than
  ///   ``CouchLimits/askedRevisions`` of them; ``WorkEnded``.
  package init(_ body: JSONNode) async throws {
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
      try await Slice.giveWay()
    }
    self.documents = documents
  }

  static func revisions(_ list: JSONNode) throws -> [NamedRevision] {
    try list.elements.map { element in
      guard let text = element.string else { throw ServiceError.badRequest("Invalid rev format") }
      return try NamedRevision(text)
    }
  }
}

/// The revisions of one document that a peer has and the store lacks.
struct MissingRevisions: Sendable {
  /// The document's id as requested.
  let id: String
  /// The revisions that are unknown here, in the order of the request, as they were sent.
  let revisions: [NamedRevision]
  /// Leaves in the store from which the missing revisions may descend: those with a lower generation than the highest
  /// missing one that can be stored.
  let possibleAncestors: [RevisionID]

  /// Looks up one document; nil when nothing is missing. Revisions that can't be stored are missing, and so are all
  /// revisions of an id that can't be stored; the later write reports what is wrong with them.
  /// - Parameter marks: the purged revisions that the store remembers.
  init?(
    _ id: String, of asked: [NamedRevision], in view: any StoreView, _ marks: PurgeMarks
  ) throws {
    guard !asked.isEmpty else { return nil }
    let tree = try view.tree(DocumentID(stored: id))
    let known = tree?.indices(of: asked.compactMap(\.revision)) ?? [:]
    let isKnown = { (revision: RevisionID) in
      known[revision] != nil || tree?.hasMark(of: revision) == true
    }
    var missing = asked.filter { $0.revision.map(isKnown) != true }
    if !marks.isEmpty, !missing.isEmpty {
      let purged = try marks.of(DocumentID(stored: id))
      missing.removeAll { $0.revision.map(purged.knows) == true }
    }
    guard !missing.isEmpty else { return nil }
    let highest = missing.compactMap(\.revision?.generation).max() ?? 0
    self.id = id
    revisions = missing
    possibleAncestors = (tree?.leaves ?? []).map(\.revision).filter { $0.generation < highest }
  }
}

/// Looks up the documents of a request in slices, each in one snapshot of the store.
struct MissingRevisionsReader: Sendable {
  private let request: RevisionsRequest
  private var next = 0
  /// The documents found so far that have missing revisions.
  private(set) var missing = GrowingList<MissingRevisions>()

  init(_ request: RevisionsRequest) { self.request = request }

  /// Continues with a snapshot of the store until the slice is over.
  /// - Returns: whether all documents have been looked up.
  mutating func read(_ view: any StoreView) throws -> Bool {
    let marks = try PurgeMarks(view)
    while next < request.documents.count {
      let (id, revisions) = request.documents[next]
      if let found = try MissingRevisions(id, of: revisions, in: view, marks) {
        missing.append(found)
      }
      next += 1
      if view.slice.isOver { break }
    }
    return next == request.documents.count
  }
}
