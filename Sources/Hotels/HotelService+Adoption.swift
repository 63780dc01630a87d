import Documents
import JSON
package import Stores

/// What became of a guest's store.
package struct Adoption: Sendable, Equatable {
  /// How many bookmarks the user has more by this.
  package let bookmarks: Int
  /// Whether all of it has come. Revisions for which documents had no room stay in the guest's store.
  package let isWhole: Bool
}

extension PortableNotes {
  /// What an export has of a person's store beside the documents: what upstreams said of the bookmarks, and the receipts
  /// of what came from guests.
  package static let ofBookmarks = PortableNotes(kept: [FactsNote.prefix], told: ["guest/"])
}

extension HotelService {
  /// Takes what a guest's store holds over into a user's, exactly once: a receipt is written in the same
  /// update as the bookmarks. The guest's store is only read.
  ///
  /// Bookmarks come after the user's own, in the guest's order, byte for byte and with their times; what the
  /// user has bookmarked already stays the user's. Every other live document comes with its history, as by
  /// sync: beside a document of the same id that the user has, it is a conflicting revision. The winners come
  /// with the bookmarks; conflicting revisions follow, as many as the user's documents take
  /// (``RevisionTree/maximumLeaves``). The others can be tried again by calling this again.
  /// - Throws: `store`, also for a user's store that has no room for all of it.
  package func adopt(
    guest: StoreName, into user: StoreName
  ) async throws -> Adoption {
    guard case .user(let id) = user else { return try await carry(guest, into: user) }
    // Who signs up or logs in is nobody yet.
    return try await Author.$current.withValue(.user(id)) { try await carry(guest, into: user) }
  }

  private func carry(
    _ guest: StoreName, into user: StoreName
  ) async throws -> Adoption {
    let carried = try await read(guest, inSlices: CarriedStore()) {
      carried, view in try carried.read(view) ? carried : nil
    }
    guard let carried, !carried.isEmpty, guest != user else {
      return Adoption(bookmarks: 0, isWhole: true)
    }
    let id = LocalID(receipt: guest.key)
    let first = try await change(user, creating: true, carried.bookmarks.map(\.id)) {
      edit in try edit.adopt(carried, receipt: id)
    }
    guard let first else { throw ServiceError.absent }
    guard first.receipt.waiting?.isEmpty != true else {
      return Adoption(bookmarks: first.count, isWhole: true)
    }
    let waiting = try await take(carried.others, waitingIn: first.receipt, of: id, into: user)
    if waiting != first.receipt.waiting {
      _ = try await change(user, creating: true, []) { edit in
        try edit.change(receipt: id) { $0.waiting = waiting }
      }
    }
    return Adoption(bookmarks: first.count, isWhole: waiting.isEmpty)
  }

  /// Takes the revisions that a receipt says are waiting, an update for each rank of them.
  /// - Returns: those for which there was no room.
  private func take(
    _ ranks: [[CarriedStore.Revision]], waitingIn receipt: AdoptionReceipt, of id: LocalID,
    into user: StoreName
  ) async throws -> Set<AdoptionReceipt.Place> {
    var left: Set<AdoptionReceipt.Place> = []
    for revisions in ranks {
      let wanted = revisions.filter { revision in
        revision.place.map { receipt.waiting?.contains($0) ?? true } ?? false
      }
      guard !wanted.isEmpty else { continue }
      let refused = try await change(user, creating: true, []) { edit in
        let taken = try edit.take(wanted)
        if !taken.came.isEmpty { try edit.change(receipt: id) { $0.add(taken.came) } }
        return taken.refused
      }
      left.formUnion(refused ?? [])
    }
    return left
  }
}

extension BookmarkEdit {
  /// Takes another store's bookmarks and the winners of its other documents, unless its receipt is here.
  /// - Returns: how many bookmarks there are more, and the receipt.
  fileprivate mutating func adopt(
    _ carried: CarriedStore, receipt id: LocalID
  ) throws -> (count: Int, receipt: AdoptionReceipt) {
    if let known = try local(id) { return (0, AdoptionReceipt(known)) }
    var receipt = AdoptionReceipt(bookmarks: 0, waiting: nil)
    receipt.time = now
    for bookmark in carried.bookmarks {
      guard let came = try adopt(bookmark, noted: carried.notes[bookmark.id]) else { continue }
      receipt.bookmarks += 1
      receipt.add([came])
    }
    let winners = try take(carried.others.first ?? [])
    receipt.add(winners.came)
    if carried.others.count < 2, winners.refused.isEmpty { receipt.waiting = [] }
    locals.append(LocalEdit(id, LocalDocument(revision: 1, body: receipt.body)))
    return (receipt.bookmarks, receipt)
  }

  /// Takes revisions of another store's over.
  /// - Returns: those that came, without those that were known, and those for which there was no room.
  fileprivate mutating func take(
    _ revisions: [CarriedStore.Revision]
  ) throws -> (came: [AdoptionReceipt.Came], refused: [AdoptionReceipt.Place]) {
    var came: [AdoptionReceipt.Came] = []
    var refused: [AdoptionReceipt.Place] = []
    for revision in revisions {
      guard let place = revision.place else { continue }
      switch try take(revision) {
      case .taken: came.append(AdoptionReceipt.Came(place: place))
      case .refused: refused.append(place)
      case .known: break
      }
    }
    return (came, refused)
  }

  /// Changes a receipt that is there.
  mutating func change(
    receipt id: LocalID, _ change: (inout AdoptionReceipt) -> Void
  ) throws {
    guard let known = try local(id) else { return }
    var receipt = AdoptionReceipt(known)
    change(&receipt)
    locals.append(LocalEdit(id, LocalDocument(revision: known.revision + 1, body: receipt.body)))
  }
}
