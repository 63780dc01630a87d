import Documents
package import Stores

extension HotelService {
  /// Takes what a guest's store holds over into a user's, exactly once: a receipt is written in the same
  /// update as the bookmarks. The guest's store is only read.
  ///
  /// Bookmarks come after the user's own, in the guest's order, byte for byte and with their times; what the
  /// user has bookmarked already stays the user's. Every other live document comes with its history, as by
  /// sync: beside a document of the same id that the user has, it is a conflicting revision.
  /// - Returns: how many bookmarks the user has more; 0 when the guest's were taken over before.
  /// - Throws: `store`, also for a user's store that has no room for all of it.
  package func adopt(
    guest: StoreName, into user: StoreName
  ) async throws(HotelError) -> Int {
    let carried = try await read(guest) { view throws(StoreError) in try CarriedStore(view) }
    guard let carried, !carried.isEmpty, guest != user else { return 0 }
    let receipt = LocalID(receipt: guest.key)
    // Conflicting revisions go ahead, an update for each rank of them: taking one again changes nothing.
    for revisions in carried.others.dropFirst() {
      _ = try await change(user, creating: true, []) { edit throws(HotelError) in
        guard try edit.local(receipt) == nil else { return }
        for revision in revisions { try edit.take(revision) }
      }
    }
    let count = try await change(user, creating: true, carried.bookmarks.map(\.id)) {
      edit throws(HotelError) in
      guard try edit.local(receipt) == nil else { return 0 }
      var count = 0
      for bookmark in carried.bookmarks where try edit.adopt(bookmark) { count += 1 }
      for revision in carried.others.first ?? [] { try edit.take(revision) }
      let note = JSONValue.object(["adopted": .number(JSONNumber(count))])
      edit.locals.append(LocalEdit(receipt, LocalDocument(revision: 1, body: note.bytes)))
      return count
    }
    return count ?? 0
  }
}
