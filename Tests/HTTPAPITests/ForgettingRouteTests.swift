import Documents
import HTTPTypes
import Stores
import TestSupport
import Testing

@testable import HTTPAPI

/// A device that was offline until tombstones that it had not read were removed.
@Suite struct ForgettingRouteTests {
  private static let days: Int64 = 90

  @Test(.bug(id: "Y04"), arguments: [false, true])
  func deviceThatSleptBringsNothingBack(isList: Bool) async throws {
    try await APIFixture.open { api in
      let token = try await api.user("sleeper")
      let address = try await address(api, token, isList)
      try await api.call(
        .put, address.path + "/bookmarks/h1", token: token, body: #"{"name":"One"}"#)
      let document = try await api.call(.get, address.couch + "/h1?revs=true", token: token)
      let revision = try #require(document["_rev"])
      let slept = try #require(
        try await api.call(.get, address.path + "/mirror", token: token)["token"])
      try await api.call(.delete, address.path + "/bookmarks/h1", token: token)
      let seen = try #require(
        try await api.call(.get, address.path + "/mirror?since=" + slept, token: token)["token"])
      api.clock.advance(seconds: (Self.days + 1) * 86_400)
      #expect(try await api.forget(address.store, after: Self.days) == 1)
      let later = try #require(
        try await api.call(
          .post, "/v1/sessions", body: APIFixture.credentials("sleeper"))["token"])
      // The mirror starts again, except for a device that has read the tombstone.
      let outdated = try await api.call(
        .get, address.path + "/mirror?since=" + slept, token: later)
      #expect(outdated.status == 410 && outdated["error"] == "resync_required")
      let current = try await api.call(.get, address.path + "/mirror?since=" + seen, token: later)
      #expect(current.status == 200)
      // A push is told that nothing is missing. If the device pushes the document anyway, it stays deleted.
      let missing = try await api.call(
        .post, address.couch + "/_revs_diff", token: later, body: #"{"h1":["\#(revision)"]}"#)
      #expect(missing.text == "{}\n" || missing.text == "{}")
      let pushed = try await api.call(
        .post, address.couch + "/_bulk_docs", token: later,
        body: #"{"new_edits":false,"docs":[\#(document.text)]}"#)
      #expect(pushed.status == 201)
      #expect(try await api.call(.get, address.couch + "/h1", token: later).status == 404)
      let list = try await api.call(.get, address.path + "/bookmarks", token: later)
      #expect(list.json["bookmarks"]?.array?.isEmpty == true)
      // A new bookmark continues from the generation of the removed tombstone.
      try await api.call(
        .put, address.path + "/bookmarks/h1", token: later, body: #"{"name":"One"}"#)
      let again = try #require(
        try await api.call(.get, address.couch + "/h1", token: later)["_rev"])
      #expect(try RevisionID(again).generation == 3)
    }
  }

  /// A person's own store, or a list's.
  private struct StoreAddress {
    let path: String
    let couch: String
    let store: StoreName
  }

  private func address(_ api: APIFixture, _ token: String, _ isList: Bool) async throws
    -> StoreAddress
  {
    guard isList else {
      let me = try await api.call(.get, "/v1/me", token: token)
      let id = try #require(me["id"].flatMap(AccountID.init))
      return StoreAddress(path: "/v1", couch: "/couch/user-" + id.text, store: .user(id))
    }
    let made = try await api.call(
      .post, "/v1/lists", token: token, body: #"{"title":"Rome","markdown":""}"#)
    let id = try #require(made["id"].flatMap(AccountID.init))
    return StoreAddress(
      path: "/v1/lists/" + id.text, couch: "/couch/list-" + id.text, store: .list(id))
  }
}
