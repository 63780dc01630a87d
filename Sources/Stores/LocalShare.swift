import Documents
import Scheduling

/// How many local documents one writer of a store may have, and which of them make room for new ones.
///
/// A guest's or user's store has one writer. In a list's store each member has a share, and a local document belongs to the
/// member who wrote it first, or whom its id names (``LocalID/checkpoints(of:in:)``): others read it and can't overwrite it.
/// Documents of a checkpoint's shape (``LocalDocument/isCheckpoint``) that were not written for longest make room for new
/// ones of that shape. Others never go by themselves.
///
/// In a list's store all of them count for the list's owner (``StoreRoom``), too.
///
/// The store's own notes say what belongs to whom: `receipt/local/<writer>/<id>` (``LocalRecord``), and in a list's store
/// `receipt/local-writer/<id>`, the account's id. In other stores only checkpoints have notes.
struct LocalShare {
  /// The writer's name in the ids of the notes.
  private let writer: String
  /// Whether other writers have shares in the same store.
  private let isShared: Bool
  private let limits: StoreLimits

  /// The writer's share of a store; nil for what the service does itself, and in a store without limits.
  init?(of author: Author, in store: StoreName, _ limits: StoreLimits) {
    guard limits.localDocuments < .max || limits.localBytes < .max else { return nil }
    self.limits = limits
    guard case .list = store else {
      (writer, isShared) = ("own", false)
      return
    }
    switch author {
    case .user(let id), .guest(let id): (writer, isShared) = (id.text, true)
    case .administrator, .server: return nil
    }
  }

  /// Checks the local documents that an update writes, makes room for them, and notes whose they are.
  /// - Throws: `quotaExceeded` beyond the share; `forbidden` for another member's document; `absent` for a former member.
  static func settle(
    _ changes: inout StoreChanges, in store: StoreName, within limits: StoreLimits,
    from device: DeviceLabel?, at now: Timestamp
  ) throws {
    let edits = changes.locals.filter { $0.id.text.utf8.starts(with: LocalID.clientPrefix.utf8) }
    guard !edits.isEmpty else { return }
    try ListWriters.require(changes, in: store)
    guard let share = LocalShare(of: changes.author, in: store, limits) else { return }
    if share.isShared { try share.requireOwn(edits, in: changes.view) }
    try share.makeRoom(for: edits, in: &changes)
    for edit in edits { share.note(edit, in: &changes, from: device, at: now) }
    if share.isShared { try share.count(in: &changes) }
  }

  /// Counts what the update changes for the list. Checkpoints are counted and never refused, because a member could not
  /// read the list without them.
  private func count(in changes: inout StoreChanges) throws {
    let clients = changes.locals.lazy.map(\.id).filter {
      $0.text.utf8.starts(with: LocalID.clientPrefix.utf8)
    }
    var bytes: Int64 = 0
    for id in Set(clients) {
      let (document, former) = (try changes.local(id), try changes.view.local(id))
      let grown = Self.bytes(document) - Self.bytes(former)
      bytes += grown
      if (document ?? former)?.isCheckpoint == false { changes.sharedBytes += grown }
    }
    if bytes != 0 { try changes.addBytes(bytes, to: .localTotal) }
  }

  /// What a local document counts for the list.
  fileprivate static func bytes(_ document: LocalDocument?) -> Int64 {
    document.map { Int64($0.body.count) + StoreRoom.rowBytes } ?? 0
  }

  private func requireOwn(_ edits: [LocalEdit], in view: any StoreView) throws {
    for edit in edits where try !isOwn(edit.id, in: view) {
      throw ServiceError(.forbidden, "This local document is another member's: use another id")
    }
  }

  private func isOwn(_ id: LocalID, in view: any StoreView) throws -> Bool {
    guard !id.text.utf8.starts(with: LocalID.checkpointPrefix.utf8) else {
      return id.text.utf8.starts(with: LocalID.checkpoints(of: writer).utf8)
    }
    return try view.local(Self.writer(of: id))?.body.elementsEqual(writer.utf8) ?? true
  }

