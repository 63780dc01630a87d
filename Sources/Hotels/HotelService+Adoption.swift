import Documents
package import Stores

/// What became of a guest's store.
package struct Adoption: Sendable, Equatable {
  /// How many bookmarks the user has more by this.
  package let bookmarks: Int
  /// Whether all of it has come. Revisions for which documents had no room stay in the guest's store.
  package let isWhole: Bool
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
  ) async throws(HotelError) -> Adoption {
    let carried = try await read(guest, inSlices: CarriedStore()) {
      carried, view throws(StoreError) in try carried.read(view) ? carried : nil
    }
    guard let carried, !carried.isEmpty, guest != user else {
      return Adoption(bookmarks: 0, isWhole: true)
    }
    let id = LocalID(receipt: guest.key)
    let first = try await change(user, creating: true, carried.bookmarks.map(\.id)) {
      edit throws(HotelError) in try edit.adopt(carried, receipt: id)
    }
    guard let first else { throw HotelError(StoreError.absent) }
    guard first.receipt.waiting?.isEmpty != true else {
      return Adoption(bookmarks: first.count, isWhole: true)
    }
    let waiting = try await take(carried.others, waitingIn: first.receipt, into: user)
    let receipt = AdoptionReceipt(bookmarks: first.receipt.bookmarks, waiting: waiting)
    if receipt != first.receipt {
      _ = try await change(user, creating: true, []) { edit throws(HotelError) in
        try edit.keep(receipt, as: id)
      }
    }
    return Adoption(bookmarks: first.count, isWhole: waiting.isEmpty)
  }

  /// Takes the revisions that a receipt says are waiting, an update for each rank of them.
  /// - Returns: those for which there was no room.
  private func take(
    _ ranks: [[CarriedStore.Revision]], waitingIn receipt: AdoptionReceipt, into user: StoreName
  ) async throws(HotelError) -> Set<AdoptionReceipt.Place> {
    var left: Set<AdoptionReceipt.Place> = []
    for revisions in ranks {
      let wanted = revisions.filter { revision in
        revision.place.map { receipt.waiting?.contains($0) ?? true } ?? false
      }
      guard !wanted.isEmpty else { continue }
      let refused = try await change(user, creating: true, []) { edit throws(HotelError) in
        var refused: [AdoptionReceipt.Place] = []
        for revision in wanted {
          if try !edit.take(revision), let place = revision.place { refused.append(place) }
        }
        return refused
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
  ) throws(HotelError) -> (count: Int, receipt: AdoptionReceipt) {
    if let known = try local(id) { return (0, AdoptionReceipt(known)) }
    var count = 0
    for bookmark in carried.bookmarks
    where try adopt(bookmark, noted: carried.notes[bookmark.id]) { count += 1 }
    var isWhole = carried.others.count < 2
    for winner in carried.others.first ?? [] where try !take(winner) { isWhole = false }
    let receipt = AdoptionReceipt(bookmarks: count, waiting: isWhole ? [] : nil)
    try keep(receipt, as: id)
    return (count, receipt)
  }

  /// Writes a receipt over the one that is there.
  fileprivate mutating func keep(
    _ receipt: AdoptionReceipt, as id: LocalID
  ) throws(HotelError) {
    let revision = (try local(id)?.revision ?? 0) + 1
    locals.append(LocalEdit(id, LocalDocument(revision: revision, body: receipt.body)))
  }
}
