package import Documents
import Lanes
package import Stores

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

  /// What was taken over from guests into a user's store and can still be undone.
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
      return found
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
