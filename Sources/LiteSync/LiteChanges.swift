import CouchSync
import Documents
import JSON
import Scheduling
import Stores

/// A question for the changes of a database, as `changes` has them.
struct LiteChanges: Sendable {
  /// The longest id of a document that Couchbase Lite stores, in bytes.
  private static let maximumID = 240
  /// The most changes that are read from the store at once.
  private static let scanned = 500

  /// A change: the newest revision of a document.
  struct Row: Sendable {
    let sequence: SinceToken
    let id: DocumentID
    let revision: RevisionID
    /// The revision, or the version vector, as the client reads it.
    let text: String
    let isDeleted: Bool
  }

  /// Some rows.
  struct Page: Sendable {
    let rows: [Row]
    /// The position after them.
    let last: SinceToken
    /// Whether there are no more.
    let isComplete: Bool

    /// The body of `changes`.
    var body: [UInt8] {
      var writer = JSONWriter(reserving: rows.count * 96 + 2)
      writer.beginArray()
      for row in rows {
        writer.beginArray()
        writer.string(row.sequence.text)
        writer.string(row.id.text)
        writer.string(row.text)
        if row.isDeleted { writer.int(1) }
        writer.endArray()
      }
      writer.endArray()
      return writer.bytes
    }
  }

  let since: SinceToken
  let limit: Int
  let isActiveOnly: Bool
  let documents: Set<DocumentID>?
  let form: LiteForm

  /// Whether a change makes a row. Design documents are no documents for Couchbase Lite.
  fileprivate func includes(_ change: Change) -> Bool {
    guard !change.id.isDesign, change.id.text.utf8.count <= Self.maximumID else { return false }
    return !(isActiveOnly && change.isDeleted) && documents?.contains(change.id) ?? true
  }

  /// Reads changes until there are enough rows or the slice is over.
  fileprivate func read(
    _ progress: inout (rows: [Row], position: Int64?), _ view: any StoreView, _ tag: StoreTag
  ) throws -> Page? {
    let info = try view.info()
    var position = progress.position ?? since.position(in: info, of: tag).sequence
    while true {
      let changes = try view.changes(after: position, limit: Self.scanned)
      var seen = 0
      for change in changes {
        seen += 1
        position = change.sequence
        if includes(change) {
          progress.rows.append(try row(of: change, at: .at(position, in: info, of: tag), view))
        }
        if progress.rows.count == limit || view.slice.isOver { break }
      }
      let isAtEnd = seen == changes.count && changes.count < Self.scanned
      if isAtEnd || progress.rows.count == limit {
        if isAtEnd { position = max(position, info.lastSequence) }
        return Page(
          rows: progress.rows, last: .at(position, in: info, of: tag), isComplete: isAtEnd)
      }
      progress.position = position
      if view.slice.isOver { return nil }
    }
  }

  private func row(
    of change: Change, at sequence: SinceToken, _ view: any StoreView
  ) throws -> Row {
    let text: String
    if form == .vectors, let tree = try view.newest(change.id) {
      text = LiteRevision.text(LiteRevision.vector(of: change.revision, in: tree))
    } else {
      text = LiteRevision.text(change.revision, in: form)
    }
    return Row(
      sequence: sequence, id: change.id, revision: change.revision, text: text,
      isDeleted: change.isDeleted)
  }
}

extension CouchDatabase {
  /// The next changes for a client.
  func changes(_ query: LiteChanges) async throws -> LiteChanges.Page {
    let tag = tag
    return try await store.read(inSlices: LiteProgress()) { progress, view in
      try query.read(&progress.state, view, tag)
    }
  }

  /// The requests that send wanted revisions: `rev`, or `norev` for one that is replaced meanwhile. The replacement is in a
  /// later change.
  /// - Returns: a request for each of the first revisions, at least one.
  func revisions(_ wanted: [LitePull.Wanted], in form: LiteForm) async throws -> [LiteRequest] {
    try await store.read(inSlices: [LiteRequest]()) { requests, view in
      for next in wanted.dropFirst(requests.count) {
        requests.append(try next.request(in: view, form))
        if view.slice.isOver { break }
      }
      let bytes = requests.reduce(0) { $0 + $1.body.count }
      return requests.count == wanted.count || bytes >= LitePull.Wanted.bytesAtOnce ? requests : nil
    }
  }
}

/// How far a page has been read.
private struct LiteProgress: Sendable {
  var state: (rows: [LiteChanges.Row], position: Int64?) = ([], nil)
}

extension LitePull.Wanted {
  /// The bodies that are read at once, in bytes, apart from the last one.
  fileprivate static let bytesAtOnce = 128 << 10

  fileprivate func request(in view: any StoreView, _ form: LiteForm) throws -> LiteRequest {
    let sequence = "\"" + row.sequence.text + "\""
    let current = LiteRevision.text(row.revision, in: form)
    var properties = ["id": row.id.text, "rev": current, "sequence": sequence]
    guard let document = try view.document(row.id), document.revision == row.revision,
      let tree = try view.newest(row.id)
    else {
      properties["error"] = "404"
      return LiteRequest("norev", properties, isNoReply: true)
    }
    if document.isDeleted { properties["deleted"] = "1" }
    let history = history(in: tree, form)
    if !history.isEmpty { properties["history"] = history }
    let body = try view.liteBody(document.body, of: row.id, row.revision)
    return LiteRequest("rev", properties, body: body)
  }

  private func history(in tree: RevisionTree, _ form: LiteForm) -> String {
    guard form == .trees else {
      return LiteRevision.vector(of: row.revision, in: tree).dropFirst().map(\.text)
        .joined(separator: ", ")
    }
    var texts: [String] = []
    for revision in tree.history(of: row.revision).dropFirst().prefix(maximumHistory) {
      texts.append(LiteRevision.text(revision, in: form))
      if texts.last.map(ancestors.contains) ?? false { break }
    }
    return texts.joined(separator: ",")
  }
}
