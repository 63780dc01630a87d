import CouchSync
import Documents
import Scheduling
import Stores

/// A question for the changes of a database, as `changes` has them.
struct LiteChanges: Sendable {
  /// The most changes that are read from the store at once. Those that are left at the end of a slice are read again, so of
  /// 500 most were read several times.
  private static let scanned = 100
  /// The revisions that are looked at for one page, whether they make rows or not. A page costs no more than a message may.
  private static let examinedAtOnce = 5_000

  /// A change: the newest revision of a document.
  struct Row: Sendable {
    let sequence: SinceToken
    let id: DocumentID
    let revision: RevisionID
    /// The revision, or the version vector, as the client reads it.
    let text: String
    let flag: Flag
    /// Whether the document has left the channels that are pulled.
    let isRemoved: Bool
  }

  /// What a row says of its revision beside its name. Source: LiteCore, `RevFinder`.
  enum Flag: Int, Sendable {
    /// Nothing, which is not written.
    case present = 0
    case deleted = 1
    /// The document is no longer in the channels that are pulled: the client forgets it.
    case removed = 4
  }

  /// How a client is told that a document has left the channels that it pulls.
  enum Removals {
    /// It does not want to know.
    case untold
    /// By ``Flag/removed``.
    case inRows
    /// By the body of the revision: Couchbase Lite 2 knows no flags.
    case inBodies
  }

  /// Some rows.
  struct Page: Sendable {
    let rows: [Row]
    /// The position after them.
    let last: SinceToken
    /// Whether there are no more. A page that is not complete may have no rows: many changes made none.
    let isComplete: Bool
  }

  let since: SinceToken
  let limit: Int
  let isActiveOnly: Bool
  let documents: Set<DocumentID>?
  let channels: LiteChannels?
  let removals: Removals
  let form: LiteForm

  /// The body of `changes`.
  static func body(_ rows: [Row]) -> [UInt8] {
    var writer = JSONWriter(reserving: rows.count * 96 + 2)
    writer.array(rows) { row, writer in
      writer.beginArray()
      writer.string(row.sequence.text)
      writer.string(row.id.text)
      writer.string(row.text)
      if row.flag != .present { writer.int(row.flag.rawValue) }
      writer.endArray()
    }
    return writer.bytes
  }

  /// Whether a change may make a row.
  private func includes(_ change: Change) -> Bool {
    guard SyncDevice.Client.couchbaseLite.refusal(of: change.id) == nil,
      change.revision.generation < form.endOfGenerations
    else { return false }
    return !(isActiveOnly && change.isDeleted) && documents?.contains(change.id) ?? true
  }

  /// Reads changes until there are enough rows, enough of them were looked at, or the slice is over.
  fileprivate func read(
    _ progress: inout LiteProgress, _ view: any StoreView, _ tag: StoreTag
  ) throws -> Page? {
    let info = try view.info()
    var position = progress.position ?? since.position(in: info, of: tag).sequence
    while true {
      // With a filter most changes may make no row.
      let most =
        documents == nil && channels == nil
        ? min(limit - progress.rows.count, Self.scanned) : Self.scanned
      let changes = try view.changes(after: position, limit: most)
      var seen = 0
      for change in changes {
        if includes(change) {
          guard let membership = try membership(of: change, &progress, view) else { return nil }
          if let flag = flag(of: change, membership) {
            let sequence = SinceToken.at(change.sequence, in: info, of: tag)
            let isRemoved = membership == .former && !change.isDeleted
            progress.rows.append(
              try row(of: change, flag, isRemoved: isRemoved, at: sequence, view))
          }
        }
        seen += 1
        progress.examined += 1 + progress.looked.count
        position = change.sequence
        progress.position = position
        if progress.rows.count == limit || view.slice.isOver { break }
      }
      let isAtEnd = seen == changes.count && changes.count < most
      if isAtEnd || progress.rows.count == limit || progress.examined >= Self.examinedAtOnce {
        if isAtEnd { position = max(position, info.lastSequence) }
        return Page(
          rows: progress.rows, last: .at(position, in: info, of: tag), isComplete: isAtEnd)
      }
      if view.slice.isOver { return nil }
    }
  }

  /// Where a change stands to the channels; nil if the slice is over before that is known.
  private func membership(
    of change: Change, _ progress: inout LiteProgress, _ view: any StoreView
  ) throws -> LiteMembership? {
    guard let channels else { return .member }
    if progress.looked.sequence != change.sequence { progress.looked = (change.sequence, 0) }
    return try channels.membership(of: change, looked: &progress.looked.count, in: view)
  }

  /// The flag of a change's row; nil for a change without a row.
  private func flag(of change: Change, _ membership: LiteMembership) -> Flag? {
    guard membership != .outside else { return nil }
    if change.isDeleted { return .deleted }
    if membership == .member { return .present }
    switch removals {
    case .untold: return nil
    case .inRows: return .removed
    case .inBodies: return .present
    }
  }

