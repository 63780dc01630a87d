import Documents
import HTTPTypes
import Stores
import TestSupport
import Testing

@testable import HTTPAPI
@testable import Lists

/// What a client that syncs is told when its right has ended. PouchDB stops at `unauthorized` and `forbidden`; anything else
/// it repeats for ever.
@Suite(.bug(id: "35/35"), .timeLimit(.minutes(60))) struct EndedRightTests {
  private static let operations: [(HTTPRequest.Method, String, String?)] = [
    (.get, "", nil), (.get, "/_changes", nil), (.get, "/_local/x", nil), (.get, "/h1", nil),
    (.post, "/_bulk_docs", #"{"docs":[]}"#), (.post, "/_revs_diff", "{}"), (.put, "/h1", "{}"),
    (.get, "/_changes?feed=longpoll&timeout=50", nil),
  ]

  @Test func formerMemberIsForbiddenForNinetyDays() async throws {
    try await ListFixture.open { list in
      for (method, path, body) in Self.operations {
        let reply = try await list.couch(.removed, method, path, body: body)
        #expect(reply.status == 403 && reply.error == "forbidden", "\(method) \(path)")
        for person in [ListFixture.Person.stranger, .invited, .guest] {
          let other = try await list.couch(person, method, path, body: body)
          #expect(other.status == 404 && other.error == "not_found", "\(method) \(path)")
        }
      }
      // Under /v1 the list is absent, byte for byte.
      let there = try await list.call(.removed, .get)
      let absent = try await list.api.call(
        .get, "/v1/lists/" + ListFixture.absent, token: list.token(.removed))
      #expect(there.status == 404 && there.error == absent.error)
      #expect(there["reason"] == absent["reason"])
      let elsewhere = try await list.api.call(
        .get, "/couch/list-" + ListFixture.absent, token: list.token(.removed))
      #expect(elsewhere.status == 404)

      list.api.clock.advance(seconds: ListLimits.leftSeconds)
      let later = try await list.api.call(.get, list.couch, token: session("removed", list))
      #expect(later.status == 404 && later.bytes == elsewhere.bytes)
    }
  }

  @Test func memberOnceMoreIsNoFormerOne() async throws {
    try await ListFixture.open { list in
      try await list.join(.removed, as: "reader")
      #expect(try await list.couch(.removed, .get, "/_changes").status == 200)
      #expect(try await list.call(.removed, .delete, "/members/removed").status == 204)
      #expect(try await list.couch(.removed, .get, "/_changes").status == 403)
    }
  }

  @Test(arguments: ["list", "owner's account"])
  func membersOfAnEndedListAreForbidden(ended: String) async throws {
    try await ListFixture.open { list in
      let done =
        if ended == "list" {
          try await list.call(.owner, .delete)
        } else {
          try await list.api.call(.delete, "/v1/me?lists=delete", token: list.token(.owner))
        }
      #expect(done.status == 204)
      #expect(try await list.couch(.editor, .get).status == 403)
      #expect(try await list.couch(.stranger, .get).status == 404)
      #expect(try await list.couch(.owner, .get).status == (ended == "list" ? 403 : 401))
    }
  }

  @Test func noteEndsWithTheAccount() async throws {
    try await ListFixture.open { list in
      #expect(try await list.couch(.removed, .get).status == 403)
      #expect(
        try await list.api.call(.delete, "/v1/me", token: list.token(.removed)).status == 204)
      let prefix = ListKeys.range("left/")
      let left = try await list.api.stores.withStore(.system) { store in
        try await store.read { view in
          var left = 0
          try view.locals(prefix) { _, _ in
            left += 1
            return true
          }
          return left
        }
      }
      #expect(left == 0)
      let token = try await list.api.user("removed")
      #expect(try await list.api.call(.get, list.couch, token: token).status == 404)
    }
  }

  @Test func spentGuestIsUnauthorizedInItsDatabaseAndGoneElsewhere() async throws {
    try await APIFixture.open { api in
      let guest = try await api.guest()
      let me = try await api.call(.get, "/v1/me", token: guest)
      let couch = "/couch/guest-" + (try #require(me["id"]))
      try await api.bookmark("a", guest)
      #expect(try await api.signUp("ann", guest: guest).status == 201)
      for path in [couch, couch + "/_changes", couch + "/_local/x", "/couch/_session"] {
        let reply = try await api.call(.get, path, token: guest)
        #expect(reply.status == 401 && reply.error == "unauthorized", "\(path)")
      }
      let gone = try await api.call(.get, "/v1/bookmarks", token: guest)
      #expect(gone.status == 410 && gone.error == "guest_spent")
    }
  }

  private func session(_ name: String, _ list: ListFixture) async throws -> String {
    let reply = try await list.api.call(
      .post, "/v1/sessions", body: APIFixture.credentials(name))
    return try #require(reply["token"])
  }
}