  private func note(
    _ edit: LocalEdit, in changes: inout StoreChanges, from device: DeviceLabel?, at now: Timestamp
  ) {
    guard let document = edit.document else { return forget(edit.id, in: &changes) }
    let isCheckpoint = document.isCheckpoint
    guard isShared || isCheckpoint else { return forget(edit.id, in: &changes) }
    let record = LocalRecord(
      id: edit.id, written: now, bytes: Int64(document.body.count), isCheckpoint: isCheckpoint,
      device: device)
    changes.write(
      LocalEdit(
        LocalID(stored: folder + edit.id.text), LocalDocument(revision: 1, body: record.json))
    )
    guard isShared else { return }
    changes.write(
      LocalEdit(Self.writer(of: edit.id), LocalDocument(revision: 1, body: Array(writer.utf8))))
  }

  private func forget(_ id: LocalID, in changes: inout StoreChanges) {
    changes.write(LocalEdit(LocalID(stored: folder + id.text), nil))
    if isShared { changes.write(LocalEdit(Self.writer(of: id), nil)) }
  }

  /// The prefix of the writer's notes.
  private var folder: String { Self.folder(of: writer) }

  fileprivate static func folder(of writer: String) -> String {
    LocalID.receiptPrefix + "local/" + writer + "/"
  }

  fileprivate static func writer(of id: LocalID) -> LocalID {
    LocalID(receipt: "local-writer/" + id.text)
  }

  // MARK: The rule about room

  /// Number and bytes of local documents.
  private struct Usage {
    var count: Int64 = 0
    var bytes: Int64 = 0
    /// How many of them have the shape of a checkpoint.
    var checkpoints: Int64 = 0

    func exceeds(_ limits: StoreLimits) -> Bool {
      count > limits.localDocuments || bytes > limits.localBytes
        || checkpoints > StoreLimits.checkpoints
    }
  }

  private func makeRoom(for edits: [LocalEdit], in changes: inout StoreChanges) throws {
    let view = changes.view
    var growth = Usage()
    for edit in edits {
      let old = try view.local(edit.id)
      growth.count += (edit.document == nil ? 0 : 1) - (old == nil ? 0 : 1)
      growth.bytes += Int64((edit.document?.body.count ?? 0) - (old?.body.count ?? 0))
      growth.checkpoints += (edit.document?.isCheckpoint ?? false) ? 1 : 0
      growth.checkpoints -= (old?.isCheckpoint ?? false) ? 1 : 0
    }
    guard growth.count > 0 || growth.bytes > 0 || growth.checkpoints > 0 else { return }
    let before = try usage(in: view, withCheckpoints: growth.checkpoints > 0)
    var after = before
    after.count += growth.count
    after.bytes += growth.bytes
    after.checkpoints += growth.checkpoints
    guard after.exceeds(limits) else { return }
    if edits.allSatisfy({ $0.document?.isCheckpoint ?? true }) {
      let written = Set(edits.map(\.id))
      let oldest = try records(in: view).filter { $0.isCheckpoint && !written.contains($0.id) }
        .sorted { $0.written < $1.written }
      for record in oldest where after.exceeds(limits) {
        changes.write(LocalEdit(record.id, nil))
        forget(record.id, in: &changes)
        after.count -= 1
        after.bytes -= record.bytes
        after.checkpoints -= 1
      }
    }
    guard after.exceeds(limits), after.count > before.count || after.bytes > before.bytes else {
      return
    }
    throw ServiceError(
      .quotaExceeded,
      "The store is full of your local documents: at most \(limits.localDocuments), "
        + "\(limits.localBytes) bytes")
  }

  private func usage(in view: any StoreView, withCheckpoints: Bool) throws -> Usage {
    guard !isShared else {
      return try records(in: view).reduce(into: Usage()) { sum, record in
        sum.count += 1
        sum.bytes += record.bytes
        sum.checkpoints += record.isCheckpoint ? 1 : 0
      }
    }
    let all = try view.localUsage(of: LocalID.clientPrefix)
    return Usage(
      count: all.count, bytes: all.bytes,
      checkpoints: withCheckpoints ? try view.localUsage(of: folder).count : 0)
  }

  func records(in view: any StoreView) throws -> [LocalRecord] {
    try view.localValues(.below(folder)) { LocalRecord($1, $0, below: folder) }
  }
}

extension LocalDocument {
  /// Whether the document has the shape of a replication's checkpoint, which a replicator can do without: an object with
  /// `session_id` and `history`, or Couchbase Lite's with `time` and how far it has sent or received.
  ///
  /// Source: CouchDB, "Replication Protocol: Retrieve Replication Logs"; LiteCore's `Checkpoint`.
  var isCheckpoint: Bool {
    guard let root = try? ParsedJSON(body, limits: .stored).root else { return false }
    if root["time"]?.kind == .number { return root["local"] != nil || root["remote"] != nil }
    return root["session_id"]?.string != nil && root["history"]?.kind == .array
  }
}

