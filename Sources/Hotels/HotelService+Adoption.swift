package import Documents
import JSON
import Lanes
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

/// Something that was taken over from a guest.
package struct TakenOver: Sendable, Equatable {
  /// The guest.
  package let guest: AccountID
  /// How many bookmarks the user got by it.
  package let bookmarks: Int
  /// When it came.
  package let time: Timestamp
  /// Until when it can be undone.
  package let undoableUntil: Timestamp
}

extension HotelService {
  /// Adoptions that one answer lists at most.
  private static let listedAdoptions = 100
  /// Revisions that one update takes back at most.
  private static let undoneAtOnce = 200

  /// What was taken over from guests into a user's store and can still be undone, the newest first.
  /// - Throws: `store`.
  package func adoptions(in user: StoreName) async throws -> [TakenOver] {
    let now = now()
    return try await read(user) { view in
      var found: [TakenOver] = []
      let range = DocumentRange(
        start: LocalID(receipt: "guest/").text, end: LocalID(receipt: "guest0").text)
      try view.locals(range) { id, note in
        let receipt = AdoptionReceipt(note)
        guard !receipt.isUndone, let guest = Self.guest(of: id), let time = receipt.time,
          now < receipt.end ?? now
        else { return true }
        found.append(
          TakenOver(
            guest: guest, bookmarks: receipt.bookmarks, time: time,
            undoableUntil: receipt.end ?? time))
        return found.count < Self.listedAdoptions
      }
      return found.sorted { ($1.time, $1.guest.text) < ($0.time, $0.guest.text) }
    } ?? []
  }

  /// Takes back out of a user's store what came from a guest and nobody has changed since: bookmarks and documents get
  /// tombstones, so that devices let go of them too, and nothing that they said is kept. What the user has edited stays.
  ///
  /// In updates of a bounded size, the receipt among what each of them writes: what a crash interrupts is finished by
  /// calling this again, also after ``BookmarkLimits/undoSeconds``.
  /// - Throws: `missing` where nothing came from that guest; `undoOver`; `store`.
  package func undoAdoption(of guest: AccountID, in user: StoreName) async throws {
    let id = LocalID(receipt: StoreName.guest(guest).key)
    while true {
      let left = try await change(user, creating: false, []) { edit in
        try edit.undoAdoption(id, atMost: Self.undoneAtOnce)
      }
      guard let left else { throw ServiceError.notTakenOver }
      guard left > 0 else { return }
      try await Slice.giveWay()
    }
  }

  private static func guest(of id: LocalID) -> AccountID? {
    let key = String(
      decoding: id.text.utf8.dropFirst(LocalID.receiptPrefix.utf8.count), as: UTF8.self)
    guard case .guest(let guest)? = StoreName(key: key) else { return nil }
    return guest
  }
}

extension AdoptionReceipt {
  /// When it can't be undone any more; nil where it never could.
  fileprivate var end: Timestamp? { time?.adding(seconds: BookmarkLimits.undoSeconds) }
}

extension BookmarkEdit {
  /// Takes a piece of what came back; what is tombstoned in one step loses its history in the next.
  /// - Returns: how many revisions are left.
  /// - Throws: `missing` without a receipt; `undoOver`.
  fileprivate mutating func undoAdoption(_ id: LocalID, atMost count: Int) throws -> Int {
    guard let note = try local(id) else { throw ServiceError.notTakenOver }
    let receipt = AdoptionReceipt(note)
    if !receipt.isUndone {
      guard let end = receipt.end, now < end else { throw ServiceError.undoOver }
    }
    var documents: [DocumentID] = []
    var pieces: [DocumentID: [AdoptionReceipt.Came]] = [:]
    for came in receipt.came.prefix(count) {
      if pieces[came.place.id] == nil { documents.append(came.place.id) }
      pieces[came.place.id, default: []].append(came)
    }
    var left: [AdoptionReceipt.Came] = []
    for document in documents {
      let came = pieces[document] ?? []
      if try takeBack(came, of: document) { left += came }
    }
    left += receipt.came.dropFirst(count)
    try change(receipt: id) { receipt in
      (receipt.isUndone, receipt.waiting, receipt.came) = (true, [], left)
    }
    return left.count
  }

  /// Takes what came of one document back, as far as nobody has changed it since.
  /// - Returns: whether there are tombstones now that are to lose their history.
  private mutating func takeBack(
    _ came: [AdoptionReceipt.Came], of id: DocumentID
  ) throws -> Bool {
    guard let tree = try view.tree(id) else { return false }
    let hotel = HotelID(id.text)
    if let listed = came.first(where: \.isListedOnly) {
      if let hotel, tree.winner?.revision == listed.place.revision { unlist(hotel) }
      return false
    }
    var edits = DocumentEdits(id, in: tree, limit: limit)
    for revision in came.map(\.place.revision) {
      guard let node = tree[revision], node.isLeaf, !node.isDeleted else { continue }
      _ = try edits.put(base: revision, body: .empty, isDeleted: true)
    }
    if let mutation = edits.finish() {
      write(mutation)
      guard let hotel, mutation.tree.openLeafCount == 0 else { return true }
      unlist(hotel)
      locals.append(LocalEdit(FactsNote.id(of: hotel), nil))
      return true
    }
    // A tombstone stands on it, of the step before or the user's own.
    let isGone = came.contains { item in
      let leaves = tree.leaves(below: item.place.revision)
      return !leaves.isEmpty && leaves.allSatisfy(\.isDeleted)
    }
    if isGone { withoutHistory.append(id) }
    return false
  }
}

extension ServiceError {
  fileprivate static let notTakenOver = ServiceError(
    .missing, "Nothing was taken over from such a guest")
  fileprivate static let undoOver = ServiceError(
    .undoOver, "What came from a guest can be undone for 24 hours; delete what is not wanted")
}
