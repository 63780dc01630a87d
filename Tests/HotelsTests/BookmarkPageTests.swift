import Documents
import Hotels
import Stores
import Testing

@Suite struct BookmarkPageTests {
  private func walk(_ hall: Hall, limit: Int) async throws -> [[String]] {
    var (pages, cursor) = ([[String]](), BookmarkCursor?.none)
    repeat {
      let page = try await hall.service.bookmarks(in: hall.user, limit: limit, after: cursor)
      pages.append(page.bookmarks.map(\.id.text))
      cursor = try page.next.map { try #require(BookmarkCursor($0.description)) }
    } while cursor != nil
    return pages
  }

  @Test func newestComeFirstAndPagesFollowOneAnother() async throws {
    let hall = try Hall()
    try await hall.add(ids: "a", "b", "c", "d", "e")
    #expect(try await walk(hall, limit: 2) == [["e", "d"], ["c", "b"], ["a"]])
    #expect(try await walk(hall, limit: 5) == [["e", "d", "c", "b", "a"]])
  }

  @Test func pagesStayTrueWhileBookmarksComeAndGo() async throws {
    let hall = try Hall()
    let (service, user) = (hall.service, hall.user)
    try await hall.add(ids: "a", "b", "c", "d", "e")
    let page = try await service.bookmarks(in: user, limit: 2)
    try await hall.add(ids: "f")
    _ = try await service.unbookmark(hotelID("e"), in: user)
    #expect(
      try await service.bookmarks(in: user, limit: 9, after: page.next).bookmarks.map(\.id.text)
        == ["c", "b", "a"])
    // The page's own end goes, and so does an older one.
    _ = try await service.unbookmark(hotelID("d"), in: user)
    _ = try await service.unbookmark(hotelID("b"), in: user)
    let rest = try await service.bookmarks(in: user, limit: 9, after: page.next)
    #expect(rest.bookmarks.map(\.id.text).suffix(2) == ["c", "a"])
    // It comes back as the newest: the walk does not begin anew.
    try await hall.add(ids: "d")
    let after = try await service.bookmarks(in: user, limit: 9, after: page.next)
    #expect(!after.bookmarks.contains { $0.id.text == "d" })
  }

  @Test func absentStoreIsAnEmptyPage() async throws {
    let hall = try Hall()
    let page = try await hall.service.bookmarks(in: hall.guest, limit: 20)
    #expect(page.bookmarks.isEmpty)
    #expect(page.next == nil)
    #expect(page.bytes.text == #"{"bookmarks":[]}"#)
    #expect(try await hall.service.tag(in: hall.guest) == page.tag)
    #expect(try await hall.service.bookmark(hotelID("a"), in: hall.guest) == nil)
    #expect(
      try await hall.service.bookmarked(among: [hotelID("a")], in: hall.guest).isEmpty)
  }

  @Test func tagChangesWithEveryCommitOnly() async throws {
    let hall = try Hall()
    try await hall.add(ids: "a")
    let tag = try await hall.service.tag(in: hall.user)
    try await hall.add(ids: "a")
    #expect(try await hall.service.tag(in: hall.user) == tag)
    #expect(try await hall.service.bookmarks(in: hall.user, limit: 1).tag == tag)
    try await hall.add(ids: "b")
    #expect(try await hall.service.tag(in: hall.user) != tag)
    #expect(tag.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") })
  }

  @Test func idWithoutItsHotelWaitsInTheList() async throws {
    let hall = try Hall()
    try await hall.put("bookmarkedhotels", #"{"type":"bookmarkedhotels","hotels":["late","a"]}"#)
    try await hall.add(ids: "a")
    #expect(try await hall.ids() == ["a"])
    #expect(try await hall.service.bookmark(hotelID("late"), in: hall.user) == nil)
    #expect(try await hall.listText()?.contains("late") == true)
    try await hall.put("late", #"{"type":"hotel","name":"arrived by sync"}"#)
    #expect(try await hall.ids() == ["a", "late"])
  }

  @Test func pageOfManyMissingHotelsEndsEarlyAndGoesOn() async throws {
    let hall = try Hall()
    let missing = (0..<3_000).map { "\"m\($0)\"" }.joined(separator: ",")
    try await hall.put("h", #"{"type":"hotel"}"#)
    try await hall.put(
      "bookmarkedhotels", "{\"type\":\"bookmarkedhotels\",\"hotels\":[\"h\",\(missing)]}")
    #expect(try await walk(hall, limit: 50) == [[], ["h"]])
  }

  @Test func searchLearnsWhatIsBookmarked() async throws {
    let hall = try Hall()
    try await hall.add(ids: "a", "b")
    try await hall.put("c", #"{"type":"hotel"}"#)
    let ids = try ["a", "b", "c", "d"].map(hotelID)
    let bookmarked = try await hall.service.bookmarked(among: ids, in: hall.user)
    #expect(bookmarked == Set(try ["a", "b"].map(hotelID)))
  }
}
