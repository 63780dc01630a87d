package import Documents
import Scheduling

/// Purges what was deleted long ago: tombstones, and branches that end in a tombstone.
///
/// A run reads the store in the order of its changes. It looks at each document once, when the document's
/// last change has become old. The position is stored (``PurgeLog/examined``), so that the next run only
/// reads what has become old since. A mark remains of each purged revision; see ``PurgedRevisions``.
extension DocumentStore {
  /// Purges old tombstones, and branches that end in a tombstone from live documents whose last change is
  /// old. Works in small updates.
  /// - Parameter spared: a document whose branches another rule purges.
  /// - Parameter isOld: whether a document whose last change was at this time is old.
  /// - Returns: how many documents were purged, completely or in part, and how many tombstones are left.
  /// - Throws: the errors of ``update(loading:as:answer:_:)``; `ended`.
  package func forget(
    sparing spared: DocumentID, _ isOld: @escaping @Sendable (Timestamp) -> Bool
  ) async throws -> Remains {
    var remains = Remains()
    remains.removed[.tombstones] = 0
    var reached: Int64?
    while true {
      let walk = try await read(inSlices: AgeWalk(after: reached, sparing: spared)) { walk, view in
        try walk.advance(in: view, isOld) ? walk : nil
      }
      if walk.isWorthNoting {
        remains.removed[.tombstones, default: 0] += try await update(
          loading: Set(walk.old), as: .server
        ) { changes in try changes.forget(walk, isOld) }
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

/// Searches a store's changes for documents that are old enough to be purged.
private struct AgeWalk: Sendable {
  /// How many documents one update purges at most. Each leaves marks for all its revisions.
  private static let atOnce = 20
  /// How many changes are read together. After as many changes the position is stored, also if nothing is
  /// purged.
  private static let page = 100

  /// The sequence number of the last change that was looked at; nil before the first.
  private(set) var examined: Int64?
  /// Whether no further change is old enough, or no further change exists.
  private(set) var isAtEnd = false
  /// The documents to be purged, completely or in part.
  private(set) var old: [DocumentID] = []
  private var count = 0
  private let spared: DocumentID

  /// Creates a walk that starts after a change; nil starts it at the stored position.
  init(after examined: Int64?, sparing spared: DocumentID) {
    (self.examined, self.spared) = (examined, spared)
  }

  /// Whether an update must follow.
  var isWorthNoting: Bool { !old.isEmpty || count >= Self.page }

  /// Continues until the slice is over.
  /// - Returns: whether enough was found, or everything was looked at.
  mutating func advance(in view: any StoreView, _ isOld: (Timestamp) -> Bool) throws -> Bool {
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
        if view.slice.isOver { return false }
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
  /// Purges the documents that a walk has found, unless they were written since, and stores the
  /// position.
  /// - Returns: how many documents were purged.
  fileprivate mutating func forget(_ walk: AgeWalk, _ isOld: (Timestamp) -> Bool) throws -> Int {
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

/// What a store has stored about its purges: the local document ``LocalID/purgeCount``, whose revision is
/// ``count`` and whose body is `{"forgotten"?,"examined"?}`.
package struct PurgeLog: Sendable, Equatable {
  /// How often revisions were purged, without purges for age.
  package var count: Int64 = 0
  /// The highest sequence number of a tombstone that was purged for its age; 0 for none. Tombstones are
  /// purged in the order of their numbers: a reader that has read up to this number has missed none.
  package var forgotten: Int64 = 0
  /// The sequence number of the last change that a run has looked at.
  var examined: Int64 = 0

  init() {}

  /// Reads a log.
  /// - Throws: `integrity` when the document is not JSON.
  init(_ local: LocalDocument) throws {
    guard let root = try? ParsedJSON(local.body, limits: .small).root else {
      throw ServiceError(.integrity, "What was purged can't be read")
    }
    count = local.revision
    forgotten = Int64(root["forgotten"]?.int ?? 0)
    examined = Int64(root["examined"]?.int ?? 0)
  }

  var edit: LocalEdit {
    var body: JSONObject = [:]
    if forgotten > 0 { body.append("forgotten", .number(JSONNumber(Int(forgotten)))) }
    if examined > 0 { body.append("examined", .number(JSONNumber(Int(examined)))) }
    return LocalEdit(
      .purgeCount, LocalDocument(revision: count, body: JSONValue.object(body).bytes))
  }
}

extension StoreView {
  /// The log of the store's purges; nil when there was none.
  package func purgeLog() throws -> PurgeLog? { try local(.purgeCount).map(PurgeLog.init) }
}
