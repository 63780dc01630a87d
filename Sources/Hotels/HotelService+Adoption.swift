import Documents
package import Stores

/// The result of adopting a guest's store.
package struct Adoption: Sendable, Equatable {
  /// How many bookmarks the user gained.
  package let bookmarks: Int
  /// Whether everything was adopted. Revisions that the user's documents have no space for stay in the guest's
  /// store.
  package let isWhole: Bool
}

extension PortableNotes {
  /// The notes that an export of a person's store contains beside the documents: what upstreams said of the
  /// bookmarks, and the adoption receipts.
  package static let ofBookmarks = PortableNotes(kept: [FactsNote.prefix], told: ["guest/"])
}

extension HotelService {
  /// Copies the contents of a guest's store into a user's store, exactly once: one update writes the receipt and
  /// the bookmarks. The guest's store is only read.
  ///
  /// The guest's bookmarks are added after the user's own, in the guest's order, byte for byte and with their
  /// times. So are the ids on the list whose hotels have not arrived. A hotel that the user has already is joined with the
  /// guest's; see ``HotelUnion``. Every other live document, and a hotel with conflicts, is copied with its history, as by
  /// sync. If the user has a document of the same id, it becomes a conflicting revision. The winners are copied with the
  /// bookmarks. Conflicting revisions follow, as many as the user's documents take (``RevisionTree/maximumLeaves``).
  /// Another call tries the remaining ones again.
  /// - Parameter claim: which claim of the guest this is. After an undo the guest may be claimed and adopted again.
  /// - Throws: `store`, also when the user's store has no space for everything.
  package func adopt(
    guest: StoreName, into user: StoreName, claim: String = ""
  ) async throws -> Adoption {
    // A person who signs up or logs in is not authenticated yet.
    let author: Author = if case .user(let id) = user { .user(id) } else { .server }
    let context = WriteContext(author: author)
    let carried = try await stores.read(guest, inSlices: CarriedStore()) {
      carried, view in try carried.read(view) ? carried : nil
    }
    guard let carried, !carried.isEmpty, guest != user else {
      return Adoption(bookmarks: 0, isWhole: true)
    }
    let id = LocalID(receipt: guest.key)
    let entries = try await stores.each(carried.bookmarks, in: user, HotelUnions.Entry.init(of:in:))
    let unions = HotelUnions(carried.bookmarks, entries ?? [])
    let first = try await change(user, creating: true, carried.bookmarks.map(\.id), as: context) {
      edit in
      try edit.adopt(carried, unions, receipt: id, claim: claim)
    }
    guard let first else { throw ServiceError.absent }
    guard first.receipt.waiting?.isEmpty != true else {
      return Adoption(bookmarks: first.count, isWhole: true)
    }
    let waiting = try await take(carried, waitingIn: first.receipt, of: id, into: user, as: context)
    if waiting != first.receipt.waiting {
      _ = try await change(user, creating: true, [], as: context) { edit in
        try edit.change(receipt: id) { $0.waiting = waiting }
      }
    }
    return Adoption(bookmarks: first.count, isWhole: waiting.isEmpty)
  }

  /// Copies the revisions that wait according to a receipt, with one update for each rank.
  /// - Returns: the revisions for which there was no space.
  private func take(
    _ carried: CarriedStore, waitingIn receipt: AdoptionReceipt, of id: LocalID,
    into user: StoreName, as context: WriteContext
  ) async throws -> Set<AdoptionReceipt.Reference> {
    var left: Set<AdoptionReceipt.Reference> = []
    for revisions in carried.others {
      let wanted = revisions.filter { revision in
        revision.reference.map { receipt.waiting?.contains($0) ?? true } ?? false
      }
      guard !wanted.isEmpty else { continue }
      let refused = try await change(user, creating: true, [], as: context) { edit in
        edit.attachments = carried.attachments
        let taken = try edit.take(wanted, isAgain: receipt.isAgain)
        if !taken.came.isEmpty { try edit.change(receipt: id) { $0.add(taken.came) } }
        return taken.refused
      }
      left.formUnion(refused ?? [])
    }
    return left
  }
}

extension BookmarkEdit {
  /// Adopts another store's bookmarks and the winners of its other documents, unless the receipt of the same claim
  /// exists already.
  /// - Returns: how many bookmarks were added, and the receipt.
  fileprivate mutating func adopt(
    _ carried: CarriedStore, _ unions: HotelUnions, receipt id: LocalID, claim: String
  ) throws -> (count: Int, receipt: AdoptionReceipt) {
    let former = try local(id)
    if let known = former.map(AdoptionReceipt.init), known.claim.equalsBytes(of: claim) {
      return (0, known)
    }
    var receipt = AdoptionReceipt(bookmarks: 0, waiting: nil)
    (receipt.time, receipt.claim, receipt.isAgain) = (now, claim, former != nil)
    attachments = carried.attachments
    receipt.members = try carried.listBody.flatMap { try takeMembers(of: $0) }
    let unstored = carried.unstored
    for (ids, bookmark) in zip(unstored, carried.bookmarks) {
      list(ids)
      let adopted = try adopt(bookmark, noted: carried.notes[bookmark.id]) { present in
        try unions.union(of: present, with: bookmark)
      }
      guard let adopted else { continue }
      if adopted.isBookmark { receipt.bookmarks += 1 }
      receipt.add([adopted.came])
    }
    list(unstored.last ?? [])
    let ids = unstored.flatMap(\.self)
    // So many can't be undone, and need not be told from those that the user has.
    let isLong = ids.count > BookmarkLimits.undoneRevisions
    receipt.add(listed: isLong ? ids : ids.filter { !list.contains($0) })
    let winners = try take(carried.others.first ?? [], isAgain: receipt.isAgain)
    receipt.add(winners.came)
    if carried.others.count < 2, winners.refused.isEmpty { receipt.waiting = [] }
    let revision = (former?.revision ?? 0) + 1
    locals.append(LocalEdit(id, LocalDocument(revision: revision, body: receipt.body)))
    return (receipt.bookmarks, receipt)
  }

  /// Copies revisions of another store.
  /// - Returns: the revisions that were copied, without those that were known, and those for which there was no
  ///   space.
  fileprivate mutating func take(
    _ revisions: [CarriedStore.Revision], isAgain: Bool
  ) throws -> (came: [AdoptionReceipt.Came], refused: [AdoptionReceipt.Reference]) {
    var came: [AdoptionReceipt.Came] = []
    var refused: [AdoptionReceipt.Reference] = []
    for revision in revisions {
      guard let reference = revision.reference else { continue }
      switch try take(revision, isAgain: isAgain) {
      case .taken(let taken):
        let reference = AdoptionReceipt.Reference(id: revision.id, revision: taken)
        came.append(AdoptionReceipt.Came(reference: reference))
      case .refused: refused.append(reference)
      case .known: break
      }
    }
    return (came, refused)
  }

  /// Changes an existing receipt.
  mutating func change(receipt id: LocalID, _ change: (inout AdoptionReceipt) -> Void) throws {
    guard let known = try local(id) else { return }
    var receipt = AdoptionReceipt(known)
    change(&receipt)
    locals.append(LocalEdit(id, LocalDocument(revision: known.revision + 1, body: receipt.body)))
  }
}
