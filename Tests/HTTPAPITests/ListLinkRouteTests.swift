import Documents
import HTTPTypes
import Lists
import Testing

@testable import HTTPAPI

/// Links that show a list without an account.
@Suite(.timeLimit(.minutes(60))) struct ListLinkRouteTests {
  /// Makes a link and returns its id and its secret.
  private static func link(in list: ListFixture) async throws -> (id: String, secret: String) {
    let made = try await list.call(.owner, .post, "/links")
    #expect(made.status == 201)
    return (try #require(made["id"]), try #require(made["secret"]))
  }

  /// What a secret shows to somebody without credentials.
  private static func shown(
    _ secret: String, _ query: String = "", in list: ListFixture
  ) async throws -> Reply {
    try await list.api.call(.get, "/v1/links/\(secret)\(query)")
  }

  @Test func aLinkShowsHotelsAndPublishedNotesAndNoPeople() async throws {
    try await ListFixture.open { list in
      let hotel = #"{"name":"One","city":"Rome","geo":{"lat":1.50,"lon":2},"myNote":"mine","#
      try await list.call(
        .editor, .put, "/bookmarks/h1", body: hotel + #""myTags":["mine"],"by":"editor"}"#)
      try await list.call(.owner, .put, "/bookmarks/h2", body: #"{"name":"Two"}"#)
      try await list.call(.owner, .put, "/notes/Plan", body: #"{"markdown":"* [ ] Pack"}"#)
      try await list.call(.owner, .put, "/notes/Plan?draft=true", body: #"{"markdown":"mine"}"#)
      try await list.call(.owner, .put, "/notes/Mine?draft=true", body: #"{"markdown":"mine"}"#)
      try await list.call(.owner, .put, "/bookmarks/h3?draft=true", body: #"{"name":"Mine"}"#)
      let secret = try await Self.link(in: list).secret
      let shown = try await Self.shown(secret, in: list)
      #expect(shown.status == 200)
      #expect(shown["title"] == "Rome" && shown["markdown"] == "In *May*")
      #expect(
        shown.json["hotels"] == [
          ["id": "h2", "name": "Two"],
          [
            "id": "h1", "name": "One", "city": "Rome",
            "geo": ["lat": .number(try #require(JSONNumber(text: "1.50"))), "lon": 2],
          ],
        ])
      let notes = try #require(shown.json["notes"]?.array)
      #expect(
        notes.count == 1 && notes[0]["title"] == "Plan" && notes[0]["markdown"] == "* [ ] Pack")
      let names = Set(shown.json.object?.members.map(\.name) ?? [])
      #expect(names == ["title", "markdown", "updatedAt", "hotels", "notes"])
      for name in ["owner", "editor", "reader", "mine", list.id] {
        #expect(!shown.text.contains(name), "\(name)")
      }
      #expect(shown.headers[.xRobotsTag] == "noindex")
      #expect(shown.headers[.referrerPolicy] == "no-referrer")
      #expect(shown.headers[.cacheControl]?.contains("no-store") == true)
    }
  }

  @Test func everyLinkThatShowsNothingIsAnsweredAlike() async throws {
    try await ListFixture.open { list in
      let (withdrawn, erased) = (try await Self.link(in: list), try await Self.link(in: list))
      #expect(try await list.call(.owner, .delete, "/links/" + withdrawn.id).status == 204)
      #expect(try await list.call(.owner, .delete, "/links/" + withdrawn.id).status == 404)
      #expect(try await Self.shown(erased.secret, in: list).status == 200)
      #expect(try await list.call(.owner, .delete).status == 204)
      let never = try await Self.shown(String(repeating: "0", count: 64), in: list)
      #expect(never.status == 404 && never.error == "not_found")
      // A link's id and the hash that is stored open nothing.
      let others = [
        withdrawn.secret, erased.secret, erased.id, "x", Hex.digest(of: erased.secret, digits: 64),
      ]
      for secret in others {
        let reply = try await Self.shown(secret, in: list)
        #expect(reply.status == 404 && reply.error == never.error)
        #expect(reply["reason"] == never["reason"] && reply["detail"] == never["detail"])
      }
    }
  }

  @Test func linksAreTheOwnersAlone() async throws {
    try await ListFixture.open { list in
      let made = try await Self.link(in: list)
      for (person, status) in [
        (ListFixture.Person.editor, 403), (.reader, 403), (.stranger, 404), (.removed, 404),
        (.guest, 404),
      ] {
        #expect(try await list.call(person, .get, "/links").status == status)
        #expect(try await list.call(person, .post, "/links").status == status)
        #expect(try await list.call(person, .delete, "/links/" + made.id).status == status)
      }
      let known = try await list.call(.owner, .get, "/links")
      #expect(known.json["links"]?.array?.compactMap { $0["id"]?.string } == [made.id])
      #expect(!known.text.contains(made.secret))
      // Another list's owner can't withdraw it.
      let other = try await list.api.call(
        .post, "/v1/lists", token: list.token(.stranger), body: #"{"title":"Oslo"}"#)
      let path = "/v1/lists/\(try #require(other["id"]))/links/\(made.id)"
      #expect(
        try await list.api.call(.delete, path, token: list.token(.stranger)).status == 404)
      #expect(try await Self.shown(made.secret, in: list).status == 200)
    }
  }

  @Test func aLinkEndsAndNobodyJoinsWhenTheListHasNoOwnerAnyMore() async throws {
    try await ListFixture.open { list in
      let secret = try await Self.link(in: list).secret
      let invitation = try await list.invite("reader")
      let offer = try await list.call(.owner, .patch, body: #"{"owner":"editor"}"#)
      #expect(try await list.accept(.editor, try #require(offer["id"])).status == 200)
      #expect(try await Self.shown(secret, in: list).status == 200)
      #expect(
        try await list.call(.editor, .get, "/links").json["links"]?.array?.count == 1)
      let erased = try await list.api.call(
        .delete, "/v1/me?lists=handOn", token: list.token(.editor))
      #expect(erased.status == 204)
      #expect(try await list.call(.owner, .get).status == 200)
      #expect(try await Self.shown(secret, in: list).status == 404)
      // Nobody could remove who joins now. The next owner can, and sees the invitation.
      let refused = try await list.accept(.stranger, invitation)
      #expect(refused.status == 410 && refused.error == "invitation_gone")
      let members = try await list.call(.owner, .get)
      #expect(!members.text.contains("stranger") && members["owner"] == "")
      #expect(try await list.accept(.owner, list.id)["owner"] == "owner")
      #expect(
        try await list.call(.owner, .get, "/invitations").json["invitations"]?.array?.count == 2)
      #expect(try await list.accept(.stranger, invitation)["role"] == "reader")
    }
  }

  @Test func aListHasAtMostItsLimitOfLinks() async throws {
    try await ListFixture.open { list in
      for _ in 0..<ListLimits.links { _ = try await Self.link(in: list) }
      let more = try await list.call(.owner, .post, "/links")
      #expect(more.status == 507 && more.error == "quota_exceeded")
      let known = try await list.call(.owner, .get, "/links").json["links"]?.array
      #expect(known?.count == ListLimits.links)
    }
  }

  @Test func aRepeatedRequestMakesOneLinkAndAnswersNoSecretAgain() async throws {
    try await ListFixture.open { list in
      let key: HTTPFields = [.idempotencyKey: "once"]
      let made = try await list.call(.owner, .post, "/links", headers: key)
      #expect(made.status == 201)
      let again = try await list.call(.owner, .post, "/links", headers: key)
      #expect(again.status == 409 && again.error == "answer_gone")
      #expect(again["location"] == made.headers[.location])
      #expect(try await list.call(.owner, .get, "/links").json["links"]?.array?.count == 1)
    }
  }

  @Test func pagesShowEachHotelAndEachNoteOnce() async throws {
    try await ListFixture.open { list in
      for count in 0..<5 {
        try await list.call(.owner, .put, "/bookmarks/h\(count)", body: #"{"name":"H"}"#)
        try await list.call(.owner, .put, "/notes/N%20\(count)", body: #"{"markdown":"n"}"#)
      }
      let secret = try await Self.link(in: list).secret
      for limit in [1, 2, 3, 5, 7, 100] {
        var (found, next): ([String], String?) = ([], nil)
        repeat {
          let after = next.map { "&after=" + $0.urlSegment } ?? ""
          let page = try await Self.shown(secret, "?limit=\(limit)\(after)", in: list)
          #expect(page.status == 200)
          let hotels = page.json["hotels"]?.array?.compactMap { $0["id"]?.string } ?? []
          let notes = page.json["notes"]?.array?.compactMap { $0["title"]?.string } ?? []
          #expect(hotels.count + notes.count <= limit)
          found += hotels + notes
          next = page["next"]
        } while next != nil
        #expect(
          found == ["h4", "h3", "h2", "h1", "h0", "N 0", "N 1", "N 2", "N 3", "N 4"], "\(limit)")
      }
      for after in ["", "x", "h", "h1-x", "1"] {
        #expect(try await Self.shown(secret, "?after=\(after)", in: list).status == 400)
      }
    }
  }
}
