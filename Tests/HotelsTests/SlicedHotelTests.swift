import Documents
import Lanes
import Stores
import Testing

@testable import Hotels

/// Reads of bookmarks that are taken up again in each slice.
@Suite struct SlicedHotelTests {
  /// A store with bookmarks, one that is gone and documents beside them.
  private func filled() async throws -> Hall {
    let hall = try Hall()
    for number in 10..<30 {
      try await hall.add(#"{"id":"h\#(number)","n":\#(number)}"#)
    }
    _ = try await hall.service.unbookmark(
      #require(HotelID("h17")), in: hall.user)
    try await hall.graft("h20", ["9-x", "8-y"], #"{"type":"other"}"#)
    try await hall.put("note", #"{"type":"note"}"#)
    return hall
  }

  /// All pages, one after the other.
  private func pages(_ hall: Hall) async throws -> [String] {
    var (texts, cursor) = ([String](), BookmarkCursor?.none)
    repeat {
      let page = try await hall.service.bookmarks(in: hall.user, limit: 6, after: cursor)
      texts.append(String(decoding: page.bytes, as: UTF8.self) + page.tag)
      cursor = page.next
    } while cursor != nil
    let lost = try #require(BookmarkCursor("12-0123456789abcdef"))
    let last = try await hall.service.bookmarks(in: hall.user, limit: 3, after: lost)
    return texts + [String(decoding: last.bytes, as: UTF8.self)]
  }

  @Test func pagesPutTogetherInSlicesAreTheSame() async throws {
    let hall = try await filled()
    let whole = try await pages(hall)
    #expect(whole.count == 4)
    #expect(try await Slice.$isShortest.withValue(true) { try await pages(hall) } == whole)
  }

  @Test func mirrorPutTogetherInSlicesIsTheSame() async throws {
    let hall = try await filled()
    let service = hall.service
    let whole = try #require(try await service.mirror(of: hall.user, since: nil))
    try await hall.add(ids: "new")
    _ = try await service.unbookmark(
      #require(HotelID("h11")), in: hall.user)
    let later = try #require(try await service.mirror(of: hall.user, since: whole.token))
    #expect(later.removed.map { $0.id.text } == ["h11"])
    try await Slice.$isShortest.withValue(true) {
      #expect(try await service.mirror(of: hall.user, since: whole.token)?.json == later.json)
      let anew = try #require(try await service.mirror(of: hall.user, since: nil))
      #expect(anew.token == later.token)
      #expect(anew.order == later.order)
      #expect(anew.hotels.count == whole.hotels.count)
      #expect(!anew.hasMore)
    }
  }

  @Test func searchAmongBookmarksSeesAllOfThemInSlices() async throws {
    let hall = try await filled()
    let ids = ["h12", "h17", "h20", "gone", "h29"].compactMap { HotelID($0) }
    try await Slice.$isShortest.withValue(true) {
      let found = try await hall.service.bookmarked(among: ids, in: hall.user)
      #expect(found.map(\.text).sorted() == ["h12", "h29"])
      let all = try await hall.service.allBookmarks(in: hall.user)
      let ids = try await hall.ids()
      #expect(all.map(\.id.text) == ids)
      #expect(all.count == 18)
    }
  }

  @Test func adoptionInSlicesTakesAll() async throws {
    let hall = try Hall()
    try await hall.add(ids: "one", "two", "three", in: hall.guest)
    try await hall.put("a", #"{"n":1}"#, in: hall.guest)
    try await hall.graft("b", ["1-x"], #"{"n":2}"#, in: hall.guest)
    try await hall.graft("b", ["1-y"], #"{"n":3}"#, in: hall.guest)
    let adoption = try await Slice.$isShortest.withValue(true) {
      try await hall.service.adopt(guest: hall.guest, into: hall.user)
    }
    #expect(adoption == Adoption(bookmarks: 3, isWhole: true))
    #expect(try await hall.ids() == ["three", "two", "one"])
    #expect(try await hall.text("b", "1-x") == #"{"n":2}"#)
    #expect(try await hall.text("b", "1-y") == #"{"n":3}"#)
    #expect(try await hall.document("a")?.body.text == #"{"n":1}"#)
  }
}
