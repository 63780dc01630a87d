/// Some of a store's bookmarks, newest first.
package struct BookmarkPage: Sendable {
  /// The bookmarks, newest first. May be fewer than asked for, even none, where there is a ``next``; see
  /// ``BookmarkLimits/pageScan``.
  package let bookmarks: [Bookmark]
  /// Where the next page begins; nil at the end.
  package let next: BookmarkCursor?
  /// The entity-tag of the state that was read; see ``HotelService/tag(in:)``.
  package let tag: String

  /// A page.
  package init(bookmarks: [Bookmark], next: BookmarkCursor?, tag: String) {
    self.bookmarks = bookmarks
    self.next = next
    self.tag = tag
  }

  /// The page's JSON: `{"bookmarks":[…],"next":"…"}`, without `next` at the end.
  package var bytes: [UInt8] {
    var bytes = Array(#"{"bookmarks":["#.utf8)
    for (place, bookmark) in bookmarks.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      bookmark.append(to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
    if let next { bytes += #","next":"\#(next.description)""#.utf8 }
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }
}
