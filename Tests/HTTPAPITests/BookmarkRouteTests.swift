import Documents
import HTTPTypes
import Hotels
import TestSupport
import Testing

@testable import HTTPAPI

@Suite struct BookmarkRouteTests {
  @Test func bookmarkComesIsReadAndGoes() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let body = #"{"name":"Ritz","price":1.0}"#
      let put = try await api.call(.put, "/v1/bookmarks/a%2Fb", token: token, body: body)
      #expect(put.status == 201)
      #expect(put.headers[.location] == "/v1/bookmarks/a%2Fb")
      #expect(put["id"] == "a/b")
      #expect(put["bookmarkedAt"] == api.clock.now.rfc3339)
      #expect(put.headers[.eTag]?.hasPrefix("\"" + (put["rev"] ?? "") + "+") == true)
      #expect(put.text.contains(#""hotel":{"name":"Ritz","price":1.0"#))
      let again = try await api.call(.put, "/v1/bookmarks/a%2Fb", token: token, body: body)
      #expect(again.status == 200)
      #expect(again.bytes == put.bytes)
      #expect(try await api.call(.get, "/v1/bookmarks/a%2Fb", token: token).bytes == put.bytes)
      #expect(try await api.call(.delete, "/v1/bookmarks/a%2Fb", token: token).status == 204)
      #expect(try await api.call(.get, "/v1/bookmarks/a%2Fb", token: token).status == 404)
      #expect(try await api.call(.delete, "/v1/bookmarks/a%2Fb", token: token).status == 404)
    }
  }

  @Test func bookmarksAreListedNewestFirstPageByPage() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      for id in ["a", "b", "c", "d", "e"] { try await api.bookmark(id, token) }
      var (pages, after) = ([[String]](), "")
      repeat {
        let page = try await api.call(.get, "/v1/bookmarks?limit=2" + after, token: token)
        pages.append(page.ids)
        after = page["next"].map { "&after=" + $0.urlSegment } ?? ""
      } while !after.isEmpty
      #expect(pages == [["e", "d"], ["c", "b"], ["a"]])
    }
  }

  @Test func withoutABodyTheHotelIsTheOneThatSearchShows() async throws {
    try await APIFixture.open { api in
      try api.search.add(#"{"id":25510,"name":"Ritz","stars":5.0}"#)
      let token = try await api.guest()
      let put = try await api.call(.put, "/v1/bookmarks/hotel_25510", token: token)
      #expect(put.status == 201)
      #expect(put.text.contains(#""stars":5.0"#))
      let unknown = try await api.call(.put, "/v1/bookmarks/hotel_1", token: token)
      #expect(unknown.status == 404)
      #expect(unknown["reason"]?.contains("body") == true)
      api.search.fail(with: .timeout)
      #expect(try await api.call(.put, "/v1/bookmarks/hotel_1", token: token).status == 504)
      #expect(try await api.call(.put, "/v1/bookmarks/hotel_25510", token: token).status == 200)
    }
  }

  @Test func factsReplaceWhatTheBookmarkSaysAndNothingElseDoes() async throws {
    try await APIFixture.open { api in
      try api.search.add(#"{"id":"a","name":"A"}"#)
      let token = try await api.guest()
      let path = "/v1/bookmarks/a"
      let noted = #"{"name":"A","myNote":"sea view","bookmarked":true}"#
      let first = try await api.call(.put, path, token: token, body: noted)
      #expect(first.status == 201 && first.json["replaced"] == nil)
      for body in [nil, "{}", #"{"id":"a"}"#, #"{"type":"hotel","bookmarked":false}"#] {
        let again = try await api.call(.put, path, token: token, body: body)
        #expect(again.status == 200)
        #expect(again.bytes == first.bytes)
      }
      let batch = try await api.call(
        .post, "/v1/bookmarks", token: token, body: #"{"add":[{"id":"a"}]}"#)
      #expect(batch.text.contains(#""results":[{"id":"a","status":200}]"#))
      let stored = try await api.call(.get, path, token: token)
      #expect(stored.bytes == first.bytes)
      #expect(
        stored.text.hasSuffix(
          #""hotel":{"name":"A","myNote":"sea view","id":"a","type":"hotel"}}"#))
      let replaced = try await api.call(.put, path, token: token, body: #"{"name":"B"}"#)
      #expect(replaced.json["replaced"]?.bool == true)
      #expect(!replaced.text.contains("myNote"))
    }
  }

  /// Regression: they were dropped without an error.
  @Test(
    .bug(id: "J07"),
    arguments: ["_rev", "_deleted", "_x", "_", "_attachments", "\\u005frev", "_Id"])
  func reservedMemberOfABookmarkIsRefusedByName(name: String) async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let hotel = #"{"_id":"a","name":"A","\#(name)":"1-a"}"#
      let put = try await api.call(.put, "/v1/bookmarks/a", token: token, body: hotel)
      let shown = name.replacing("\\u005f", with: "_")
      #expect(put.status == 400)
      #expect(put.error == "doc_validation")
      #expect(put["reason"] == "A hotel must not have a reserved member: " + shown)
      let batch = try await api.call(
        .post, "/v1/bookmarks", token: token, body: #"{"add":[\#(hotel)]}"#)
      #expect(batch.status == 400)
      #expect(batch["reason"]?.hasSuffix("reserved member: " + shown) == true)
      #expect(try await api.call(.get, "/v1/bookmarks/a", token: token).status == 404)
    }
  }

  @Test(arguments: [
    ("a", #"{"id":"a"}"#, 201), ("a", #"{"id":"b"}"#, 400), ("a", #"{"_id":"b"}"#, 400),
    ("a", #"{"id":null}"#, 400), ("a", #"{"id":""}"#, 400), ("a", "{}", 201),
    ("hotel_7", #"{"id":7}"#, 201),
    ("7", #"{"id":7}"#, 201), ("hotel_7", #"{"id":"7"}"#, 201), ("7", #"{"id":8}"#, 400),
    ("hotel_7", #"{"id":"hotelhotel_7"}"#, 201), ("a", #"{"id":7.5}"#, 400),
    ("a", #"{"id":true}"#, 400), ("a", #"{"docid":"b"}"#, 400),
    ("e%CC%81", #"{"id":"\u00e9"}"#, 400),
  ])
  func idInTheBodyIsTheOneInThePath(path: String, body: String, status: Int) async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(
        .put, "/v1/bookmarks/" + path, token: try await api.guest(), body: body)
      #expect(reply.status == status)
      if status == 400 { #expect(reply.error == "doc_validation") }
      if status == 201 { #expect(reply["id"] == path) }
    }
  }

  @Test(arguments: [
    ("_x", 400, "illegal_docid"), ("%5Fdesign%2Fa", 400, "illegal_docid"),
    (String(repeating: "x", count: 513), 400, "illegal_docid"), ("%zz", 400, "invalid_uri"),
    ("a%00", 400, "invalid_uri"), ("%ff", 400, "invalid_uri"),
  ])
  func idsThatCannotBeAreRefused(path: String, status: Int, error: String) async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      for method in [HTTPRequest.Method.get, .put, .delete] {
        let reply = try await api.call(method, "/v1/bookmarks/" + path, token: token, body: "{}")
        #expect(reply.status == status)
        #expect(reply.error == error)
      }
    }
  }

  @Test(arguments: [
    ("{", 400, "invalid_json"), (#"{"a":1,"\u0061":2}"#, 400, "duplicate_key"),
    (#"{"a":1e999}"#, 400, "number_out_of_range"), ("[]", 400, "doc_validation"),
    (#""text""#, 400, "doc_validation"), (#"{"type":"motel"}"#, 400, "doc_validation"),
    (#"{"type":null}"#, 400, "doc_validation"),
  ])
  func bodiesThatCannotBeAreRefused(body: String, status: Int, error: String) async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let reply = try await api.call(.put, "/v1/bookmarks/a", token: token, body: body)
      #expect(reply.status == status)
      #expect(reply.error == error)
      #expect(try await api.call(.get, "/v1/bookmarks/a", token: token).status == 404)
    }
  }

  @Test func largeBodyIsRefused() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let body = #"{"a":""# + String(repeating: "x", count: 65_536) + #""}"#
      let reply = try await api.call(.put, "/v1/bookmarks/a", token: token, body: body)
      #expect(reply.status == 413)
    }
  }

  @Test(arguments: [
    ("application/json", 201), ("application/json; charset=utf-8", 201),
    (#"Application/JSON;charset="UTF-8""#, 201), ("application/hotel+json", 201),
    ("application/json; charset=latin1", 415), ("text/plain", 415),
    ("application/x-www-form-urlencoded", 415),
  ])
  func contentTypeIsJSON(type: String, status: Int) async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(
        .put, "/v1/bookmarks/a", token: try await api.guest(), body: "{}",
        headers: [.contentType: type])
      #expect(reply.status == status)
    }
  }

  @Test(arguments: ["limit=0", "limit=101", "limit=x", "after=x", "after=%F0%9F%8F%A8", "page=2"])
  func badParameterIsNamed(query: String) async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(
        .get, "/v1/bookmarks?" + query, token: try await api.guest())
      #expect(reply.status == 400)
      let name = String(query.prefix { $0 != "=" })
      #expect(reply["reason"]?.contains(name == "page" ? "after" : name) == true)
    }
  }

  @Test func guestsStoreIsFullAtItsQuota() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let facts = String(repeating: "x", count: 60_000)
      var statuses: [Int] = []
      for number in 0..<18 {
        let body = #"{"facts":"\#(facts)"}"#
        statuses.append(
          try await api.call(.put, "/v1/bookmarks/\(number)", token: token, body: body).status)
      }
      #expect(statuses.first == 201 && statuses.last == 507)
      #expect(try await api.call(.delete, "/v1/bookmarks/0", token: token).status == 204)
    }
  }
}
