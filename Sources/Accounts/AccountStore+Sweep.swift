import Documents
import JSON
import Scheduling
import Stores

/// Documents that the system store keeps for a limited time.
extension AccountStore {
  /// How many documents one update removes at most.
  static let endedAtOnce = 100

  /// The progress of a walk over documents.
  struct DocumentWalk<Found: Sendable>: Sendable {
    /// The last document that was read; nil for none.
    var last: String?
    /// The results so far.
    var found: Found
    /// Whether the walk has enough results.
    var isFull = false
  }

  /// Documents that are no longer needed.
  struct Ended: Sendable {
    var tombstones: [DocumentID] = []
    /// Records of former guests whose tokens are too old.
    var notes: [DocumentID] = []
    /// How many other records of former guests there are.
    var kept = 0
  }

  /// Walks over documents in slices.
  /// - Parameter take: processes one document; sets ``DocumentWalk/isFull`` when it has enough.
  func walk<Found: Sendable>(
    _ range: DocumentRange, _ start: DocumentWalk<Found>,
    _ take: @escaping @Sendable (inout DocumentWalk<Found>, Document) throws -> Void
  ) async throws -> DocumentWalk<Found> {
    try await stores.withStore(.system, creating: false) { store in
      guard let store else { return start }
      return try await store.read(inSlices: start) { walk, view in
        let rest = walk.last.map(range.behind) ?? range
        var isOver = false
        try view.documents(rest) { document in
          walk.last = document.id.text
          try take(&walk, document)
          isOver = walk.isFull || view.slice.isOver
          return !isOver
        }
        return isOver && !walk.isFull ? nil : walk
      }
    }
  }

  func openAdoptions() async throws -> [OpenAdoption] {
    try await walk(AccountKeys.users, DocumentWalk(found: [OpenAdoption]())) { walk, document in
      guard let user = try UserDocument(document) else { return }
      walk.found += user.adopting.map {
        OpenAdoption(guest: $0, user: user.id, account: document.id)
      }
    }.found
  }

  /// The guests that a user has adopted or is adopting, according to the records that still exist.
  func guestsTaken(by user: AccountID) async throws -> [AccountID] {
    let range = DocumentRange(start: AccountKeys.guestPrefix, end: "guest;")
    return try await walk(range, DocumentWalk(found: [AccountID]())) {
      walk, document in
      guard let guest = AccountKeys.guest(of: document.id),
        try Self.root(of: document.body)["user"]?.stringEquals(user.text) ?? false
      else { return }
      walk.found.append(guest)
    }.found
  }

  /// Finds documents that are no longer needed: tombstones, which no peer reads, and records of former guests whose
  /// tokens are too old.
  /// - Parameter last: the document after which the walk starts; nil for the first.
  func findEnded(
    after last: String?, isOver: @escaping @Sendable (Timestamp) -> Bool
  ) async throws -> DocumentWalk<Ended> {
    try await walk(DocumentRange(includesDeleted: true), DocumentWalk(last: last, found: Ended())) {
      walk, document in
      if document.isDeleted {
        walk.found.tombstones.append(document.id)
      } else if AccountKeys.guest(of: document.id) != nil {
        if isOver(document.updated) {
          walk.found.notes.append(document.id)
        } else {
          walk.found.kept += 1
        }
      }
      walk.isFull = walk.found.tombstones.count + walk.found.notes.count >= Self.endedAtOnce
    }
  }

  /// Purges documents.
  /// - Parameter isOver: whether a document that is not a tombstone may be removed.
  /// - Returns: how many were removed.
  func remove(
    _ ids: [DocumentID], isOver: @escaping @Sendable (Timestamp) -> Bool
  ) async throws -> Int {
    guard !ids.isEmpty else { return 0 }
    return try await stores.update(.system, loading: Set(ids), as: .server) { changes in
      for id in ids {
        guard let document = try changes.view.document(id),
          document.isDeleted || isOver(document.updated)
        else { continue }
        changes.purge(Purge(id: id, tree: RevisionTree(), leavesMarks: false))
      }
      return changes.purges.count
    }
  }

  /// The stored progress of the sweep; a new one when none is stored, or when it comes from a backup.
  func sweepState(at now: Timestamp) async throws -> SweepState {
    let new = SweepState(at: now)
    return try await read(orAbsent: new) { view in
      let epoch = try view.info().epoch
      return try view.local(SweepState.id).flatMap { SweepState($0, epoch: epoch) } ?? new
    }
  }

  func save(_ state: SweepState) async throws {
    try await stores.update(.system, as: .server) { changes in
      let revision = (try changes.local(SweepState.id)?.revision ?? 0) &+ 1
      let body = state.body(epoch: try changes.view.info().epoch)
      changes.write(LocalEdit(SweepState.id, LocalDocument(revision: revision, body: body)))
    }
  }
}
