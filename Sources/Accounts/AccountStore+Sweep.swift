import Documents
import Scheduling
import Stores

/// Documents that the system store keeps for a limited time.
extension AccountStore {
  /// How many documents one update removes at most.
  static let endedAtOnce = 100

  /// The progress of a walk over documents.
  struct DocumentWalk<Found: Sendable>: Sendable {
    /// The last document that was read or passed over; nil for none.
    var last: String?
    /// The results so far.
    var found: Found
    /// How many documents were passed over because they can't be read.
    var unreadable = 0
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

  /// Walks over documents in slices, and passes over those that can't be read.
  /// - Parameter take: processes one document; sets ``DocumentWalk/isFull`` when it has enough. Throws `integrity`, before
  ///   it changes anything, for a document that it can't read.
  func walk<Found: Sendable>(
    _ range: DocumentRange, _ start: DocumentWalk<Found>,
    _ take: @escaping @Sendable (inout DocumentWalk<Found>, Document) throws -> Void
  ) async throws -> DocumentWalk<Found> {
    try await stores.read(.system, inSlices: start) { walk, view in
      while true {
        let isOver = try unlessDamaged { () -> Bool? in
          var isOver = false
          try view.documents(walk.last.map(range.behind) ?? range) { document in
            try take(&walk, document)
            walk.last = document.id.text
            isOver = walk.isFull || view.slice.isOver
            return !isOver
          }
          return isOver
        }
        if let isOver { return isOver && !walk.isFull ? nil : walk }
        // The row of the next id, or of the one behind the range, which an engine may read, too, can't be read.
        let rest = walk.last.map(range.behind) ?? range
        guard let id = try view.count(rest, among: 1).last else { return walk }
        let isRead: Void? = try unlessDamaged {
          guard let found = try view.document(id), range.includesDeleted || !found.isDeleted
          else { return () }
          return try take(&walk, found)
        }
        if isRead == nil { walk.unreadable += 1 }
        walk.last = id.text
        if walk.isFull { return walk }
        if view.slice.isOver { return nil }
      }
    } ?? start
  }

  func openAdoptions() async throws -> OpenAdoptions {
    let walk = try await walk(AccountKeys.users, DocumentWalk(found: [OpenAdoption]())) {
      walk, document in
      guard let user = try UserDocument(document) else { return }
      walk.found += user.adopting.map {
        OpenAdoption(guest: $0, user: user.id, account: document.id)
      }
    }
    return OpenAdoptions(all: walk.found, isComplete: walk.unreadable == 0)
  }

  /// The guests that a user has adopted or is adopting, according to the records that still exist.
  /// - Returns: the guests, and whether all records could be read.
  func guestsTaken(by user: AccountID) async throws -> (guests: [AccountID], isComplete: Bool) {
    let range = DocumentRange(start: AccountKeys.guestPrefix, end: "guest;")
    let walk = try await walk(range, DocumentWalk(found: [AccountID]())) {
      walk, document in
      guard let guest = AccountKeys.guest(of: document.id),
        try Self.root(of: document.body)["user"]?.stringEquals(user.text) ?? false
      else { return }
      walk.found.append(guest)
    }
    return (walk.found, walk.unreadable == 0)
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
  /// - Returns: how many were removed. Documents that can't be read stay.
  func remove(
    _ ids: [DocumentID], isOver: @escaping @Sendable (Timestamp) -> Bool
  ) async throws -> Int {
    do { return try await removeTogether(ids, isOver: isOver) } catch {
      guard ServiceError(error)?.code == .integrity else { throw error }
    }
    var count = 0
    guard ids.count > 1 else { return count }
    for id in ids { count += try await remove([id], isOver: isOver) }
    return count
  }

  private func removeTogether(
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

  /// The stored progress of the sweep; a new one when none is stored, when it can't be read, or when it comes from a
  /// backup.
  func sweepState(at now: Timestamp) async throws -> SweepState {
    let new = SweepState(at: now)
    return try await read(orAbsent: new) { view in
      let epoch = try view.info().epoch
      let note = try unlessDamaged { try view.local(SweepState.id) }
      return note.flatMap { SweepState($0, epoch: epoch) } ?? new
    }
  }

  func save(_ state: SweepState) async throws {
    try await stores.update(.system, as: .server) { changes in
      let note = try unlessDamaged { try changes.local(SweepState.id) }
      let revision = (note?.revision ?? 0) &+ 1
      let body = state.body(epoch: try changes.view.info().epoch)
      changes.write(LocalEdit(SweepState.id, LocalDocument(revision: revision, body: body)))
    }
  }
}
