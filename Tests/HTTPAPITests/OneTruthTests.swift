import Documents
import HTTPTypes
import Testing

@testable import HTTPAPI

/// `/v1` and `/couch` are two views of one store: each shows what the other one writes.
@Suite struct OneTruthTests {
  /// A guest's token and database.
  private struct Guest: Sendable {
    let api: APIFixture
    let token: String
    let path: String

    init(_ api: APIFixture) async throws {
      self.api = api
      token = try await api.guest()
      path = "/couch/" + (try #require(try await api.call(.get, "/v1/me", token: token)["store"]))
    }

    func get(_ path: String) async throws -> Reply {
      try await api.call(.get, self.path + path, token: token)
    }

    /// Pushes documents as PouchDB does. Each text has the document's `_rev` and members.
    func push(_ documents: String...) async throws {
      let body = #"{"new_edits":false,"docs":["# + documents.joined(separator: ",") + "]}"
      let reply = try await api.call(.post, path + "/_bulk_docs", token: token, body: body)
      #expect(reply.status == 201)
      #expect(reply.text == "[]")
    }

    /// The bookmarks' ids, newest first.
    var bookmarks: [String] {
      get async throws { try await api.call(.get, "/v1/bookmarks", token: token).ids }
    }

    /// The ids in the list's document.
    var list: [String] {
      get async throws {
        try await get("/bookmarkedhotels").json["hotels"]?.array?.compactMap(\.string) ?? []
      }
    }

    /// The feed's last row of each document: whether it is a tombstone.
    var feed: [String: Bool] {
      get async throws {
        let rows = try await get("/_changes").json["results"]?.array ?? []
        return Dictionary(
          rows.map { ($0["id"]?.string ?? "", $0["deleted"]?.bool ?? false) },
          uniquingKeysWith: { $1 })
      }
    }
  }

  private func document(_ id: String, _ revisions: String..., body: String) -> String {
    let start = revisions[0].prefix { $0 != "-" }
    let ids = revisions.map { "\"" + $0.drop { $0 != "-" }.dropFirst() + "\"" }
    return #"{"_id":"\#(id)","_rev":"\#(revisions[0])","_revisions":{"start":\#(start),"ids":["#
      + ids.joined(separator: ",") + "]}" + (body.isEmpty ? "" : "," + body) + "}"
  }

  @Test func bookmarkByRESTIsInDocumentsChangesAndAllDocuments() async throws {
    try await APIFixture.open { api in
      let guest = try await Guest(api)
      let tag = try await api.bookmark("a", guest.token)
      let hotel = try await guest.get("/a")
      #expect(tag.hasPrefix("\"" + (hotel["_rev"] ?? "") + "+"))
      #expect(hotel.text.hasSuffix(#","name":"a","id":"a","type":"hotel"}"#))
      #expect(try await guest.list == ["a"])
      #expect(try await guest.feed == ["a": false, "bookmarkedhotels": false])
      let all = try await guest.get("/_all_docs?include_docs=true").json["rows"]?.array ?? []
      #expect(all.compactMap { $0["id"]?.string } == ["a", "bookmarkedhotels"])
      #expect(all.first?["doc"] == hotel.json)
    }
  }

