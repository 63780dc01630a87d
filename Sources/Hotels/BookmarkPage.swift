import Documents
import Stores

/// Some of a store's bookmarks, newest first.
package struct BookmarkPage: Sendable {
  /// The bookmarks, newest first. There may be fewer than the limit, even none, when there is a ``next``; see
  /// ``BookmarkLimits/pageScan``.
  package let bookmarks: [Bookmark]
  /// Where the next page begins; nil at the end.
  package let next: BookmarkCursor?
  /// The entity-tag of the state that was read; see ``HotelService/tag(in:)``.
  package let tag: String
  /// Documents of any kind that the store has lost to damage; usually empty.
  var damage: [Damage] = []

  /// The page with the names of the users who added the bookmarks.
  package func added(by name: (HotelID) -> String?) -> BookmarkPage {
    let named = bookmarks.map { bookmark in
      var bookmark = bookmark
      bookmark.addedBy = name(bookmark.id)
      return bookmark
    }
    return BookmarkPage(bookmarks: named, next: next, tag: tag, damage: damage)
  }

  /// The page as the author of drafts sees it. A draft replaces the bookmark of its hotel or removes it. A draft of
  /// a hotel that is not bookmarked comes first, on the first page.
  /// - Parameter drafts: for each hotel, what makes its bookmark with the draft; the result is nil for a removal.
  /// - Parameter mark: identifies the drafts in the page's tag.
  package func with(
    drafts: [(id: HotelID, bookmark: (Bookmark?) -> Bookmark?)], mark: String, isFirst: Bool,
    isBookmarked: (HotelID) -> Bool
  ) -> BookmarkPage {
    var laid: [Bookmark] = []
    for bookmark in bookmarks {
      guard let draft = drafts.first(where: { $0.id == bookmark.id }) else {
        laid.append(bookmark)
        continue
      }
      if let drafted = draft.bookmark(bookmark) { laid.append(drafted) }
    }
    if isFirst {
      let new = drafts.filter { !isBookmarked($0.id) }.compactMap { $0.bookmark(nil) }
      laid = new.sorted { $0.bookmarkedAt > $1.bookmarkedAt } + laid
    }
    return BookmarkPage(bookmarks: laid, next: next, tag: tag + "-" + mark, damage: damage)
  }

  /// The page's JSON: `{"bookmarks":[…],"next":"…"}`. The last page has no `next`. A page with damage has
  /// `damaged`.
  package var bytes: [UInt8] {
    JSONWriter.object { writer in
      writer.objects("bookmarks", of: bookmarks) { $0.appendMembers(to: &$1) }
      if let next { writer.member("next", next.description) }
      if !damage.isEmpty { writer.damaged(damage) }
    }
  }
}

/// The position at which a page of bookmarks ended: `<index>-<16 hex digits>`, opaque to clients, at most 24 bytes.
///
/// The index is that of the last returned id in the list, oldest first. The digits are the first 8 bytes of
/// the SHA-256 of that id. A cursor grants no access, so it is not signed.
package struct BookmarkCursor: Sendable, Equatable, CustomStringConvertible {
  /// The highest index that a cursor can hold.
  package static let maximumPosition = 9_999_999

  private let index: Int
  private let mark: String

  /// Makes the cursor after the id at an index of a list.
  init(after id: HotelID, at index: Int) {
    self.index = min(index, Self.maximumPosition)
    self.mark = Self.mark(of: id)
  }

  /// Reads a cursor as ``description`` wrote it; nil for any other text.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let dash = bytes.firstIndex(of: UInt8(ascii: "-")), (1...7).contains(dash) else {
      return nil
    }
    let (digits, mark) = (bytes[..<dash], bytes[(dash + 1)...])
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }),
      digits.first != 0x30 || digits.count == 1,
      let index = Int(String(decoding: digits, as: UTF8.self)),
      mark.count == 16, Hex.bytes(mark) != nil
    else { return nil }
    self.index = index
    self.mark = String(decoding: mark, as: UTF8.self)
  }

  package var description: String { "\(index)-\(mark)" }

  /// The index at which the search for the page's end begins, downwards.
  ///
  /// Bookmarks older than the page's end are at its index or below, whatever was added or removed since. The search
  /// for the id therefore goes down from there. If the id is gone, or was bookmarked again and moved to the end,
  /// the index itself counts. No bookmark that stayed is skipped.
  func start(in list: BookmarkList) -> Int { min(index, list.hotels.count - 1) }

  /// Whether the cursor is the one after this id.
  func isAfter(_ id: HotelID) -> Bool { Self.mark(of: id).equalsBytes(of: mark) }

  /// The number of ids from the list's start that remain when the id of the page's end is gone.
  func indexOfLost(in list: BookmarkList) -> Int { min(index, list.hotels.count) }

  private static func mark(of id: HotelID) -> String { Hex.digest(of: id.text, digits: 16) }
}
