import Documents
package import Stores

extension HotelService {
  /// Takes a guest's bookmarks over into a user's store, exactly once: a receipt is written in the same
  /// update. They come after the user's own, in the guest's order, byte for byte and with their times; what
  /// the user has bookmarked already stays the user's. The guest's store is only read.
  /// - Returns: how many bookmarks the user has more; 0 when the guest's were taken over before.
  /// - Throws: `store`, also for a user's store that has no room for all of them.
  package func adopt(
    guest: StoreName, into user: StoreName
  ) async throws(HotelError) -> Int {
    let carried = try await read(guest) { view throws(StoreError) in
      try Self.bookmarks(in: view)
    }
    guard let carried, !carried.isEmpty, guest != user else { return 0 }
    let receipt = LocalID(receipt: guest.key)
    let count = try await change(user, creating: true, carried.map(\.id)) {
      edit throws(HotelError) in
      guard try edit.local(receipt) == nil else { return 0 }
      var count = 0
      for bookmark in carried where try edit.adopt(bookmark) { count += 1 }
      let note = JSONValue.object(["adopted": .number(JSONNumber(count))])
      edit.locals.append(LocalEdit(receipt, LocalDocument(revision: 1, body: note.bytes)))
      return count
    }
    return count ?? 0
  }

  /// All bookmarks, oldest first. For guests' stores, which are small.
  private static func bookmarks(in view: any StoreView) throws(StoreError) -> [Bookmark] {
    var bookmarks: [Bookmark] = []
    for id in try ListReconciliation(view).list.hotels {
      guard case .live(let document) = try StoredHotel(id, in: view) else { continue }
      bookmarks.append(Bookmark(id, document))
    }
    return bookmarks
  }
}