  @Test func hotelsAndListThatAreSyncedAreBookmarks() async throws {
    try await APIFixture.open { api in
      let guest = try await Guest(api)
      try await guest.push(
        document("b", "1-b", body: #""type":"hotel","stars":2"#),
        document("a", "2-a", "1-a", body: #""type":"hotel","stars":1.0"#),
        document(
          "bookmarkedhotels", "1-l", body: #""type":"bookmarkedhotels","hotels":["a","b"]"#))
      #expect(try await guest.bookmarks == ["b", "a"])
      let bookmark = try await api.call(.get, "/v1/bookmarks/a", token: guest.token)
      #expect(bookmark["rev"] == "2-a")
      #expect(bookmark.text.contains(#""hotel":{"type":"hotel","stars":1.0,"id":"a"}"#))
    }
  }

  /// Two phones that were offline, and one with a separate list.
  @Test func conflictingListsThatAreSyncedAreMergedAtOnce() async throws {
    try await APIFixture.open { api in
      let guest = try await Guest(api)
      for id in ["a", "b", "c", "d"] {
        try await guest.push(document(id, "1-a", body: #""type":"hotel""#))
      }
      let type = #""type":"bookmarkedhotels","#
      let push = [
        document("bookmarkedhotels", "1-l", body: type + #""hotels":["a"]"#),
        document("bookmarkedhotels", "2-m", "1-l", body: type + #""hotels":["a","b"]"#),
        document("bookmarkedhotels", "2-n", "1-l", body: type + #""hotels":["c"]"#),
      ]
      for document in push { try await guest.push(document) }
      let pushed = try await guest.get("/bookmarkedhotels?conflicts=true&deleted_conflicts=true")
      #expect(pushed["_rev"]?.hasPrefix("3-") == true)
      #expect(pushed.json["_conflicts"] == nil)
      #expect(pushed.json["_deleted_conflicts"]?.array?.count == 1)
      #expect(try await guest.list == ["c", "b"])
      #expect(try await guest.bookmarks == ["b", "c"])
      let own = #"{"_id":"own",\#(type)"hotels":["d"]}"#
      let post = try await api.call(.post, guest.path, token: guest.token, body: own)
      #expect(post.status == 201)
      #expect(Set(try await guest.bookmarks) == ["b", "c", "d"])
      #expect(try await guest.get("/own").status == 404)
      #expect(try await guest.feed["own"] == true)
      let state = try await guest.get("/_changes").json["last_seq"]
      for document in push { try await guest.push(document) }
      #expect(try await guest.get("/_changes").json["last_seq"] == state)
    }
  }

  /// A document by PUT with new_edits=false and one by `_bulk_docs` without new_edits are merged, too.
  @Test func everyRouteHeals() async throws {
    try await APIFixture.open { api in
      let guest = try await Guest(api)
      func list(_ revision: String, _ id: String) -> String {
        #"{"_rev":"\#(revision)","type":"bookmarkedhotels","hotels":["\#(id)"]}"#
      }
      for (revision, id) in [("1-a", "a"), ("1-b", "b")] {
        let put = try await api.call(
          .put, guest.path + "/bookmarkedhotels?new_edits=false", token: guest.token,
          body: list(revision, id))
        #expect(put.status == 201)
      }
      #expect(try await guest.list == ["b", "a"])
      let bulk = #"{"docs":[{"_id":"x","type":"bookmarkedhotels","hotels":["c"]}]}"#
      try await api.call(.post, guest.path + "/_bulk_docs", token: guest.token, body: bulk)
      #expect(Set(try await guest.list) == ["a", "b", "c"])
      #expect(try await guest.feed == ["bookmarkedhotels": false, "x": true])
    }
  }

  @Test func unbookmarkingByRESTLeavesTombstonesInTheFeed() async throws {
    try await APIFixture.open { api in
      let guest = try await Guest(api)
      for id in ["a", "b"] { try await api.bookmark(id, guest.token) }
      #expect(
        try await api.call(.delete, "/v1/bookmarks/a", token: guest.token).status == 204)
      #expect(try await guest.feed == ["a": true, "b": false, "bookmarkedhotels": false])
      #expect(try await guest.list == ["b"])
      #expect(try await guest.get("/a").status == 404)
      #expect(try await guest.get("/a")["reason"] == "deleted")
      // A new bookmark continues from the tombstone.
      try await api.bookmark("a", guest.token)
      #expect(try await guest.get("/a")["_rev"]?.hasPrefix("3-") == true)
    }
  }

  /// The answer leaves out a listed hotel without a live document. The hotel stays in the list.
  @Test func hotelThatIsDeletedBySyncIsNoBookmarkUntilItComesBack() async throws {
    try await APIFixture.open { api in
      let guest = try await Guest(api)
      for id in ["a", "b"] { try await api.bookmark(id, guest.token) }
      let revision = try #require(try await guest.get("/a")["_rev"])
      let deleted = try await api.call(
        .delete, guest.path + "/a?rev=" + revision, token: guest.token)
      #expect(deleted.status == 200)
      #expect(try await guest.bookmarks == ["b"])
      #expect(try await guest.list == ["a", "b"])
      #expect(try await api.call(.get, "/v1/bookmarks/a", token: guest.token).status == 404)
      let tombstone = try #require(deleted["rev"])
      try await guest.push(
        document("a", "3-a", tombstone, revision, body: #""type":"hotel","again":true"#))
      #expect(try await guest.bookmarks == ["b", "a"])
      #expect(
        try await api.call(.delete, "/v1/bookmarks/a", token: guest.token).status == 204)
      #expect(try await guest.list == ["b"])
    }
  }

  @Test func hotelsKeepEveryByteByEitherRoute() async throws {
    let facts =
      #""n":1.0,"z":-0,"e":1e2,"b":12345678901234567890,"\u0061\u00e9":"\/\ud83c\udfe8 \n","u":{"q":[],"a":null}"#
    try await APIFixture.open { api in
      let guest = try await Guest(api)
      let sent = #"{"type":"hotel",\#(facts)}"#
      let put = try await api.call(.put, guest.path + "/a", token: guest.token, body: sent)
      #expect(put.status == 201)
      let revision = try #require(put["rev"])
      let read = #"{"_id":"a","_rev":"\#(revision)","type":"hotel",\#(facts)}"#
      #expect(try await guest.get("/a").text == read)
      #expect(try await guest.get("/_all_docs?include_docs=true").text.contains(read))
      #expect(try await guest.get("/_changes?include_docs=true").text.contains(read))
      try await api.call(
        .put, guest.path + "/bookmarkedhotels", token: guest.token,
        body: #"{"type":"bookmarkedhotels","hotels":["a"]}"#)
      let bookmark = try await api.call(.get, "/v1/bookmarks/a", token: guest.token)
      #expect(bookmark.text.contains(#""hotel":"# + sent.dropLast() + #","id":"a"}"#))
      let mine = try await api.call(
        .put, "/v1/bookmarks/r", token: guest.token, body: "{ \(facts) }")
      #expect(mine.status == 201)
      #expect(try await guest.get("/r").text.hasSuffix(#",\#(facts),"id":"r","type":"hotel"}"#))
    }
  }
}
