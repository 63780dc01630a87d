import Documents
import Testing

@testable import Hotels

@Suite struct BookmarkListTests {
  @Test func repeatedIDsCountWhereTheyStandFirst() throws {
    #expect(try list("a", "b", "a", "c", "b").texts == ["a", "b", "c"])
  }

  @Test func appendKeepsOrderAndPlaces() throws {
    var bookmarks = try list("a", "b")
    bookmarks.append([try hotelID("c"), try hotelID("a"), try hotelID("c")])
    #expect(bookmarks.texts == ["a", "b", "c"])
  }

  @Test func removeKeepsTheOthersOrder() throws {
    var bookmarks = try list("a", "b", "c")
    bookmarks.remove([try hotelID("b"), try hotelID("z")])
    #expect(bookmarks.texts == ["a", "c"])
    #expect(!bookmarks.contains(try hotelID("b")))
    bookmarks.append([try hotelID("b")])
    #expect(bookmarks.texts == ["a", "c", "b"])
  }

  /// Neighbours that leave together have the same one in front of them and the same one behind.
  @Test(arguments: [0, 3])
  func positionsAreRelativeToNeighboursThatStay(first: Int) throws {
    let bookmarks = try list("a", "b", "c", "d", "e", "f", "g")
    let leaving = Set(try ["a", "c", "d", "e", "g"].map { try hotelID($0) })
    let positions = bookmarks.positions(
      of: leaving.union([try hotelID("f")]), leaving: leaving, in: first..<7)
    let told = bookmarks.hotels.compactMap { id in
      positions[id].map {
        "\(id.text)\($0.number) \($0.after?.text ?? "-") \($0.before?.text ?? "-")"
      }
    }
    let all = ["a0 - b", "c2 b f", "d3 b f", "e4 b f", "f5 b -", "g6 f -"]
    #expect(told == (first == 0 ? all : Array(all.dropFirst(2))))
  }

  @Test func idsAreComparedByBytes() throws {
    #expect(try list("caf\u{E9}", "cafe\u{301}").hotels.count == 2)
  }

  @Test func numbersAndTextsAreIDsAndGarbageIsPassedOver() throws {
    let text = #"""
      {"type":"bookmarkedhotels","hotels":["hotel_1",10025,"", null,true,"None",-3,1.5,1e2,
      ["x"],{"id":"y"},"_design/x","_z","bookmarkedhotels","hotel_1","hotel_10025","é"]}
      """#
    let bookmarks = try BookmarkList(parsing: Array(text.utf8))
    #expect(bookmarks.texts == ["hotel_1", "hotel_10025", "é"])
  }

  @Test(arguments: [
    "{}", #"{"hotels":{}}"#, #"{"hotels":null}"#, #"{"hotels":"hotel_1"}"#, #"{"hotels":7}"#, "[]",
    "1",
    #"{"hotels":[[[[[[["deep"]]]]]]]}"#, #"{"hotels":[99999999999999999999999999]}"#,
  ])
  func listWithoutIDsIsEmpty(text: String) throws {
    #expect(try BookmarkList(parsing: Array(text.utf8)).hotels.isEmpty)
  }

  @Test func tenThousandIDsAreRead() throws {
    let ids = (0..<10_000).map(String.init).joined(separator: ",")
    let bookmarks = try BookmarkList(parsing: Array("{\"hotels\":[\(ids),\(ids)]}".utf8))
    #expect(bookmarks.hotels.count == 10_000)
  }

  @Test func newBodyHasTypeAndHotels() throws {
    let body = try list("hotel_1", "a\"b").body()
    #expect(body.bytes.text == #"{"type":"bookmarkedhotels","hotels":["hotel_1","a\"b"]}"#)
    #expect(body.type == BookmarkList.type)
  }

  @Test func rewritingKeepsUnknownMembersInTheirPlaces() throws {
    let former = Array(
      #"{"v":1.0e+2,"hotels":["x",5],"na\u006de":"\u0041","type":"bookmarkedhotels"}"#.utf8)
    let body = try list("y").body(replacing: former)
    #expect(
      body.bytes.text
        == #"{"v":1.0e+2,"hotels":["y"],"na\u006de":"\u0041","type":"bookmarkedhotels"}"#)
  }

  @Test func rewritingAddsWhatIsMissing() throws {
    let body = try list("y").body(replacing: Array(#"{"a":[]}"#.utf8))
    #expect(body.bytes.text == #"{"a":[],"type":"bookmarkedhotels","hotels":["y"]}"#)
  }

  @Test func whatIsWrittenIsReadBack() throws {
    let bookmarks = try list("hotel_1", "10", "a/b ü", "user::guest")
    #expect(try BookmarkList(parsing: bookmarks.body().bytes) == bookmarks)
  }
}
