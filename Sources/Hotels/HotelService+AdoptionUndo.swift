package import Documents
import Scheduling
package import Stores

/// A hotel that an account and a guest had both, with different values of a member. The account's stayed.
package struct DifferingHotel: Sendable, Equatable {
  /// The hotel's id.
  package let id: String
  /// The earlier revision of the account's document that has the guest's whole hotel.
  package let revision: RevisionID
}

/// An adoption that can still be undone.
package struct TakenOver: Sendable, Equatable {
  package let guest: AccountID
  /// How many bookmarks the user gained.
  package let bookmarks: Int
  /// When it was adopted.
  package let time: Timestamp
  /// The time after which it can't be undone.
  package let undoableUntil: Timestamp
  /// The hotels in which the guest's words stand only in an earlier revision.
  package var differing: [DifferingHotel] = []

  /// The adoption of a receipt; nil when it can't be undone any more.
  init?(of guest: AccountID, _ receipt: AdoptionReceipt, at now: Timestamp) {
    guard !receipt.isUndone, let time = receipt.time, let end = receipt.end, now < end else {
      return nil
    }
    (self.guest, self.time, bookmarks) = (guest, time, receipt.bookmarks)
    (undoableUntil, differing) = (end, receipt.differing)
  }
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
    return try await stores.read(user) { view in
      try view.localValues(Self.receipts, atMost: Self.listedAdoptions) { id, note in
        Self.guest(of: id).flatMap { TakenOver(of: $0, AdoptionReceipt(note), at: now) }
      }.sorted { ($1.time, $1.guest.text) < ($0.time, $0.guest.text) }
    } ?? []
  }

  /// The adoption of one guest into a user's store; nil when there is none that can still be undone.
  /// - Throws: `store`.
  package func adoption(of guest: AccountID, in user: StoreName) async throws -> TakenOver? {
    let now = now()
    return try await stores.read(user) { view in
      try view.local(LocalID(receipt: StoreName.guest(guest).key)).flatMap { note in
        TakenOver(of: guest, AdoptionReceipt(note), at: now)
      }
    } ?? nil
  }

  /// Undoes an adoption: removes from a user's store what came from a guest and has not changed since. Bookmarks
  /// and documents get tombstones, so that devices remove them too. A hotel that was joined with the guest's says again
  /// what it said before, but for what has changed since. What the guest's documents said is deleted. What the user has
  /// edited stays.
  ///
  /// The undo consists of updates of a bounded size, each of which also writes the receipt. After a crash, another
  /// call finishes the undo, also after ``BookmarkLimits/undoSeconds``.
  /// - Throws: `missing` when nothing came from that guest; `undoOver`; `store`.
  package func undoAdoption(
    of guest: AccountID, in user: StoreName, as context: WriteContext
  ) async throws {
    let id = LocalID(receipt: StoreName.guest(guest).key)
    while true {
      let left = try await change(user, creating: false, [], as: context) { edit in
        try edit.undoAdoption(id, atMost: Self.undoneAtOnce)
      }
      guard let left else { throw ServiceError.notTakenOver }
      guard left > 0 else { return }
      try await Slice.giveWay()
    }
  }

  /// The receipts of all adoptions. "0" is the next byte after "/".
  static let receipts = DocumentRange.below(LocalID(receipt: "guest/").text)

  /// The guest of an adoption's receipt.
  static func guest(of id: LocalID) -> AccountID? {
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
  /// - Returns: how many revisions and ids are left.
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
    for hotel in receipt.listed.prefix(count) {
      // A hotel that has arrived meanwhile is a bookmark.
      if case .live = try StoredHotel(hotel, in: view) { continue }
      unlist(hotel)
    }
    let listed = Array(receipt.listed.dropFirst(count))
    if let members = receipt.members { removeMembers(members) }
    try change(receipt: id) { receipt in
      (receipt.isUndone, receipt.waiting, receipt.came, receipt.listed) = (true, [], left, listed)
      receipt.members = nil
    }
    return left.count + listed.count
  }

  /// Removes the adopted revisions of one document, unless the document has changed since.
  /// - Returns: whether new tombstones were written, whose documents must lose their history in the next step.
  private mutating func takeBack(_ came: [AdoptionReceipt.Came], of id: DocumentID) throws -> Bool {
    guard var tree = try view.tree(id) else { return false }
    if came.count > 2 { tree.prepareForMany() }
    let hotel = HotelID(id.text)
    if let item = came.first, let joined = item.joined {
      return try separate(item, joined, of: id, tree)
    }
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
    let below = LeavesBelow(tree)
    let isGone = came.contains { item in
      tree.index(of: item.reference.revision).map { index in
        below.leafIndices(below: index).allSatisfy { tree.nodes[$0].isDeleted }
      } ?? false
    }
    if isGone { forgotten.append(ForgottenBodies(of: id)) }
    return false
  }

  /// Takes what the guest's hotel brought out of the hotel that was joined with it. What has changed since stays, also what
  /// came from another guest.
  /// - Returns: whether a revision was written, after which the guest's must lose their contents in the next step.
  private mutating func separate(
    _ item: AdoptionReceipt.Came, _ joined: AdoptionReceipt.Joined, of id: DocumentID,
    _ tree: RevisionTree
  ) throws -> Bool {
    let union = item.reference.revision
    let live = tree.leaves(below: union).filter { !$0.isDeleted }.map(\.revision)
    guard tree[union] != nil, live.count < 2 else { return false }
    if item.isListedOnly, tree.winner?.revision == union, let hotel = HotelID(id.text) {
      unlist(hotel)
    }
    if let leaf = live.first {
      // The undo of an earlier guest may have deleted the contents of the revision before.
      var known: [UInt8]?
      for revision in tree.history(of: joined.former).prefix(StoreLimits.storedAncestors)
      where known == nil {
        known = try view.body(id, revision)
      }
      guard let former = known, let whole = try view.body(id, union),
        let present = try view.body(id, leaf)
      else { return false }
      let merged = try HotelMerge.joined(
        present, former, since: whole, generation: leaf.generation + 1
      ).body
      if let merged {
        let body = present == whole ? try DocumentBody(parsing: former, limits: .stored) : merged
        write(
          try Edit.put(
            id, in: tree, base: leaf, body: following(leaf, body, of: id, tree), limit: limit))
        return true
      }
    }
    let guests = [union, joined.guests].compactMap { $0 }.filter { $0 != live.first }
    forgotten.append(ForgottenBodies(of: id, revisions: Set(guests)))
    return false
  }
}

extension ServiceError {
  fileprivate static let notTakenOver = ServiceError(
    .missing, "Nothing was taken over from such a guest")
  fileprivate static let undoOver = ServiceError(
    .undoOver, "What came from a guest can be undone for 24 hours; delete what is not wanted")
}
