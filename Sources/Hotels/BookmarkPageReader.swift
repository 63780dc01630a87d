import Documents
import Lanes
import Stores

/// Reads a page of bookmarks in slices, each from one state of a store. The list is that of the first state, and so is
/// the page's tag: what has changed meanwhile has another.
struct BookmarkPageReader: Sendable {
  private let limit: Int
  private let cursor: BookmarkCursor?
  private var list = BookmarkList()
  private var tag: String?
  /// The place of the id that is looked at next, counted from the list's oldest; nil before it is known.
  private var place: Int?
  /// Where the cursor's id is looked for next.
  private var search: Int?
  private var bookmarks: [Bookmark] = []
  private var scanned = 0

  /// A reader of so many bookmarks, clipped to 1 ... ``BookmarkLimits/pageItems``.
  init(limit: Int, after cursor: BookmarkCursor?) {
    self.limit = min(max(limit, 1), BookmarkLimits.pageItems)
    self.cursor = cursor
  }

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: the page, once it is done.
  mutating func read(_ view: any StoreView) throws(StoreError) -> BookmarkPage? {
    if tag == nil {
      tag = try view.info().tag
      list = try ListReconciliation(view).list
    }
    if place == nil { place = firstPlace() }
    guard var place else { return nil }
    defer { self.place = place }
    while place >= 0 {
      let id = list.hotels[place]
      if let bookmark = try list.bookmark(id, in: view) { bookmarks.append(bookmark) }
      scanned += 1
      if place > 0, bookmarks.count == limit || scanned == BookmarkLimits.pageScan {
        return page(next: BookmarkCursor(after: id, at: place))
      }
      place -= 1
      if Slice.isOver, place >= 0 { return nil }
    }
    return page(next: nil)
  }

  /// Looks for the place where the page begins.
  /// - Returns: nil when the slice was over before.
  private mutating func firstPlace() -> Int? {
    guard let cursor else { return list.hotels.count - 1 }
    var search = search ?? cursor.start(in: list)
    while search >= 0 {
      if cursor.isAfter(list.hotels[search]) { return search - 1 }
      search -= 1
      if Slice.isOver {
        self.search = search
        return search >= 0 ? nil : cursor.placeOfLost(in: list) - 1
      }
    }
    return cursor.placeOfLost(in: list) - 1
  }

  private func page(next: BookmarkCursor?) -> BookmarkPage {
    BookmarkPage(bookmarks: bookmarks, next: next, tag: tag ?? "")
  }
}

/// Looks up which of some ids are bookmarked, in slices, each in one state of a store.
struct ListedHotels: Sendable {
  private var list: BookmarkList?
  private var ids: [HotelID]?
  private var next = 0
  /// The bookmarks so far, in the order of the ids.
  private(set) var found: [Bookmark] = []

  /// - Parameter ids: the ids; nil for the whole list, newest first.
  init(_ ids: [HotelID]?) { self.ids = ids }

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: whether all are looked up.
  mutating func read(_ view: any StoreView) throws(StoreError) -> Bool {
    if list == nil { list = try ListReconciliation(view).list }
    guard let list else { return true }
    let ids = ids ?? list.hotels.reversed()
    self.ids = ids
    while next < ids.count {
      if let bookmark = try list.bookmark(ids[next], in: view) { found.append(bookmark) }
      next += 1
      if Slice.isOver { break }
    }
    return next == ids.count
  }
}
