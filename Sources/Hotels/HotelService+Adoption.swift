package import Documents
import JSON
import Lanes
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
  /// times. A hotel that the user has bookmarked already keeps the user's bookmark. Every other live document is
  /// copied with its history, as by sync. If the user has a document of the same id, it becomes a conflicting
  /// revision. The winners are copied with the bookmarks. Conflicting revisions follow, as many as the user's
  /// documents take (``RevisionTree/maximumLeaves``). Another call tries the remaining ones again.
  /// - Throws: `store`, also when the user's store has no space for everything.
  package func adopt(
    guest: StoreName, into user: StoreName
  ) async throws -> Adoption {
    guard case .user(let id) = user else { return try await carry(guest, into: user) }
    // A person who signs up or logs in is not authenticated yet, so the author is set here.
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

  /// Copies the revisions that wait according to a receipt, with one update for each rank.
  /// - Returns: the revisions for which there was no space.
  private func take(
    _ ranks: [[CarriedStore.Revision]], waitingIn receipt: AdoptionReceipt, of id: LocalID,
    into user: StoreName
  ) async throws -> Set<AdoptionReceipt.Reference> {
    var left: Set<AdoptionReceipt.Reference> = []
    for revisions in ranks {
      let wanted = revisions.filter { revision in
        revision.reference.map { receipt.waiting?.contains($0) ?? true } ?? false
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
  /// Adopts another store's bookmarks and the winners of its other documents, unless the receipt exists already.
  /// - Returns: how many bookmarks were added, and the receipt.
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

  /// Copies revisions of another store.
  /// - Returns: the revisions that were copied, without those that were known, and those for which there was no
  ///   space.
  fileprivate mutating func take(
    _ revisions: [CarriedStore.Revision]
  ) throws -> (came: [AdoptionReceipt.Came], refused: [AdoptionReceipt.Reference]) {
    var came: [AdoptionReceipt.Came] = []
    var refused: [AdoptionReceipt.Reference] = []
    for revision in revisions {
      guard let reference = revision.reference else { continue }
      switch try take(revision) {
      case .taken: came.append(AdoptionReceipt.Came(reference: reference))
      case .refused: refused.append(reference)
      case .known: break
      }
    }
    return (came, refused)
  }

  /// Changes an existing receipt.
  mutating func change(
    receipt id: LocalID, _ change: (inout AdoptionReceipt) -> Void
  ) throws {
    guard let known = try local(id) else { return }
    var receipt = AdoptionReceipt(known)
    change(&receipt)
    locals.append(LocalEdit(id, LocalDocument(revision: known.revision + 1, body: receipt.body)))
  }
}

/// An adoption that can still be undone.
package struct TakenOver: Sendable, Equatable {
  /// The guest.
  package let guest: AccountID
  /// How many bookmarks the user gained.
  package let bookmarks: Int
  /// When it was adopted.
  package let time: Timestamp
  /// The time after which it can't be undone.
  package let undoableUntil: Timestamp
}

extension HotelService {
  /// The most adoptions that one answer lists.
  private static let listedAdoptions = 100
  /// The most revisions that one update of an undo removes.
  private static let undoneAtOnce = 200

  /// The adoptions into a user's store that can still be undone, newest first.
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

  /// Undoes an adoption: removes from a user's store what came from a guest and has not changed since. Bookmarks
  /// and documents get tombstones, so that devices remove them too. Their former contents are deleted. What the
  /// user has edited stays.
  ///
  /// The undo consists of updates of a bounded size, each of which also writes the receipt. After a crash, another
  /// call finishes the undo, also after ``BookmarkLimits/undoSeconds``.
  /// - Throws: `missing` when nothing came from that guest; `undoOver`; `store`.
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
  /// When the time for an undo ends; nil when it never could be undone.
  fileprivate var end: Timestamp? { time?.adding(seconds: BookmarkLimits.undoSeconds) }
}

extension BookmarkEdit {
  /// Undoes a part of an adoption. Documents that get a tombstone in one step lose their history in the next.
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
      if pieces[came.reference.id] == nil { documents.append(came.reference.id) }
      pieces[came.reference.id, default: []].append(came)
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

  /// Removes the adopted revisions of one document, unless the document has changed since.
  /// - Returns: whether new tombstones were written, whose documents must lose their history in the next step.
  private mutating func takeBack(
    _ came: [AdoptionReceipt.Came], of id: DocumentID
  ) throws -> Bool {
    guard let tree = try view.tree(id) else { return false }
    let hotel = HotelID(id.text)
    if let listed = came.first(where: \.isListedOnly) {
      if let hotel, tree.winner?.revision == listed.reference.revision { unlist(hotel) }
      return false
    }
    var edits = DocumentEdits(id, in: tree, limit: limit)
    for revision in came.map(\.reference.revision) {
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
    // All leaves below an adopted revision are tombstones, from the previous step or from the user.
    let isGone = came.contains { item in
      let leaves = tree.leaves(below: item.reference.revision)
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
