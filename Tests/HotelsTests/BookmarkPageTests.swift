import Hotels
import Stores
import Testing

@Suite struct BookmarkPageTests {
  private func walk(_ fixture: HotelFixture, limit: Int) async throws -> [[String]] {
    var (pages, cursor) = ([[String]](), BookmarkCursor?.none)
    repeat {
      let page = try await fixture.service.bookmarks(in: fixture.user, limit: limit, after: cursor)
      pages.append(page.bookmarks.map(\.id.text))
      cursor = try page.next.map { try #require(BookmarkCursor($0.description)) }
    } while cursor != nil
    return pages
  }

  @Test func newestComeFirstAndPagesFollowOneAnother() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a", "b", "c", "d", "e")
    #expect(try await walk(fixture, limit: 2) == [["e", "d"], ["c", "b"], ["a"]])
    #expect(try await walk(fixture, limit: 5) == [["e", "d", "c", "b", "a"]])
  }

  @Test func pagesStayTrueWhileBookmarksComeAndGo() async throws {
    let fixture = try HotelFixture()
    let (service, user) = (fixture.service, fixture.user)
    try await fixture.add(ids: "a", "b", "c", "d", "e")
    let page = try await service.bookmarks(in: user, limit: 2)
    try await fixture.add(ids: "f")
    _ = try await service.unbookmark(hotelID("e"), in: user, as: .server)
    #expect(
      try await service.bookmarks(in: user, limit: 9, after: page.next).bookmarks.map(\.id.text)
        == ["c", "b", "a"])
    // The last bookmark of the page is removed, and an older one, too.
    _ = try await service.unbookmark(hotelID("d"), in: user, as: .server)
    _ = try await service.unbookmark(hotelID("b"), in: user, as: .server)
    let rest = try await service.bookmarks(in: user, limit: 9, after: page.next)
    #expect(rest.bookmarks.map(\.id.text).suffix(2) == ["c", "a"])
    // It is added again as the newest bookmark. The pages do not start again.
    try await fixture.add(ids: "d")
    let after = try await service.bookmarks(in: user, limit: 9, after: page.next)
    #expect(!after.bookmarks.contains { $0.id.text == "d" })
  }

  @Test func absentStoreIsAnEmptyPage() async throws {
    let fixture = try HotelFixture()
    let page = try await fixture.service.bookmarks(in: fixture.guest, limit: 20)
    #expect(page.bookmarks.isEmpty)
    #expect(page.next == nil)
    #expect(page.bytes.text == #"{"bookmarks":[]}"#)
    #expect(try await fixture.service.tag(in: fixture.guest) == page.tag)
    #expect(try await fixture.service.bookmark(hotelID("a"), in: fixture.guest) == nil)
    #expect(
      try await fixture.service.bookmarked(among: [hotelID("a")], in: fixture.guest).isEmpty)
  }

  @Test func tagChangesWithEveryCommitOnly() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a")
    let tag = try await fixture.service.tag(in: fixture.user)
    try await fixture.add(ids: "a")
    #expect(try await fixture.service.tag(in: fixture.user) == tag)
    #expect(try await fixture.service.bookmarks(in: fixture.user, limit: 1).tag == tag)
    try await fixture.add(ids: "b")
    #expect(try await fixture.service.tag(in: fixture.user) != tag)
    #expect(tag.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") })
  }

  @Test func idWithoutItsHotelWaitsInTheList() async throws {
    let fixture = try HotelFixture()
    try await fixture.put("bookmarkedhotels", #"{"type":"bookmarkedhotels","hotels":["late","a"]}"#)
    try await fixture.add(ids: "a")
    #expect(try await fixture.ids() == ["a"])
    #expect(try await fixture.service.bookmark(hotelID("late"), in: fixture.user) == nil)
    #expect(try await fixture.listText()?.contains("late") == true)
    try await fixture.put("late", #"{"type":"hotel","name":"arrived by sync"}"#)
    #expect(try await fixture.ids() == ["a", "late"])
  }

  @Test func pageOfManyMissingHotelsEndsEarlyAndGoesOn() async throws {
    let fixture = try HotelFixture()
    let missing = (0..<3_000).map { "\"m\($0)\"" }.joined(separator: ",")
    try await fixture.put("h", #"{"type":"hotel"}"#)
    try await fixture.put(
      "bookmarkedhotels", "{\"type\":\"bookmarkedhotels\",\"hotels\":[\"h\",\(missing)]}")
    #expect(try await walk(fixture, limit: 50) == [[], ["h"]])
  }

  @Test func searchLearnsWhatIsBookmarked() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a", "b")
    try await fixture.put("c", #"{"type":"hotel"}"#)
    let ids = try ["a", "b", "c", "d"].map(hotelID)
    let bookmarked = try await fixture.service.bookmarked(among: ids, in: fixture.user)
    #expect(bookmarked == Set(try ["a", "b"].map(hotelID)))
  }
}
