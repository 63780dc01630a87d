import Documents
import Lanes
import Stores

/// Finds the hotels of a store that no list names, in slices: what a list that was lost to damage had, and the older one
/// in its place has not.
struct UnlistedHotels: Sendable {
  private var list: BookmarkList?
  private var waiting: [DocumentID] = []
  private var next = 0
  private var found: [(id: HotelID, created: Timestamp)] = []

  /// Nothing looked at as yet.
  init() {}

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: the hotels in the order in which they were bookmarked, once all are looked at.
  mutating func read(_ view: any StoreView) throws(StoreError) -> [HotelID]? {
    if list == nil {
      list = try ListReconciliation(view).list
      waiting = try view.ids(ofType: Hotel.type)
    }
    while next < waiting.count {
      let id = HotelID(waiting[next].text)
      next += 1
      if let id, list?.contains(id) == false, let document = try view.document(id.documentID),
        !document.isDeleted
      {
        found.append((id, document.created))
      }
      if Slice.isOver, next < waiting.count { return nil }
    }
    return found.sorted { ($0.created, $0.id.text) < ($1.created, $1.id.text) }.map(\.id)
  }
}

extension BookmarkMerge {
  /// Puts a list together again of which a revision was lost: hotels that are stored and on no list go to its end, in
  /// the order of their times. One that was taken off the list by another device and not deleted comes back, too: none
  /// is lost.
  static func restoreList(
    of store: DocumentStore, after damage: [Damage], at now: Timestamp
  ) async throws(StoreError) {
    let lists = BookmarkList.documentID.text
    guard damage.contains(where: { $0.id.equalsBytes(of: lists) }) else { return }
    let unlisted = try await store.read(inSlices: UnlistedHotels()) {
      hotels, view throws(StoreError) in try hotels.read(view)
    }
    guard !unlisted.isEmpty else { return }
    _ = try await store.change([], at: now) { edit throws(HotelError) in edit.list(unlisted) }
  }
}
