import Documents
import Stores

/// The revisions of one document that `open_revs` requests.
///
/// Source: CouchDB, "GET /{db}/{docid}: open_revs".
package enum OpenRevisions: Sendable, Equatable {
  /// Every leaf, tombstones included, the lowest revision id first.
  case all
  /// These revisions, in this order.
  case these([NamedRevision])

  package enum Form: Sendable, Equatable {
    /// A JSON array of `{"ok":…}` and `{"missing":…}`.
    case json
    /// One part for each revision, for CouchDB's replicator: the document, or `multipart/related` with the attachments that
    /// follow it. The boundaries, that of the parts and that within a part, have 1 to 70 random letters and digits, so that
    /// they do not occur in a document. Neither begins with the other.
    ///
    /// Source: RFC 2046, section 5.1; CouchDB, "GET /{db}/{docid}: efficient multiple attachments retrieving".
    case multipart(boundary: String, inner: String)

    var ofRevision: DocumentReader.Form {
      switch self {
      case .json: .json
      case .multipart(_, let inner): .related(boundary: inner)
      }
    }
  }

  /// Reads `open_revs`: `all` or a JSON array of revisions; nil when absent, and for an empty array, which CouchDB takes
  /// for none.
  /// - Throws: 400.
  package static func parameter(_ parameters: CouchParameters) throws -> OpenRevisions? {
    guard let text = parameters["open_revs"] else { return nil }
    guard !text.equalsBytes(of: "all") else { return .all }
    guard let list = try parameters.json("open_revs"), list.kind == .array else { throw malformed }
    let revisions = try list.elements.map { element in
      guard let text = element.string else { throw malformed }
      return try NamedRevision(text)
    }
    return revisions.isEmpty ? nil : .these(revisions)
  }

  private static let malformed = ServiceError.badRequest(
    "`open_revs` is `all` or a JSON array of revisions")
}

/// The revisions that `open_revs` or `_bulk_get` requests, found at once in the tree that was read first.
struct WantedRevisions: Sendable {
  /// A revision to read.
  struct Target: Sendable {
    let asked: NamedRevision
    /// The revision to answer: the same one, or a leaf that descends from it; nil for one that can't be stored.
    let revision: RevisionID?
    /// The index of that revision in the tree; nil for an unknown one.
    let index: Int?
  }

  private let reader: DocumentReader?
  private let latest: Bool
  /// The indexes of the revisions in the tree; empty for a single revision, the most frequent request.
  private let indices: [RevisionID: Int]
  private let single: (revision: RevisionID, index: Int?)?
  /// Computed for the first revision that is not a leaf.
  private var below: LeavesBelow?

  /// Looks up all revisions that will be requested.
  /// - Parameter reader: a reader of the document with its tree; nil for an id that was never used.
  /// - Parameter latest: whether a revision that is not a leaf is replaced by the leaves that descend from it.
  init(_ revisions: [RevisionID], by reader: DocumentReader?, latest: Bool) {
    self.reader = reader
    self.latest = latest
    single = revisions.count == 1 ? (revisions[0], reader?.index(of: revisions[0])) : nil
    indices = single == nil ? reader?.indices(of: revisions) ?? [:] : [:]
  }

  /// Every leaf, the lowest revision id first.
  ///
  /// Source: CouchDB 3.5, `fabric_doc_open_revs:tree_format_replies`.
  var leaves: [Target] {
    let leaves = (reader?.leaves ?? []).sorted()
    let indices = reader?.indices(of: leaves) ?? [:]
    return leaves.map { Target(asked: .storable($0), revision: $0, index: indices[$0]) }
  }

  mutating func targets(of asked: NamedRevision) -> [Target] {
    guard let revision = asked.revision else {
      return [Target(asked: asked, revision: nil, index: nil)]
    }
    let index = single?.revision == revision ? single?.index : indices[revision]
    guard latest, let index, let reader, reader.node(at: index)?.isLeaf == false else {
      return [Target(asked: asked, revision: revision, index: index)]
    }
    let below = below ?? reader.leavesBelow()
    self.below = below
    return below.leafIndices(below: index).map { leaf in
      Target(asked: asked, revision: reader.node(at: leaf)?.revision ?? revision, index: leaf)
    }
  }
}
