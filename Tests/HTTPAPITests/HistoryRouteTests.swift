import Documents
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

/// Documents' histories through the routes.
@Suite struct HistoryRouteTests {
  /// Writes a document as a sync client would.
  private func put(
    _ id: String, _ text: String, _ api: APIFixture, _ token: String
  ) async throws -> String {
    let store = try #require(try await api.call(.get, "/v1/me", token: token)["store"])
    let reply = try await api.call(.put, "/couch/\(store)/\(id)", token: token, body: text)
    return try #require(reply["rev"])
  }

  private func history(
    _ id: String, _ api: APIFixture, _ token: String, query: String = ""
  ) async throws -> [JSONValue] {
    let reply = try await api.call(.get, "/v1/documents/\(id)/revisions\(query)", token: token)
    return try #require(reply.json["revisions"]?.array)
  }

  private func restore(
    _ id: String, _ body: String, _ api: APIFixture, _ token: String, headers: HTTPFields = [:]
  ) async throws -> Reply {
    try await api.call(
      .post, "/v1/documents/\(id)/restore", token: token, body: body, headers: headers)
  }

  @Test func historySaysWhenAndByWhom() async throws {
    try await APIFixture.open { api in
      let guest = try await api.guest()
      try await api.bookmark("one", guest)
      let made = api.clock.now.rfc3339
      api.clock.advance(seconds: 60)
      let revision = try #require(try await history("one", api, guest).first)
      #expect(revision["time"]?.string == made)
      #expect(revision["by"] == ["kind": "guest"])
      let token = try #require(try await api.signUp("ada", guest: guest)["token"])
      try await api.call(.put, "/v1/bookmarks/one", token: token, body: #"{"name":"new"}"#)
      let revisions = try await history("one", api, token)
      #expect(revisions.count == 2)
      for revision in revisions {
        #expect(revision["by"] == ["kind": "user", "name": "ada"])
        #expect(revision["time"]?.string == api.clock.now.rfc3339)
      }
      #expect(revisions.map { $0["current"]?.bool } == [true, false])
      #expect(revisions.first?["parent"] == revisions.last?["rev"])
    }
  }

  @Test func whatSyncDeliversHasItsAuthorAndAMergeTheServer() async throws {
    try await APIFixture.open { api in
      let token = try await api.user("ada")
      let store = try #require(try await api.call(.get, "/v1/me", token: token)["store"])
      for (digest, hotel) in [("a", "x"), ("b", "y")] {
        try await api.call(
          .post, "/couch/\(store)/_bulk_docs", token: token,
          body: #"""
            {"new_edits":false,"docs":[{"_id":"bookmarkedhotels","_rev":"1-\#(digest)",\#
            "type":"bookmarkedhotels","hotels":["\#(hotel)"]}]}
            """#)
      }
      let kinds = try await history("bookmarkedhotels", api, token).map { revision in
        "\(revision["rev"]?.string?.prefix(3) ?? "") \(revision["by"]?["kind"]?.string ?? "")"
      }
      #expect(kinds.suffix(2) == ["1-b user", "1-a user"])
      #expect(kinds.dropLast(2).allSatisfy { $0.hasSuffix("server") } && kinds.count == 4)
    }
  }

  @Test func historyComesInPages() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      for number in 1...5 {
        try await api.call(
          .put, "/v1/bookmarks/one", token: token, body: #"{"name":"\#(number)"}"#)
      }
      var (found, next) = ([String](), "")
      repeat {
        let reply = try await api.call(
          .get, "/v1/documents/one/revisions?limit=2\(next)", token: token)
        found += reply.json["revisions"]?.array?.compactMap { $0["rev"]?.string } ?? []
        next = reply["next"].map { "&after=" + $0 } ?? ""
      } while !next.isEmpty
      #expect(found.map { $0.first } == ["5", "4", "3", "2", "1"])
      for query in ["?limit=0", "?limit=101", "?after=x", "?before=1-a"] {
        let reply = try await api.call(
          .get, "/v1/documents/one/revisions" + query, token: token)
        #expect(reply.status == 400, "\(query)")
      }
    }
  }

  @Test func revisionIsAnsweredAsStored() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let first = try await put("note", #"{"n":1.0,"s":"\u0041"}"#, api, token)
      let second = try await put("note", #"{"n":2,"_rev":"\#(first)"}"#, api, token)
      let target = "/v1/documents/note/revisions/"
      let reply = try await api.call(.get, target + first, token: token)
      #expect(reply.text == #"{"_id":"note","_rev":"\#(first)","n":1.0,"s":"\u0041"}"#)
      let tag = try #require(reply.headers[.eTag])
      #expect(tag.hasPrefix("\"\(first)+"))
      let again = try await api.call(
        .get, target + first, token: token, headers: [.ifNoneMatch: tag])
      #expect(again.status == 304 && again.headers[.eTag] == tag)
      #expect(try await api.call(.get, target + second, token: token).json["n"]?.int == 2)
      #expect(try await api.call(.get, target + "1-b", token: token).status == 404)
      #expect(try await api.call(.get, target + "b", token: token).status == 400)
      var base = second
      for number in 3...25 {
        base = try await put("note", #"{"n":\#(number),"_rev":"\#(base)"}"#, api, token)
      }
      let gone = try await api.call(.get, target + first, token: token)
      #expect(gone.status == 404)
      #expect(gone["reason"]?.contains("no longer kept") == true)
      #expect(
        try await history("note", api, token, query: "?limit=100").last?["kept"]?.bool == false)
    }
  }

  @Test func anothersHistoryIsAnsweredAsNone() async throws {
    try await APIFixture.open { api in
      let (ada, bob) = (try await api.user("ada"), try await api.user("bob"))
      let first = try await put("note", #"{"n":1}"#, api, ada)
      try await api.bookmark("one", bob)
      for target in ["/revisions", "/revisions/" + first] {
        let foreign = try await api.call(.get, "/v1/documents/note" + target, token: bob)
        let none = try await api.call(.get, "/v1/documents/nothing" + target, token: bob)
        #expect(foreign.status == 404)
        #expect(foreign.problem == none.problem)
      }
      let body = #"{"rev":"\#(first)"}"#
      let (foreign, none) = (
        try await restore("note", body, api, bob), try await restore("nothing", body, api, bob)
      )
      #expect(foreign.status == 404)
      #expect(foreign.problem == none.problem)
      #expect(try await restore("note", body, api, try await api.guest()).status == 404)
    }
  }

  @Test func restoredRevisionIsTheDocuments() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let first = try await put("a%2Fb", #"{"n":1}"#, api, token)
      let second = try await put("a%2Fb", #"{"n":2,"_rev":"\#(first)"}"#, api, token)
      let body = #"{"rev":"\#(first)"}"#
      for field in ["\"\(first)\"", "\"x\""] {
        let reply = try await restore("a%2Fb", body, api, token, headers: [.ifMatch: field])
        #expect(reply.status == 412)
      }
      let moved = #"{"rev":"\#(first)","base":"\#(first)"}"#
      let conflict = try await restore("a%2Fb", moved, api, token)
      #expect(conflict.status == 409 && conflict.error == "conflict")
      let reply = try await restore(
        "a%2Fb", body, api, token, headers: [.ifMatch: "\"\(second)\""])
      #expect(reply.status == 200)
      let third = try #require(reply["rev"])
      #expect(reply.headers[.eTag]?.hasPrefix("\"\(third)+") == true)
      #expect(reply["id"] == "a/b")
      let document = try await api.call(
        .get, "/v1/documents/a%2Fb/revisions/" + third, token: token)
      #expect(document.json["n"]?.int == 1)
    }
  }

  @Test func unbookmarkedHotelComesBackWithItsBookmark() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let tag = try await api.bookmark("one", token)
      try await api.call(.delete, "/v1/bookmarks/one", token: token)
      let reply = try await restore(
        "one", #"{"rev":"\#(tag.dropFirst().prefix { $0 != "+" })"}"#, api, token)
      #expect(reply.status == 200)
      let bookmark = try await api.call(.get, "/v1/bookmarks/one", token: token)
      #expect(bookmark.json["hotel"]?["name"]?.string == "one")
      #expect(bookmark["rev"] == reply["rev"])
      #expect(try await api.call(.get, "/v1/bookmarks", token: token).ids == ["one"])
    }
  }

  @Test func listComesBackWithItsHotels() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      for id in ["one", "two"] { try await api.bookmark(id, token) }
      let then = try #require(
        try await history("bookmarkedhotels", api, token).first?["rev"]?.string)
      try await api.call(.delete, "/v1/bookmarks/one", token: token)
      try await api.bookmark("three", token)
      let reply = try await restore("bookmarkedhotels", #"{"rev":"\#(then)"}"#, api, token)
      #expect(reply.status == 200)
      #expect(try await api.call(.get, "/v1/bookmarks", token: token).ids == ["two", "one"])
    }
  }

  @Test(arguments: [
    "{}", "[]", #"{"rev":1}"#, #"{"rev":"x"}"#, #"{"rev":"1-a","base":1}"#,
    #"{"rev":"1-a","base":"x"}"#, #"{"rev":"1-a","more":true}"#, "",
  ])
  func whatNamesNoRevisionIsABadRequest(body: String) async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      _ = try await put("note", #"{"n":1}"#, api, token)
      #expect(try await restore("note", body, api, token).status == 400)
    }
  }
}
