import Documents
import Hotels
import Stores
import Testing

/// What a hotel's document contains of the client's body.
@Suite struct HotelBodyTests {
  @Test(arguments: [
    (#"{"_id":"h"}"#, #"{"id":"h","type":"hotel"}"#),
    (#"{"docid":"h","type":"hotel"}"#, #"{"docid":"h","type":"hotel","id":"h"}"#),
    (#"{"_id":"h","id":"H","a":1,"bookmarked":false}"#, #"{"id":"h","a":1,"type":"hotel"}"#),
    (#"{"bookmarked":true,"id":"h","type":"hotel"}"#, #"{"id":"h","type":"hotel"}"#),
    (#"{"id":"h","type":"hotel","z":1}"#, #"{"id":"h","type":"hotel","z":1}"#),
    (
      #"{"id":"h","n":1.0,"m":-0,"x":1E+2,"big":12345678901234567890123,"s":"\u0041\/é","o":{"b":1,"a":[ ]}}"#,
      #"{"id":"h","n":1.0,"m":-0,"x":1E+2,"big":12345678901234567890123,"s":"\u0041\/é","o":{"b":1,"a":[]},"type":"hotel"}"#
    ),
  ])
  func factsAreKeptByteForByte(text: String, stored: String) async throws {
    let fixture = try HotelFixture()
    try await fixture.add(text)
    let bookmark = try #require(try await fixture.service.bookmark(hotelID("h"), in: fixture.user))
    #expect(bookmark.hotel.text == stored)
  }

  @Test(arguments: ["\"resort\"", "null", "1", "[\"hotel\"]", "\"Hotel\""])
  func anotherTypeIsRefused(type: String) async throws {
    let fixture = try HotelFixture()
    #expect(
      await code { try await fixture.add(#"{"id":"h","type":\#(type)}"#) } == .invalidDocument)
    #expect(try await fixture.ids() == [])
  }

  @Test func sixtyFourKibibytesAreTakenAndOneByteMoreIsRefused() async throws {
    let fixture = try HotelFixture()
    func facts(_ count: Int, _ end: String) -> String {
      let frame = #"{"id":"h","x":""}"#.utf8.count + end.utf8.count
      return #"{"id":"h","x":""# + String(repeating: "x", count: count - frame) + "\"\(end)}"
    }
    let typed = #","type":"hotel""#
    try await fixture.add(facts(BookmarkLimits.hotelBytes, typed))
    #expect(
      await code { try await fixture.add(facts(BookmarkLimits.hotelBytes + 1, typed)) }
        == .documentTooLarge
    )
    // The server adds a missing type, which counts towards the length.
    let room = BookmarkLimits.hotelBytes - typed.utf8.count
    try await fixture.add(facts(room, ""))
    #expect(await code { try await fixture.add(facts(room + 1, "")) } == .documentTooLarge)
  }

  @Test func bookmarkIsWrittenAsTheInterfaceSays() throws {
    let bookmark = Bookmark(
      id: try hotelID("a\"b"), revision: try RevisionID("1-a"),
      bookmarkedAt: Timestamp(seconds: 1_800_000_000), hotel: Array(#"{"n":1.0}"#.utf8))
    #expect(
      bookmark.bytes.text
        == #"{"id":"a\"b","rev":"1-a","bookmarkedAt":"2027-01-15T08:00:00.000Z","hotel":{"n":1.0}}"#
    )
  }

  /// Regression: a hotel that came by sync had no id, or had a number as its id.
  @Test(arguments: [#"{"type":"hotel","n":1.0}"#, #"{"id":7,"type":"hotel","n":1.0}"#])
  func hotelOfABookmarkHasItsIDAlways(text: String) async throws {
    let fixture = try HotelFixture()
    try await fixture.put("h", text)
    try await fixture.put("bookmarkedhotels", #"{"type":"bookmarkedhotels","hotels":["h"]}"#)
    let page = try await fixture.service.bookmarks(in: fixture.user, limit: 1)
    let mirror = try #require(try await fixture.service.mirror(of: fixture.user, since: nil))
    for answer in [page.bytes, mirror.json] {
      let root = try ParsedJSON(answer, limits: .request).root
      let rows = root["bookmarks"] ?? root["hotels"]
      let hotel = rows?[0]?["hotel"]
      #expect(hotel?["id"]?.string == "h" && hotel?["n"]?.minified.text == "1.0")
    }
    #expect(try await fixture.document("h")?.body.text == text)
  }
}
