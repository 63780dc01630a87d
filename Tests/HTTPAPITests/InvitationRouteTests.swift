import Documents
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI
@testable import Lists

/// Invitations of users by name.
@Suite(.timeLimit(.minutes(60))) struct InvitationRouteTests {
  private static let reader = #"{"role":"reader"}"#

  @Test(.bug(id: "34/22")) func nobodyIsOnAListBeforeTheyAccept() async throws {
    try await ListFixture.open { list in
      let invited = try await list.call(.owner, .put, "/members/stranger", body: Self.reader)
      #expect(invited.status == 202 && invited["status"] == "invited")
      #expect(invited["username"] == "stranger")
      #expect(try await list.call(.stranger, .get).status == 404)
      #expect(try await list.couch(.stranger, .get).status == 404)
      let mine = try await list.api.call(.get, "/v1/lists", token: list.token(.stranger))
      #expect(mine.json["lists"]?.array == [])
      let open = try await received(.stranger, list)
      #expect(open.count == 1 && open.first?["id"]?.string == invited["id"])
      #expect(open.first?["inviter"] == "owner" && open.first?["role"] == "reader")
      #expect(open.first?["title"] == "Rome" && open.first?["list"]?.string == list.id)
      let members = try await list.call(.owner, .get).json["members"]?.array
      #expect(members?.count == 3)

      let accepted = try await list.accept(.stranger, try #require(invited["id"]))
      #expect(accepted.status == 200 && accepted["role"] == "reader")
      #expect(try await received(.stranger, list).isEmpty)
      #expect(try await list.accept(.stranger, try #require(invited["id"])).status == 404)
    }
  }

  @Test func anotherRoleReplacesTheInvitationAndAMemberHasItAtOnce() async throws {
    try await ListFixture.open { list in
      let first = try await list.call(.owner, .put, "/members/stranger", body: Self.reader)
      let second = try await list.call(
        .owner, .put, "/members/stranger", body: #"{"role":"editor"}"#)
      #expect(second["id"] == first["id"])
      #expect(try await received(.stranger, list).map { $0["role"]?.string } == ["editor"])
      #expect(try await list.accept(.stranger, try #require(first["id"])).status == 200)
      #expect(
        try await list.call(.owner, .put, "/members/stranger", body: Self.reader).status == 204)
      #expect(try await list.call(.stranger, .get)["role"] == "reader")
    }
  }

  @Test func declinedOrWithdrawnInvitationIsGoneForBoth() async throws {
    try await ListFixture.open { list in
      for way in ["decline", "withdraw", "member"] {
        let invited = try await list.call(.owner, .put, "/members/stranger", body: Self.reader)
        let id = try #require(invited["id"])
        #expect(try await invitedUsers(list) == ["stranger"])
        let done =
          switch way {
          case "decline": try await answer(.stranger, id, "decline", list)
          case "withdraw": try await list.call(.owner, .delete, "/invitations/" + id)
          default: try await list.call(.owner, .delete, "/members/stranger")
          }
        #expect(done.status == 204)
        #expect(try await invitedUsers(list) == [])
        #expect(try await received(.stranger, list).isEmpty)
        #expect(try await list.accept(.stranger, id).status == 404)
      }
      #expect(try await list.call(.owner, .delete, "/members/stranger").status == 404)
    }
  }

  @Test func blockedInviterDoesNotLearnItAndIsNotSeenAgain() async throws {
    try await ListFixture.open { list in
      let token = try list.token(.owner)
      let other = try #require(
        try await list.api.call(.post, "/v1/lists", token: token, body: #"{"title":"B"}"#)["id"])
      let path = "/v1/lists/\(other)/members/stranger"
      let second = try await list.api.call(.put, path, token: token, body: Self.reader)
      let first = try await list.call(.owner, .put, "/members/stranger", body: Self.reader)
      let id = try #require(first["id"])
      #expect(try await answer(.stranger, id, "block", list).status == 204)
      #expect(try await received(.stranger, list).isEmpty)
      let again = try await list.call(.owner, .put, "/members/stranger", body: Self.reader)
      #expect(again.status == 202 && again["id"] == id)
      #expect(try await received(.stranger, list).isEmpty)
      #expect(try await invitedUsers(list) == ["stranger"])
      for invitation in [id, try #require(second["id"])] {
        #expect(try await list.accept(.stranger, invitation).status == 404)
      }
    }
  }

  @Test(.bug(id: "34/22")) func whoWasBlockedIsSeenAndCanBeUnblocked() async throws {
    try await ListFixture.open { list in
      #expect(try await blocked(.stranger, list) == [])
      #expect(try await unblock("owner", .stranger, list).status == 404)
      let first = try await list.call(.owner, .put, "/members/stranger", body: Self.reader)
      let id = try #require(first["id"])
      #expect(try await answer(.stranger, id, "block", list).status == 204)
      #expect(try await blocked(.stranger, list) == ["owner"])
      #expect(try await blocked(.invited, list) == [])
      #expect(try await blocked(.guest, list) == [])
      // What was made meanwhile is shown afterwards.
      try await list.call(.owner, .put, "/members/stranger", body: #"{"role":"editor"}"#)
      #expect(try await unblock("nobody", .stranger, list).status == 404)
      #expect(try await unblock("Owner", .stranger, list).status == 204)
      #expect(try await blocked(.stranger, list) == [])
      let open = try await received(.stranger, list)
      #expect(open.map { $0["role"]?.string } == ["editor"] && open.first?["id"]?.string == id)
      #expect(try await list.accept(.stranger, id).status == 200)
    }
  }

  @Test func blockedPersonWhoseAccountIsErasedLeavesNoName() async throws {
    try await ListFixture.open { list in
      let first = try await list.call(.owner, .put, "/members/stranger", body: Self.reader)
      #expect(
        try await answer(.stranger, try #require(first["id"]), "block", list).status == 204)
      #expect(
        try await list.api.call(.delete, "/v1/me?lists=delete", token: list.token(.owner)).status
          == 204)
      #expect(try await blocked(.stranger, list) == [])
      // Another person takes the name, and is not blocked.
      _ = try await list.api.user("owner")
      #expect(try await blocked(.stranger, list) == [])
      #expect(try await unblock("owner", .stranger, list).status == 404)
    }
  }

  @Test func othersAndGuestsCanNotAnswerAnInvitation() async throws {
    try await ListFixture.open { list in
      let invited = try await list.call(.owner, .put, "/members/stranger", body: Self.reader)
      let id = try #require(invited["id"])
      for verb in ["accept", "decline", "block"] {
        #expect(try await answer(.invited, id, verb, list).status == 404)
        let guest = try await answer(.guest, id, verb, list)
        #expect(guest.status == (verb == "accept" ? 403 : 404))
      }
      #expect(try await received(.guest, list).isEmpty)
      #expect(try await received(.stranger, list).count == 1)
    }
  }

  @Test func fiftyAreOpenAndTheOldestGo() async throws {
    try await ListFixture.open { list in
      let token = try list.token(.owner)
      // Somebody's many invitations do not drive out another's.
      let other = try await list.api.call(
        .post, "/v1/lists", token: list.token(.editor), body: #"{"title":"Bern"}"#)
      try await list.api.call(
        .put, "/v1/lists/\(try #require(other["id"]))/members/stranger",
        token: list.token(.editor), body: Self.reader)
      for number in 1...ListLimits.openToAccount {
        list.api.clock.advance(seconds: 1)
        let title = String(repeating: "é", count: 40) + "\(number)"
        let made = try await list.api.call(
          .post, "/v1/lists", token: token, body: #"{"title":"\#(title)"}"#)
        let path = "/v1/lists/\(try #require(made["id"]))/members/stranger"
        let invited = try await list.api.call(.put, path, token: token, body: Self.reader)
        #expect(invited.status == 202)
      }
      let open = try await received(.stranger, list)
      #expect(open.count == ListLimits.openToAccount)
      #expect(open.last?["title"]?.string == "Bern")
      let texts = open.dropLast().compactMap { $0["title"]?.string }
      #expect(texts.allSatisfy { $0.utf8.count == ListLimits.invitationTitleBytes })
      // They cost the invited nothing: the stranger makes as many lists as anybody.
      let own = try await list.api.call(
        .post, "/v1/lists", token: list.token(.stranger), body: #"{"title":"Own"}"#)
      #expect(own.status == 201)
      list.api.clock.advance(seconds: ListLimits.longestInvitationSeconds)
      let session = try await list.api.call(
        .post, "/v1/sessions", body: APIFixture.credentials("stranger"))["token"]
      let late = try await list.api.call(.get, "/v1/invitations", token: session)
      #expect(late.json["invitations"]?.array == [])
    }
  }

  @Test func invitationGoesWithTheListAndWithTheInvited() async throws {
    try await ListFixture.open { list in
      for person in ["stranger", "invited"] {
        try await list.call(.owner, .put, "/members/" + person, body: Self.reader)
      }
      let erased = try await list.api.call(.delete, "/v1/me", token: list.token(.invited))
      #expect(erased.status == 204)
      #expect(try await invitedUsers(list) == ["stranger"])
      #expect(try await list.call(.owner, .delete).status == 204)
      #expect(try await received(.stranger, list).isEmpty)
    }
  }

  private func received(
    _ person: ListFixture.Person, _ list: ListFixture
  ) async throws -> [JSONValue] {
    let reply = try await list.api.call(.get, "/v1/invitations", token: list.token(person))
    #expect(reply.status == 200)
    return reply.json["invitations"]?.array ?? []
  }

  /// The names of those whom a person has blocked.
  private func blocked(
    _ person: ListFixture.Person, _ list: ListFixture
  ) async throws -> [String] {
    let reply = try await list.api.call(.get, "/v1/blocked", token: list.token(person))
    #expect(reply.status == 200)
    return reply.json["blocked"]?.array?.compactMap { $0["username"]?.string } ?? []
  }

  private func unblock(
    _ name: String, _ person: ListFixture.Person, _ list: ListFixture
  ) async throws -> Reply {
    try await list.api.call(.delete, "/v1/blocked/" + name, token: list.token(person))
  }

  /// The names that the owner sees as invited.
  private func invitedUsers(_ list: ListFixture) async throws -> [String] {
    let open = try await list.call(.owner, .get, "/invitations")
    return open.json["invitations"]?.array?.compactMap { $0["username"]?.string } ?? []
  }

  private func answer(
    _ person: ListFixture.Person, _ id: String, _ verb: String, _ list: ListFixture
  ) async throws -> Reply {
    try await list.api.call(.post, "/v1/invitations/\(id)/\(verb)", token: list.token(person))
  }
}
