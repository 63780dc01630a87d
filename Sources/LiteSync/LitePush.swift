import CouchSync
import Documents
import Stores

/// A revision that a client sends (`rev`).
struct LitePush: Sendable {
  let id: DocumentID
  /// The collection that the client has named. Requests about the document name it too.
  let collection: String?
  let revision: String
  private let history: [String]
  /// The tombstone by which the client has ended the branch of the server's last revision, with its ancestors: in a database
  /// that it syncs with two servers, another branch may have to win. Source: LiteCore's `Pusher::sendRevision`, from 3.4.
  private let endedBranch: [String]
  private let isDeleted: Bool
  private let document: IncomingDocument
  /// The attachments whose bytes are found by their SHA-1.
  let attachments: [LiteAttachment]
  /// The bytes of the request.
  let byteCount: Int
  private let form: LiteForm
  private let merges: LiteMerging

  /// The most revisions between two others that a client has forgotten. LiteCore keeps the newest 20 of a document, and
  /// the last one that the server has.
  private static let maximumGap = 10 * LiteNames.most

  /// Reads a request.
  /// - Throws: 400 and 413 for what can't be a document.
  init(
    _ request: LiteRequest, in form: LiteForm, limits: DocumentLimits,
    merges: @escaping LiteMerging
  ) async throws {
    guard let id = request["id"], let revision = request["rev"] else {
      throw ServiceError.badRequest("`id` and `rev` are missing")
    }
    // No delta was asked for, so that the client sends the whole revision now.
    guard request["deltaSrc"] == nil else { throw LiteError.http(422, "No deltas are taken") }
    self.id = try DocumentID(id)
    collection = request["collection"]
    self.revision = revision
    (self.form, self.merges) = (form, merges)
    history = (request["history"] ?? "").versions
    endedBranch = (request["deleted_branch"] ?? "").versions
    isDeleted = request.flag("deleted")
    let text = request.body.isEmpty ? Array("{}".utf8) : request.body
    let parsed = try await ParsedJSON.inSlices(text, limits: limits.document)
    document = try IncomingDocument(
      parsed.root, read: try await DocumentBody.readLong(parsed.root),
      naming: AttachmentName.init(onDevice:))
    guard Set(document.attachments.map(\.name)).count == document.attachments.count else {
      throw DocumentError(.invalidAttachment, "Two attachments have the same name without its ~")
    }
    attachments = try await LiteAttachment.all(in: document, parsed.root, text)
    byteCount = request.byteCount
  }

  /// The write, which is decided in its transaction.
  /// - Parameter found: the bytes of the ``attachments``.
  /// - Throws: `documentTooLarge`; 400 and 413 for attachments.
  func write(
    limits: DocumentLimits, _ found: [LiteDigest: LiteContent] = [:]
  ) async throws -> DocumentWrite {
    let write = try await DocumentWrite(of: id, document, isDeleted: isDeleted, limits: limits) {
      [self] tree, view in
      try place(in: tree, view)
    }.received(limits.bytes)
    return write.attaching(
      attachments.compactMap { attachment in
        found[attachment.digest].map { attachment.sent($0) }
      })
  }

  /// The revision with its ancestors, and the branches that end with it: what a client has merged would stay a conflict
  /// otherwise, and win as soon as the document is deleted. A version's vector says which branches it has seen. A client
  /// without versions names only the end of the winner's branch, if it can't continue it.
  /// - Throws: `conflict` if the client has not seen the present winner; `invalidRevision`.
  private func place(in tree: RevisionTree, _ view: any StoreView) throws -> DocumentWrite.Place {
    var names = LiteNames(tree)
    if let known = names.findWritten(revision, former: history) {
      return DocumentWrite.Place([known])
    }
    let isVersion = revision.utf8.contains(UInt8(ascii: "@"))
    let seen = names.seen(by: [revision] + history)
    var (parent, merged) = (seen.max(), [RevisionID]())
    if let winner = tree.winner {
      if seen.contains(winner.revision) {
        parent = winner.revision
        if isVersion { merged = tree.conflicts.filter(Set(seen).contains) }
      } else if winner.isDeleted, seen.isEmpty, !isDeleted {
        // The document is new for the client.
        parent = winner.revision
      } else if try !isMerged(with: winner, in: tree, view) {
        if names.seen(by: endedBranch).contains(winner.revision) {
          merged = [winner.revision]
        } else if !isKept(beside: winner, in: tree) {
          throw DocumentError.conflict
        }
      }
    }
    let line = try isVersion ? line(ofVersionBelow: parent, in: tree, &names) : line(&names)
    if let winner = tree.winner?.revision, seen.contains(winner), !line.contains(winner) {
      throw DocumentError.conflict
    }
    return DocumentWrite.Place(line, merging: merged)
  }

