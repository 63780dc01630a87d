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
    try await read(name) { view throws(StoreError) in
      try ListReconciliation(view).list.page(limit: limit, after: cursor, in: view)
    } ?? BookmarkPage(bookmarks: [], next: nil, tag: StoreInfo.absentTag)
  }

  /// Which of these hotels are bookmarked; for a page of search results.
  /// - Throws: `store`.
  package func bookmarked(
    among ids: [HotelID], in name: StoreName
  ) async throws(HotelError) -> Set<HotelID> {
    guard !ids.isEmpty else { return [] }
    return try await read(name) { view throws(StoreError) in
      let list = try ListReconciliation(view).list
      var bookmarked: Set<HotelID> = []
      for id in ids where try list.bookmark(id, in: view) != nil { bookmarked.insert(id) }
      return bookmarked
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
  fileprivate var tag: String { "\(epoch)-\(lastSequence)" }
  /// The entity-tag of a store that does not exist.
  fileprivate static let absentTag = "none-0"
}

extension BookmarkList {
  /// One of the list's hotels whose document is live; nil for any other.
  fileprivate func bookmark(
    _ id: HotelID, in view: any StoreView
  ) throws(StoreError) -> Bookmark? {
    guard contains(id), case .live(let document) = try StoredHotel(id, in: view) else { return nil }
    return Bookmark(id, document)
  }

  /// A page of the list, newest first.
  fileprivate func page(
    limit: Int, after cursor: BookmarkCursor?, in view: any StoreView
  ) throws(StoreError) -> BookmarkPage {
    let limit = min(max(limit, 1), BookmarkLimits.pageItems)
    let tag = try view.info().tag
    var bookmarks: [Bookmark] = []
    var scanned = 0
    var place = (cursor?.remaining(in: self) ?? hotels.count) - 1
    while place >= 0 {
      let id = hotels[place]
      if let bookmark = try bookmark(id, in: view) { bookmarks.append(bookmark) }
      scanned += 1
      if place > 0, bookmarks.count == limit || scanned == BookmarkLimits.pageScan {
        let next = BookmarkCursor(after: id, at: place)
        return BookmarkPage(bookmarks: bookmarks, next: next, tag: tag)
      }
      place -= 1
    }
    return BookmarkPage(bookmarks: bookmarks, next: nil, tag: tag)
  }
}