  private func row(
    of change: Change, _ flag: Flag, isRemoved: Bool, at sequence: SinceToken,
    _ view: any StoreView
  ) throws -> Row {
    let tree = form == .vectors ? try view.newest(change.id) : nil
    let text =
      tree.map { LiteRevision.text(LiteRevision.vector(of: change.revision, in: $0)) }
      ?? LiteRevision.text(change.revision, in: form)
    return Row(
      sequence: sequence, id: change.id, revision: change.revision, text: text, flag: flag,
      isRemoved: isRemoved)
  }
}

extension CouchDatabase {
  /// The next changes for a client.
  func changes(_ query: LiteChanges) async throws -> LiteChanges.Page {
    try await store.read(inSlices: LiteProgress()) { [tag] in try query.read(&$0, $1, tag) }
  }

  /// The requests that send wanted revisions: `rev`, or `norev` for one that is replaced meanwhile, if the client does not
  /// take the newer one, which is in a later change. None wants an answer: a client that can't take a revision has nothing
  /// to say that would help it.
  /// - Returns: a request for each of the first revisions, at least one.
  func revisions(_ wanted: [LitePull.Wanted], in form: LiteForm) async throws -> [LiteRequest] {
    let read = try await store.read(inSlices: [(LiteRequest, LiteBody)]()) { revisions, view in
      for next in wanted.dropFirst(revisions.count) {
        revisions.append(try next.revision(in: view, form))
        if view.slice.isOver { break }
      }
      let bytes = revisions.reduce(0) { $0 + $1.1.bytes.count }
      return revisions.count == wanted.count || bytes >= LitePull.Wanted.bytesAtOnce
        ? revisions : nil
    }
    var requests: [LiteRequest] = []
    for (request, var body) in read {
      try await body.finish()
      requests.append(
        LiteRequest(request.profile, request.properties, body: body.bytes, isNoReply: true))
      try await Slice.giveWay()
    }
    return requests
  }
}

/// How far a page has been read.
private struct LiteProgress: Sendable {
  var rows: [LiteChanges.Row] = []
  var position: Int64?
  var examined = 0
  /// How many revisions of a change were looked at.
  var looked: (sequence: Int64, count: Int) = (0, 0)
}

extension LitePull.Wanted {
  /// The bodies that are read at once, in bytes, apart from the last one.
  fileprivate static let bytesAtOnce = 128 << 10

  /// The request that sends the revision, without its body, or says that it was replaced.
  fileprivate func revision(
    in view: any StoreView, _ form: LiteForm
  ) throws -> (LiteRequest, LiteBody) {
    let sequence = "\"" + row.sequence.text + "\""
    // The first version of a vector.
    let announced = row.text.versions.first ?? row.text
    var properties = ["id": row.id.text, "rev": announced, "sequence": sequence]
    guard let document = try view.document(row.id),
      document.revision == row.revision || takesNewer
    else {
      properties["error"] = "404"
      return (LiteRequest("norev", properties), .none)
    }
    let revision = document.revision
    if document.isDeleted { properties["deleted"] = "1" }
    // A first revision has no ancestors; most documents need no second look.
    let tree = form == .vectors || revision.generation > 1 ? try view.newest(row.id) : nil
    if revision != row.revision {
      properties["rev"] =
        tree.map { LiteRevision.text(revision, of: $0, in: form) }
        ?? LiteRevision.text(revision, in: form)
      properties["replacedRev"] = announced
    }
    if let tree {
      let history = history(of: revision, in: tree, form)
      if !history.isEmpty { properties["history"] = history }
    }
    let isRemoved = row.isRemoved && revision == row.revision
    return (
      LiteRequest("rev", properties),
      isRemoved ? .removed : try LiteBody(document.body, of: row.id, revision, in: view)
    )
  }

  /// The history of a revision without itself. Version 4 compares its revision of a tree only with those of a tree, so they
  /// follow the version vector then. Source: Sync Gateway's `buildRevHistory`.
  private func history(of revision: RevisionID, in tree: RevisionTree, _ form: LiteForm) -> String {
    guard form == .vectors else { return line(tree.history(of: revision).dropFirst()) }
    let older = LiteRevision.vector(of: revision, in: tree).dropFirst().map(\.text)
    return (older + (isOfTree ? [line(tree.history(of: revision)[...])] : []))
      .joined(separator: ", ")
  }

  private func line(_ history: ArraySlice<RevisionID>) -> String {
    var texts: [String] = []
    for revision in history.prefix(maximumHistory) {
      texts.append(LiteRevision.text(revision, in: .trees))
      if texts.last.map(ancestors.contains) ?? false { break }
    }
    return texts.joined(separator: ",")
  }
}
