import CouchSync
package import Documents
import Scheduling
import Stores

/// The revisions that a client wants to send (`proposeChanges`).
struct LiteProposals: Sendable {
  /// One row: a document, its new revision, and the last revision that the client has of this server.
  struct Row: Sendable {
    let id: DocumentID?
    /// The revision, or a version vector.
    let revision: String
    let ancestor: String
  }

  /// What becomes of a row.
  enum Verdict: Sendable {
    case wanted
    /// It is wanted, and the server merges it with the present revision.
    case merged
    case known
    /// The document has another revision, which is named.
    case conflict(String)
    /// No document can have this id.
    case refused
  }

  /// The most rows of one request. LiteCore sends 200.
  static let maximumRows = 1_000

  let rows: [Row]

  /// Reads the rows.
  /// - Throws: `LiteError` for malformed ones.
  init(_ body: [UInt8]) async throws {
    let root = try await ParsedJSON.inSlices(body, limits: .document).root
    guard root.kind == .array, root.count <= Self.maximumRows else {
      throw LiteError.http(400, "At most \(Self.maximumRows) rows are proposed at once")
    }
    rows = try root.elements.map { row in
      guard let id = row[0]?.string, let revision = row[1]?.string else {
        throw LiteError.http(400, "A row has the id and the revision of a document")
      }
      return Row(id: try? DocumentID(id), revision: revision, ancestor: row[2]?.string ?? "")
    }
  }

  /// The answer: one element for each row.
  static func answer(_ verdicts: [Verdict], includesRevision: Bool) -> [UInt8] {
    var writer = JSONWriter()
    writer.array(verdicts) { verdict, writer in
      switch verdict {
      case .wanted, .merged: writer.int(0)
      case .known: writer.int(304)
      case .refused: writer.int(400)
      case .conflict(let revision):
        guard includesRevision else { return writer.int(409) }
        writer.object { writer in
          writer.member("status", 409)
          writer.member("rev", revision)
        }
      }
    }
    return writer.bytes
  }
}

extension CouchDatabase {
  /// Decides about proposed revisions.
  /// - Parameter merges: whether conflicts of a document are merged here.
  func verdicts(
    on rows: [LiteProposals.Row], in form: LiteForm, merges: @escaping LiteMerging
  ) async throws -> [LiteProposals.Verdict] {
    try await store.read(inSlices: (verdicts: [LiteProposals.Verdict](), last: NamedTree?.none)) {
      progress, view in
      for row in rows.dropFirst(progress.verdicts.count) {
        progress.verdicts.append(try row.verdict(in: view, &progress.last, form, merges))
        if view.slice.isOver { break }
      }
      return progress.verdicts.count == rows.count ? progress.verdicts : nil
    }
  }
}

/// The document of the last row. Others of the same one need not read it again: a client may propose a thousand revisions.
private struct NamedTree: Sendable {
  let id: DocumentID
  let tree: RevisionTree
  var names: LiteNames
  /// The winner's version.
  lazy var version = tree.winner.flatMap { LiteRevision.vector(of: $0.revision, in: tree).first }
}

extension LiteProposals.Row {
  fileprivate func verdict(
    in view: any StoreView, _ last: inout NamedTree?, _ form: LiteForm, _ merges: LiteMerging
  ) throws -> LiteProposals.Verdict {
    guard let id else { return .refused }
    if last?.id != id {
      last = try view.newest(id).map { NamedTree(id: id, tree: $0, names: LiteNames($0)) }
    }
    guard let tree = last?.tree, let winner = tree.winner else { return .wanted }
    let versions = revision.versions
    if let newest = versions.first,
      last?.names.findWritten(newest, former: versions.dropFirst()) != nil
    {
      return .known
    }
    let seen = last?.names.seen(by: [ancestor] + versions) ?? []
    if seen.contains(winner.revision) || winner.isDeleted && ancestor.isEmpty { return .wanted }
    // Of a tombstone nothing is known but what the document was.
    let judged = winner.isDeleted ? seen.max().flatMap { tree[$0] } : winner
    // The tree may be that of an earlier slice.
    if let judged, let body = try view.body(id, judged.revision),
      merges(DocumentBody(readingBack: body))
    {
      return .merged
    }
    let told = form == .vectors ? last?.version : nil
    if LiteRevision.isNewer(revision, than: told) { return .wanted }
    return .conflict(told?.text ?? LiteRevision.text(winner.revision, in: form))
  }
}

/// Whether the conflicts of a document are merged by the server, judged by one of its revisions.
package typealias LiteMerging = @Sendable (DocumentBody) -> Bool

extension String {
  /// The parts of a version vector, or of a history; ``LiteNames/most`` at most.
  var versions: [String] {
    utf8.split(maxSplits: LiteNames.most) { ",; ".utf8.contains($0) }
      .prefix(LiteNames.most).map { String(Substring($0)) }
  }
}
