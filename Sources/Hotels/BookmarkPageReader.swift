import Scheduling
import Stores

/// Reads a page of bookmarks in slices, each from one state of the store. The list and the page's tag are those of
/// the first state. If the store has changed since, it has another tag.
struct BookmarkPageReader: Sendable {
  private let limit: Int
  private let cursor: BookmarkCursor?
  private var lists = ListReader()
  private var list = BookmarkList()
  private var tag: String?
  /// The index of the next id to read, counted from the oldest; nil before it is known.
  private var index: Int?
  /// The index at which the search for the cursor's id continues.
  private var search: Int?
  private var bookmarks: [Bookmark] = []
  private var scanned = 0

  /// Makes a reader. The limit is clamped to 1 ... ``BookmarkLimits/pageItems``.
  init(limit: Int, after cursor: BookmarkCursor?) {
    self.limit = min(max(limit, 1), BookmarkLimits.pageItems)
    self.cursor = cursor
  }

  /// Continues in a state of the store until the slice is over.
  /// - Returns: the page when it is complete; nil before.
  mutating func read(_ view: any StoreView) throws -> BookmarkPage? {
    if tag == nil {
      guard let read = try lists.read(view) else { return nil }
      list = read.list
      tag = try view.info().tag
    }
    if index == nil { index = firstIndex(within: view.slice) }
    guard var index else { return nil }
    defer { self.index = index }
    while index >= 0 {
      let id = list.hotels[index]
      if let bookmark = try list.bookmark(id, in: view) { bookmarks.append(bookmark) }
      scanned += 1
      if index > 0, bookmarks.count == limit || scanned == BookmarkLimits.pageScan {
        return try page(next: BookmarkCursor(after: id, at: index), view)
      }
      index -= 1
      if view.slice.isOver, index >= 0 { return nil }
    }
    return try page(next: nil, view)
  }

  /// Finds the index at which the page begins.
  /// - Returns: nil when the slice was over before.
  private mutating func firstIndex(within slice: Slice) -> Int? {
    guard let cursor else { return list.hotels.count - 1 }
    var search = search ?? cursor.start(in: list)
    while search >= 0 {
      if cursor.isAfter(list.hotels[search]) { return search - 1 }
      search -= 1
      if slice.isOver {
        self.search = search
        return search >= 0 ? nil : cursor.indexOfLost(in: list) - 1
      }
    }
    return cursor.indexOfLost(in: list) - 1
  }

  private func page(next: BookmarkCursor?, _ view: any StoreView) throws -> BookmarkPage {
    BookmarkPage(bookmarks: bookmarks, next: next, tag: tag ?? "", damage: try view.damage())
  }
}

/// Finds which ids of a set are bookmarked, in slices, each from one state of the store.
struct ListedHotels: Sendable {
  private var lists = ListReader()
  private var list: BookmarkList?
  private var ids: [HotelID]?
  private var next = 0
  /// The bookmarks found so far, in the order of the ids.
  private(set) var found = GrowingList<Bookmark>()

  /// - Parameter ids: the ids; nil for the whole list, newest first.
  init(_ ids: [HotelID]?) { self.ids = ids }

  /// Continues in a state of the store until the slice is over.
  /// - Returns: whether all ids are done.
  mutating func read(_ view: any StoreView) throws -> Bool {
    if list == nil { list = try lists.read(view)?.list }
    guard let list else { return false }
    let ids = ids ?? list.hotels.reversed()
    self.ids = ids
    while next < ids.count {
      if let bookmark = try list.bookmark(ids[next], in: view) { found.append(bookmark) }
      next += 1
      if view.slice.isOver { break }
    }
    return next == ids.count
  }
}
