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
    let waiting = try await take(carried.others, waitingIn: first.receipt, into: user)
    let receipt = AdoptionReceipt(bookmarks: first.receipt.bookmarks, waiting: waiting)
    if receipt != first.receipt {
      _ = try await change(user, creating: true, []) { edit in
        try edit.keep(receipt, as: id)
      }
    }
    return Adoption(bookmarks: first.count, isWhole: waiting.isEmpty)
  }

  /// Takes the revisions that a receipt says are waiting, an update for each rank of them.
  /// - Returns: those for which there was no room.
  private func take(
    _ ranks: [[CarriedStore.Revision]], waitingIn receipt: AdoptionReceipt, into user: StoreName
  ) async throws -> Set<AdoptionReceipt.Place> {
    var left: Set<AdoptionReceipt.Place> = []
    for revisions in ranks {
      let wanted = revisions.filter { revision in
        revision.place.map { receipt.waiting?.contains($0) ?? true } ?? false
      }
      guard !wanted.isEmpty else { continue }
      let refused = try await change(user, creating: true, []) { edit in
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
  ) throws -> (count: Int, receipt: AdoptionReceipt) {
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
  ) throws {
    let revision = (try local(id)?.revision ?? 0) + 1
    locals.append(LocalEdit(id, LocalDocument(revision: revision, body: receipt.body)))
  }
}

/// What a user's store keeps of a guest's that was taken over, so that nothing of it comes twice.
///
/// `{"adopted":bookmarks,"waiting":[[id,revision]…]}`. Without `waiting` all of it has come; it is `true` until
/// the conflicting revisions have been tried for the first time.
struct AdoptionReceipt: Sendable, Equatable {
  /// One revision of one document.
  struct Place: Sendable, Hashable {
    let id: DocumentID
    let revision: RevisionID
  }

  /// How many bookmarks came.
  let bookmarks: Int
  /// What has not come; nil for whatever the user's store does not know.
  let waiting: Set<Place>?

  /// The receipt of what came.
  init(bookmarks: Int, waiting: Set<Place>?) {
    self.bookmarks = bookmarks
    self.waiting = waiting
  }

  /// Reads a receipt as ``body`` wrote it.
  init(_ document: LocalDocument) {
    let value = try? JSONValue(parsing: document.body, limits: .request)
    bookmarks = value?["adopted"]?.int ?? 0
    // What can't be read may be waiting: taking a known revision again changes nothing.
    guard let value, value["waiting"]?.bool != true else {
      waiting = nil
      return
    }
    var places: Set<Place> = []
    for pair in value["waiting"]?.array ?? [] {
      guard let id = pair.array?.first?.string, let text = pair.array?.last?.string,
        let revision = try? RevisionID(text)
      else { continue }
      places.insert(Place(id: DocumentID(stored: id), revision: revision))
    }
    waiting = places
  }

  /// The receipt's JSON.
  var body: [UInt8] {
    var members: JSONObject = ["adopted": .number(JSONNumber(bookmarks))]
    if let waiting {
      let pairs = waiting.map { [$0.id.text, $0.revision.description] }
      if !pairs.isEmpty {
        members["waiting"] = .array(pairs.map { .array($0.map { .string($0) }) })
      }
    } else {
      members["waiting"] = .bool(true)
    }
    return JSONValue.object(members).bytes
  }
}

extension CarriedStore.Revision {
  /// Which revision this is.
  var place: AdoptionReceipt.Place? {
    history.first.map { AdoptionReceipt.Place(id: id, revision: $0) }
  }
}