  /// Whether it becomes a conflict of its own, as with any replicator: its client never takes the winner, and would get 409
  /// for good.
  private func isKept(beside winner: RevisionTree.Node, in tree: RevisionTree) -> Bool {
    form == .vectors && !isDeleted
      && LiteRevision.isNewer(
        revision, than: LiteRevision.vector(of: winner.revision, in: tree).first)
  }

  /// Whether the server merges it with the winner. Beside a tombstone it is the winner then, as with any replicator: the
  /// client's own resolver would delete what its user has just edited.
  private func isMerged(
    with winner: RevisionTree.Node, in tree: RevisionTree, _ view: any StoreView
  ) throws -> Bool {
    guard !isDeleted, merges(document.body) else { return false }
    guard !winner.isDeleted else { return true }
    guard let known = try view.body(id, of: winner, in: tree) else { return false }
    return merges(DocumentBody(readingBack: known))
  }

  /// A version of Couchbase Lite 4 becomes a revision of the next generation. Versions of other makers that its vector names
  /// and the tree lacks become its ancestors: devices got them from each other, and one that has such a version would see a
  /// conflict.
  private func line(
    ofVersionBelow parent: RevisionID?, in tree: RevisionTree, _ names: inout LiteNames
  ) throws -> [RevisionID] {
    guard let version = LiteVersion(revision) else {
      throw DocumentError(.invalidRevision, "Invalid rev format")
    }
    var line = parent.map { tree.history(of: $0) } ?? []
    for older in version.isTree ? [] : names.unknown(among: history, besides: version.maker) {
      line.insert(older.revision(below: line.first), at: 0)
    }
    let next = version.revision(below: line.first, gap: Self.maximumGap)
    guard tree.takes(generation: next.generation) else {
      throw DocumentError(.invalidRevision, "The document has no generation left")
    }
    guard let last = line.first else { return [next] }
    let missing = Self.madeUp(last.generation + 1..<next.generation, before: next)
    return [next] + missing + line
  }

  /// The history of a client without version vectors, up to a gap that can't be filled. LiteCore's have one at most.
  private func line(_ names: inout LiteNames) throws -> [RevisionID] {
    let newest = try RevisionID(revision)
    var (line, last, hasGap) = ([newest], newest.generation, false)
    for text in history {
      let known = names.find(text)
      let next = try known ?? RevisionID(text)
      let missing = next.generation + 1..<max(last, next.generation + 1)
      // The document's own revision may follow a gap, which is never a contradiction to the tree.
      guard next.generation < last, missing.isEmpty || known != nil && !hasGap,
        missing.count <= Self.maximumGap
      else { break }
      if !missing.isEmpty {
        hasGap = true
        line += Self.madeUp(missing, before: newest)
      }
      line.append(next)
      last = next.generation
    }
    return line
  }

  /// What stands for revisions that a client has forgotten, the newest first: the same for the same newest revision,
  /// wherever it arrives. Their digests are one hash, counted up.
  private static func madeUp(_ generations: Range<Int>, before newest: RevisionID) -> [RevisionID] {
    guard
      case .hash(let high, let low) = RevisionDigest(Hex.digest(of: "\(newest)", digits: 32))
    else { return [] }
    return generations.reversed().map { generation in
      RevisionID(generation: generation, digest: .hash(high: high, low: low &+ UInt64(generation)))
    }
  }
}