extension LocalID {
  /// The document that a note in a folder is about.
  init(of note: LocalID, below folder: String) {
    self.init(stored: String(decoding: note.text.utf8.dropFirst(folder.utf8.count), as: UTF8.self))
  }

  /// The prefix of the ids of Couchbase Lite's checkpoints.
  fileprivate static let checkpointPrefix = clientPrefix + "lite/"

  /// The prefix of a writer's checkpoints in a list's store, where each member has their own. A device that syncs one
  /// database by two accounts names the checkpoints of both alike, and could not write that of the other.
  fileprivate static func checkpoints(of writer: String) -> String {
    checkpointPrefix + Hex.digest(of: writer, digits: 16) + "/"
  }

  /// The prefix of the ids of a writer's checkpoints of Couchbase Lite.
  package static func checkpoints(of author: Author, in store: StoreName) -> String {
    guard case .list = store else { return checkpointPrefix }
    switch author {
    case .user(let id), .guest(let id): return checkpoints(of: id.text)
    case .administrator, .server: return checkpointPrefix
    }
  }

  /// How many bytes the members of a list have in local documents.
  static let localTotal = LocalID(receipt: "local-total")

  /// The prefix of the notes about what was refused of a person's devices.
  package static func refused(by account: AccountID) -> String {
    receiptPrefix + "refused/" + account.text + "/"
  }
}

/// The end of a writer's share.
extension DocumentStore {
  /// How many notes one update reads.
  private static let forgottenAtOnce = 100

  /// Removes the local documents and the kept answers of a person who may not write to this store any more.
  package func forget(writer account: AccountID) async throws {
    let isDone = { @Sendable (changes: inout StoreChanges) throws -> Bool in
      try changes.forget(writer: account, atMost: Self.forgottenAtOnce)
    }
    while try await !update(as: .server, isDone) { try await Slice.giveWay() }
  }
}

extension StoreChanges {
  /// Removes the checkpoints of a person of whom something was refused.
  mutating func forgetCheckpoints(of account: AccountID) throws {
    guard try view.localUsage(of: LocalID.refused(by: account)).count > 0 else { return }
    let folder = LocalShare.folder(of: account.text)
    let records = try view.localValues(.below(folder)) { LocalRecord($1, $0, below: folder) }
    try remove(records.lazy.filter(\.isCheckpoint).map(\.id), below: folder)
  }

  /// Removes local documents with their notes.
  private mutating func remove(_ ids: some Sequence<LocalID>, below folder: String) throws {
    var bytes: Int64 = 0
    for id in ids {
      bytes += LocalShare.bytes(try view.local(id))
      for gone in [id, LocalID(stored: folder + id.text), LocalShare.writer(of: id)] {
        write(LocalEdit(gone, nil))
      }
    }
    if bytes > 0 { try addBytes(-bytes, to: .localTotal) }
  }

  /// - Returns: whether nothing is left.
  fileprivate mutating func forget(writer account: AccountID, atMost limit: Int) throws -> Bool {
    // Who has joined again meanwhile keeps the rest.
    guard try !ListWriters.has(account, in: view) else { return true }
    var found: [LocalID] = []
    let locals = LocalShare.folder(of: account.text)
    let folders = [
      locals, LocalID.refused(by: account), AnswerKeys.answers(of: account),
      AnswerKeys.contents(of: account),
      AnswerKeys.sums(of: account),
    ]
    for folder in folders where found.count < limit {
      try view.locals(.below(folder)) { id, _ in
        found.append(id)
        return found.count < limit
      }
    }
    for id in found { write(LocalEdit(id, nil)) }
    let notes = found.filter { $0.text.utf8.starts(with: locals.utf8) }
    try remove(notes.map { LocalID(of: $0, below: locals) }, below: locals)
    let folder = AnswerKeys.sums(of: account)
    let sums = found.filter { $0.text.utf8.starts(with: folder.utf8) }
    if !sums.isEmpty {
      var all = try AnswerLedger(below: AnswerKeys.allSums, in: view)
      all.remove(sums, of: try AnswerLedger(below: folder, in: view))
      for edit in all.edits { write(edit) }
    }
    return found.count < limit
  }
}
