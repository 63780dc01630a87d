package import Documents
import JSON
import Lanes

/// Forgetting what has been deleted for long: tombstones, and branches that end in one.
///
/// A store is walked in the order of its changes, and each document is looked at once, when its last change has become
/// old. How far the walk has come is noted (``PurgeLog/examined``), so that a visit costs what has become old since the
/// one before. Of each forgotten revision a mark remains; see ``PurgedRevisions``.
extension DocumentStore {
  /// Forgets, in small updates, the tombstones that are old, and of live documents whose last change is old the
  /// branches that end in a tombstone. Which is old is said by when a document last changed.
  /// - Parameter spared: a document whose branches are forgotten by a rule of its own.
  /// - Returns: how many documents were forgotten in whole or in part, and how many tombstones are left.
  /// - Throws: as ``update(loading:_:)``; `ended`.
  package func forget(
    sparing spared: DocumentID, _ isOld: @escaping @Sendable (Timestamp) -> Bool
  ) async throws -> Remains {
    var remains = Remains()
    remains.removed[.tombstones] = 0
    var reached: Int64?
    while true {
      let walk = try await read(inSlices: AgeWalk(after: reached, sparing: spared)) { walk, view in
        try walk.goOn(in: view, isOld) ? walk : nil
      }
      if walk.isWorthNoting {
        remains.removed[.tombstones, default: 0] += try await update(loading: Set(walk.old)) {
          changes in try changes.forget(walk, isOld)
        }
      }
      reached = walk.examined
      guard !walk.isAtEnd else { break }
      try await Slice.giveWay()
    }
    remains.kept[.tombstones] = try await readInline { view in
      Int(clamping: try view.info().deletedCount)
    }
    return remains
  }
}

/// A walk over a store's changes that looks for what is old enough to be forgotten.
private struct AgeWalk: Sendable {
  /// Documents that one update forgets at most; each leaves as many marks as it has revisions.
  private static let atOnce = 20
  /// Changes that are read at once, and after which it is noted how far the walk has come though nothing is forgotten.
  private static let page = 100

  /// The number of the last change that was looked at; nil before the first.
  private(set) var examined: Int64?
  /// Whatever follows is too young, or there is nothing.
  private(set) var isAtEnd = false
  /// The documents that are to be forgotten, in whole or in part.
  private(set) var old: [DocumentID] = []
  private var count = 0
  private let spared: DocumentID

  /// A walk that goes on after a change; where it was noted last, for nil.
  init(after examined: Int64?, sparing spared: DocumentID) {
    (self.examined, self.spared) = (examined, spared)
  }

  /// Whether an update is to follow.
  var isWorthNoting: Bool { !old.isEmpty || count >= Self.page }

  /// Goes on until the slice is over.
  /// - Returns: whether enough was found, or all was looked at.
  mutating func goOn(
    in view: any StoreView, _ isOld: (Timestamp) -> Bool
  ) throws -> Bool {
    var last = try examined ?? view.purgeLog()?.examined ?? 0
    while true {
      let changes = try view.changes(after: last, limit: Self.page)
      for change in changes {
        guard let document = try view.document(change.id), isOld(document.updated) else {
          isAtEnd = true
          return true
        }
        if try change.isDeleted || hasClosedBranch(change.id, in: view) { old.append(change.id) }
        last = change.sequence
        examined = last
        count += 1
        if old.count == Self.atOnce { return true }
        if Slice.isOver { return false }
      }
      guard changes.count == Self.page else {
        isAtEnd = true
        return true
      }
      if count >= Self.page { return true }
    }
  }

  private func hasClosedBranch(_ id: DocumentID, in view: any StoreView) throws -> Bool {
    guard id != spared else { return false }
    return try view.newest(id)?.nodes.contains { $0.isLeaf && $0.isDeleted } ?? false
  }
}

extension StoreChanges {
  /// Forgets what a walk has found, as far as nobody has written to it since, and notes how far the walk has come.
  /// - Returns: how many documents.
  fileprivate mutating func forget(
    _ walk: AgeWalk, _ isOld: (Timestamp) -> Bool
  ) throws -> Int {
    var log = try view.purgeLog() ?? PurgeLog()
    for id in walk.old {
      guard let document = try view.document(id), isOld(document.updated),
        let tree = try view.tree(id)
      else { continue }
      let closed = Set(tree.leaves.lazy.filter(\.isDeleted).map(\.revision))
      guard !closed.isEmpty else { continue }
      purge(Purge(id: id, tree: tree.purging(closed), isForAge: true))
      if document.isDeleted { log.forgotten = max(log.forgotten, document.sequence) }
    }
    log.examined = max(log.examined, walk.examined ?? 0)
    write(log.edit)
    return purges.count
  }
}

/// What a store knows of its own forgetting: the local document ``LocalID/purgeCount``, whose revision is ``count`` and
/// whose body is `{"forgotten"?,"examined"?}`.
package struct PurgeLog: Sendable, Equatable {
  /// How often revisions were forgotten, but for those that went for their age.
  package var count: Int64 = 0
  /// The number of the last change that was a tombstone and went for its age; 0 for none. Tombstones go in the order of
  /// their numbers: whoever has read so far has missed none.
  package var forgotten: Int64 = 0
  /// The number of the last change of which it was seen to whether it is to be forgotten.
  var examined: Int64 = 0

  /// Nothing was forgotten.
  init() {}

  /// Reads a log.
  /// - Throws: `integrity`.
  init(_ local: LocalDocument) throws {
    guard let root = try? ParsedJSON(local.body, limits: .small).root else {
      throw ServiceError(.integrity, "What was purged can't be read")
    }
    count = local.revision
    forgotten = Int64(root["forgotten"]?.int ?? 0)
    examined = Int64(root["examined"]?.int ?? 0)
  }

  /// What is stored.
  var edit: LocalEdit {
    var body: JSONObject = [:]
    if forgotten > 0 { body.append("forgotten", .number(JSONNumber(Int(forgotten)))) }
    if examined > 0 { body.append("examined", .number(JSONNumber(Int(examined)))) }
    return LocalEdit(
      .purgeCount, LocalDocument(revision: count, body: JSONValue.object(body).bytes))
  }
}

extension StoreView {
  /// What the store knows of its own forgetting; nil where it has forgotten nothing.
  package func purgeLog() throws -> PurgeLog? { try local(.purgeCount).map(PurgeLog.init) }
}
