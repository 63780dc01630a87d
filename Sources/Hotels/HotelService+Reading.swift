import Documents
package import Stores

extension HotelService {
  /// One bookmark; nil when the hotel is not bookmarked.
  /// - Throws: `store`.
  package func bookmark(
    _ id: HotelID, in name: StoreName
  ) async throws(HotelError) -> Bookmark? {
    try await read(name) { view throws(StoreError) in
      try ListReconciliation(view).list.bookmark(id, in: view)
    } ?? nil
  }

  /// Bookmarks, newest first; none for a guest who never wrote.
  /// - Parameters:
  ///   - limit: 1 to ``BookmarkLimits/pageItems``; clipped.
  ///   - cursor: where the page before ended; nil for the first page.
  /// - Throws: `store`.
  package func bookmarks(
    in name: StoreName, limit: Int, after cursor: BookmarkCursor? = nil
  ) async throws(HotelError) -> BookmarkPage {
    try await read(name, inSlices: BookmarkPageReader(limit: limit, after: cursor)) {
      reader, view throws(StoreError) in try reader.read(view)
    } ?? BookmarkPage(bookmarks: [], next: nil, tag: StoreInfo.absentTag)
  }

  /// Which of these hotels are bookmarked; for a page of search results.
  /// - Throws: `store`.
  package func bookmarked(
    among ids: [HotelID], in name: StoreName
  ) async throws(HotelError) -> Set<HotelID> {
    guard !ids.isEmpty else { return [] }
    return try await read(name, inSlices: ListedHotels(ids)) {
      hotels, view throws(StoreError) in
      try hotels.read(view) ? Set(hotels.found.map(\.id)) : nil
    } ?? []
  }

  /// A strong entity-tag, quotation marks included, that changes with every commit of the store (RFC 9110
  /// section 8.8.3). One cheap read.
  /// - Throws: `store`.
  package func tag(in name: StoreName) async throws(HotelError) -> String {
    try await read(name) { view throws(StoreError) in try view.info().tag } ?? StoreInfo.absentTag
  }
}

extension StoreInfo {
  /// The entity-tag of this state: the store's epoch and last sequence number.
  var tag: String { "\(epoch)-\(lastSequence)" }
  /// The entity-tag of a store that does not exist.
  fileprivate static let absentTag = "none-0"
}

extension BookmarkList {
  /// One of the list's hotels whose document is live; nil for any other.
  func bookmark(
    _ id: HotelID, in view: any StoreView
  ) throws(StoreError) -> Bookmark? {
    guard contains(id), case .live(let bookmark) = try StoredHotel(id, in: view) else { return nil }
    return bookmark
  }
}
