import Documents
import HTTPTypes
import Lists
import TestSupport
import Testing

@testable import HTTPAPI

@Suite(.timeLimit(.minutes(60))) struct ListRouteTests {
  /// Two members' descriptions: the later one took away the other's words.
  @Test func aDescriptionKeepsWhatOthersWroteSinceItsAuthorSawIt() async throws {
    try await ListFixture.open { list in
      func describe(_ text: String, since seen: String?) async throws -> String? {
        var body: JSONObject = ["markdown": .string(text)]
        if let seen { body["markdownSeen"] = .string(seen) }
        let reply = try await list.call(
          .editor, .patch, body: String(decoding: JSONValue.object(body).bytes, as: UTF8.self))
        #expect(reply.status == 200)
        return reply["markdown"]
      }
      let seen = try await describe("one\ntwo\nthree\n", since: nil)
      #expect(try await describe("1\ntwo\nthree\n", since: seen) == "1\ntwo\nthree\n")
      #expect(try await describe("one\ntwo\n3\n", since: seen) == "1\ntwo\n3\n")
      let both = try await describe("eins\ntwo\nthree\n", since: seen)
      #expect(both == "1\ntwo\n3\n\neins\ntwo\nthree\n")
      // The same request once more.
      #expect(try await describe("eins\ntwo\nthree\n", since: seen) == both)
      #expect(try await describe("all", since: nil) == "all")
    }
  }

  @Test func membersSeeTheListAndWhoIsOnIt() async throws {
    try await ListFixture.open { list in
      for person in [ListFixture.Person.owner, .editor, .reader] {
        let reply = try await list.call(person, .get)
        #expect(reply.status == 200)
        #expect(reply["title"] == "Rome")
        #expect(reply["markdown"] == "In *May*")
        #expect(reply["owner"] == "owner")
        #expect(reply["role"] == person.rawValue)
        let members = reply.json["members"]?.array?.compactMap { $0["username"]?.string }
        #expect(members == ["owner", "editor", "reader"])
        #expect(reply["couch"]?.hasSuffix(list.couch) == true)
      }
      let mine = try await list.api.call(.get, "/v1/lists", token: list.token(.reader))
      #expect(mine.json["lists"]?.array?.first?["id"]?.string == list.id)
    }
  }

  @Test func aListIsAbsentToWhoeverIsNotOnIt() async throws {
    try await ListFixture.open { list in
      let absent = try await list.api.call(
        .get, "/v1/lists/" + ListFixture.absent, token: list.token(.stranger))
      for person in [ListFixture.Person.invited, .removed, .stranger, .guest] {
        for (method, path) in [(HTTPRequest.Method.get, ""), (.delete, ""), (.get, "/bookmarks")] {
          let reply = try await list.call(person, method, path)
          #expect(reply.status == 404)
          #expect(reply.error == absent.error && reply["reason"] == absent["reason"])
        }
        #expect(try await list.couch(person, .get).status == (person == .removed ? 403 : 404))
        let mine = try await list.api.call(.get, "/v1/lists", token: list.token(person))
        #expect(mine.json["lists"]?.array == [])
      }
    }
  }

  @Test func aGuestNeedsAnAccountToMakeOrJoinAList() async throws {
    try await ListFixture.open { list in
      let made = try await list.api.call(
        .post, "/v1/lists", token: list.token(.guest), body: #"{"title":"Rome"}"#)
      #expect(made.status == 403 && made.error == "account_needed")
      let joined = try await list.accept(.guest, try await list.invite("reader"))
      #expect(joined.status == 403 && joined.error == "account_needed")
    }
  }

  @Test func anInvitationTakesOneAndTellsTheNextThatItIsGone() async throws {
    try await ListFixture.open { list in
      let invitation = try await list.invite("reader")
      #expect(try await list.accept(.invited, invitation).status == 200)
      #expect(try await list.call(.invited, .get)["role"] == "reader")
      // A person who lost the answer may repeat the request.
      #expect(try await list.accept(.invited, invitation).status == 200)
      let late = try await list.accept(.stranger, invitation)
      #expect(late.status == 410 && late.error == "invitation_gone")
      #expect(try await list.accept(.stranger, "nonsense").status == 404)
    }
  }

  @Test func aWithdrawnOrExpiredInvitationIsGone() async throws {
    try await ListFixture.open { list in
      let made = try await list.call(.owner, .post, "/invitations", body: #"{"role":"editor"}"#)
      let id = try #require(made["id"])
      let open = try await list.call(.owner, .get, "/invitations")
      #expect(open.json["invitations"]?.array?.count == 2)
      #expect(open.text.contains("token") == false)
      #expect(try await list.call(.editor, .get, "/invitations").status == 403)
      #expect(try await list.call(.owner, .delete, "/invitations/" + id).status == 204)
      #expect(try await list.call(.owner, .delete, "/invitations/" + id).status == 404)
      let token = try #require(made["token"])
      #expect(try await list.accept(.stranger, token).status == 410)
      let old = try await list.invite("editor")
      list.api.clock.advance(seconds: 7 * 86_400)
      let session = try await list.api.call(
        .post, "/v1/sessions", body: APIFixture.credentials("stranger"))["token"]
      let late = try await list.api.call(.post, "/v1/invitations/\(old)/accept", token: session)
      #expect(late.status == 410)
    }
  }

  @Test func theOwnerAloneSaysWhoIsOnTheList() async throws {
    try await ListFixture.open { list in
      let role = "{\"role\":\"editor\"}"
      let refused = try await list.call(.editor, .put, "/members/reader", body: role)
      #expect(refused.status == 403)
      #expect(try await list.call(.reader, .delete, "/members/editor").status == 403)
      #expect(try await list.call(.owner, .put, "/members/reader", body: role).status == 204)
      #expect(try await list.call(.reader, .get)["role"] == "editor")
      #expect(try await list.call(.owner, .put, "/members/STRANGER", body: role).status == 202)
      #expect(try await list.call(.stranger, .get).status == 404)
      #expect(try await list.call(.owner, .put, "/members/nobody", body: role).status == 404)
      #expect(try await list.call(.owner, .put, "/members/owner", body: role).status == 403)
      #expect(try await list.call(.owner, .delete, "/members/owner").status == 403)
    }
  }

  @Test func aMemberLeavesAndTheListIsAbsentAtOnce() async throws {
    try await ListFixture.open { list in
      #expect(try await list.call(.editor, .delete, "/members/editor").status == 204)
      #expect(try await list.call(.editor, .get).status == 404)
      #expect(try await list.couch(.editor, .get, "/_changes").status == 403)
      let members = try await list.call(.owner, .get).json["members"]?.array
      #expect(members?.count == 2)
      let wiki = try await list.couch(.owner, .get, "/" + list.id)
      #expect(wiki.json["members"] == ["reader"] && wiki.json["readers"] == ["reader"])
    }
  }

  @Test func handingOnMakesTheFormerOwnerAnEditor() async throws {
    try await ListFixture.open { list in
      let owner = #"{"owner":"editor"}"#
      #expect(try await list.call(.editor, .patch, body: owner).status == 403)
      #expect(try await list.call(.owner, .patch, body: #"{"owner":"stranger"}"#).status == 404)
      // A refused owner refuses the texts of the same request.
      let texts = [(ListFixture.Person.editor, "editor", 403), (.owner, "stranger", 404)]
      for (person, name, status) in texts {
        let body = #"{"title":"Roma","markdown":"","owner":"\#(name)"}"#
        #expect(try await list.call(person, .patch, body: body).status == status)
        let kept = try await list.call(.owner, .get)
        #expect(kept["title"] == "Rome" && kept["markdown"] == "In *May*")
      }
      #expect(try await list.call(.owner, .patch, body: #"{"owner":"Owner"}"#)["role"] == "owner")
      let offer = try await list.call(.owner, .patch, body: owner)
      #expect(offer.status == 202 && offer["username"] == "editor" && offer["role"] == "owner")
      #expect(try await list.call(.owner, .get)["owner"] == "owner")
      let reply = try await list.accept(.editor, try #require(offer["id"]))
      #expect(reply.status == 200 && reply["owner"] == "editor" && reply["role"] == "owner")
      #expect(try await list.call(.owner, .get)["role"] == "editor")
      #expect(try await list.call(.owner, .delete).status == 403)
      #expect(try await list.call(.editor, .delete).status == 204)
      #expect(try await list.call(.editor, .get).status == 404)
    }
  }

  @Test func titleAndDescriptionAreTheOwnersAndTheEditors() async throws {
    try await ListFixture.open { list in
      let before = try await list.call(.editor, .get)
      let tag: HTTPFields = [.ifMatch: try #require(before.headers[.eTag])]
      let title = #"{"title":"Roma"}"#
      #expect(try await list.call(.reader, .patch, body: title).status == 403)
      let after = try await list.call(.editor, .patch, body: title, headers: tag)
      #expect(after.status == 200 && after["title"] == "Roma" && after["markdown"] == "In *May*")
      #expect(try await list.call(.owner, .patch, body: title, headers: tag).status == 412)
      #expect(try await list.call(.owner, .patch, body: #"{"colour":"red"}"#).status == 400)
      #expect(try await list.call(.owner, .patch, body: #"{"title":" "}"#).status == 400)
    }
  }

  @Test func bookmarksAndNotesAreOneListForAll() async throws {
    try await ListFixture.open { list in
      let put = try await list.call(
        .editor, .put, "/bookmarks/h1", body: #"{"name":"Hotel One"}"#)
      #expect(put.status == 201)
      #expect(put.headers[.location] == list.path + "/bookmarks/h1")
      #expect(try await list.call(.reader, .get, "/bookmarks").ids == ["h1"])
      #expect(try await list.call(.reader, .delete, "/bookmarks/h1").status == 403)
      #expect(try await list.call(.reader, .put, "/bookmarks/h2", body: "{}").status == 403)
      let note = try await list.call(
        .owner, .put, "/notes/To%20do%2Fsee", body: #"{"markdown":"Forum"}"#)
      #expect(note.status == 201 && note["title"] == "To do/see")
      let known = try await list.call(.reader, .get, "/notes/To%20do%2Fsee")
      #expect(known["markdown"] == "Forum" && known["rev"] == note["rev"])
      let page = try await list.couch(.reader, .get, "/\(list.id)%3ATo%20do%2Fsee")
      #expect(page["type"] == "page" && page["wiki_id"] == list.id)
      let all = try await list.call(.reader, .get, "/notes")
      #expect(all.json["notes"]?.array?.count == 1)
      #expect(try await list.call(.editor, .delete, "/notes/To%20do%2Fsee").status == 204)
      #expect(try await list.call(.editor, .get, "/notes/To%20do%2Fsee").status == 404)
      // The editor's own store does not contain it.
      let own = try await list.api.call(.get, "/v1/bookmarks", token: list.token(.editor))
      #expect(own.ids == [])
    }
  }

  @Test func aReadersDeviceWritesNothingButItsCheckpoint() async throws {
    try await ListFixture.open { list in
      let single = try await list.couch(.reader, .put, "/a", body: "{}")
      #expect(single.status == 403 && single.error == "forbidden")
      let bulk = try await list.couch(
        .reader, .post, "/_bulk_docs", body: #"{"docs":[{"_id":"a"}]}"#)
      #expect(bulk.status == 201)
      #expect(bulk.json.array?.first?["error"]?.string == "forbidden")
      #expect(try await list.couch(.reader, .put, "/_local/checkpoint", body: "{}").status == 201)
      #expect(try await list.couch(.reader, .get, "/_changes").status == 200)
    }
  }

  @Test func anEditorsDeviceChangesTheTitleButNotTheMembers() async throws {
    try await ListFixture.open { list in
      let path = "/" + list.id
      let wiki = try await list.couch(.editor, .get, path)
      #expect(wiki["type"] == "wiki" && wiki["owner_id"] == "owner")
      let changed = wiki.text.replacing("Rome", with: "Roma")
      #expect(try await list.couch(.editor, .put, path, body: changed).status == 201)
      #expect(try await list.call(.reader, .get)["title"] == "Roma")
      let now = try await list.couch(.editor, .get, path).text
      for text in [
        now.replacing(#""owner_id":"owner""#, with: #""owner_id":"editor""#),
        now.replacing(#""members":["#, with: #""members":["stranger","#),
        now.replacing(#""type":"wiki""#, with: #""type":"page""#),
      ] {
        let refused = try await list.couch(.editor, .put, path, body: text)
        #expect(refused.status == 403 && refused.error == "forbidden")
        let bulk = try await list.couch(
          .editor, .post, "/_bulk_docs", body: #"{"docs":[\#(text)]}"#)
        #expect(bulk.json.array?.first?["error"]?.string == "forbidden")
      }
      let revision = try #require(try await list.couch(.editor, .get, path)["_rev"])
      #expect(try await list.couch(.editor, .delete, path + "?rev=" + revision).status == 403)
      #expect(try await list.couch(.editor, .put, "/draft:a:b", body: "{}").status == 403)
      #expect(try await list.couch(.editor, .put, "/_design/a", body: "{}").status == 403)
      #expect(try await list.couch(.owner, .put, "/_design/a", body: "{}").status == 201)
    }
  }

  /// What the API refuses comes by sync neither.
  @Test func anEditorsDeviceWritesNoLongerTextsThanTheAPI() async throws {
    try await ListFixture.open { list in
      let wiki = try await list.couch(.editor, .get, "/" + list.id).text
      let long = String(repeating: "a", count: ListLimits.markdownBytes + 1)
      let title = String(repeating: "t", count: ListLimits.titleBytes)
      let note = #"{"_id":"\#(list.id):N","type":"page","markdown":"\#(long)"}"#
      for document in [
        wiki.replacing("Rome", with: title + "t"), wiki.replacing("Rome", with: " "),
        wiki.replacing("Rome", with: #"a\nb"#), wiki.replacing("In *May*", with: long), note,
        #"{"_id":"\#(list.id):\#(title)t","type":"page","markdown":""}"#,
      ] {
        let reply = try await list.couch(
          .editor, .post, "/_bulk_docs", body: #"{"docs":[\#(document)]}"#)
        #expect(reply.json.array?.first?["error"]?.string == "forbidden", "\(reply.text)")
        let path = document == note ? "/\(list.id):N" : nil
        if let path {
          #expect(try await list.couch(.editor, .put, path, body: note).status == 403)
        }
      }
      #expect(try await list.call(.reader, .get)["title"] == "Rome")
      let fitting = wiki.replacing("Rome", with: title)
        .replacing("In *May*", with: String(long.dropFirst()))
      #expect(try await list.couch(.editor, .put, "/" + list.id, body: fitting).status == 201)
      let page = #"{"type":"page","markdown":"\#(long.dropFirst())"}"#
      #expect(
        try await list.couch(.editor, .put, "/\(list.id):\(title)", body: page).status == 201)
    }
  }

  /// A draft is a document of its author's own store, and no hotel has such an id.
  @Test func noBookmarkHasTheIDOfADraft() async throws {
    try await ListFixture.open { list in
      let hotel = #"{"name":"Rosa"}"#
      for path in ["/bookmarks/draft:a", "/bookmarks/draft:\(list.id):h"] {
        #expect(try await list.call(.editor, .put, path, body: hotel).status == 400)
        let own = try await list.api.call(
          .put, "/v1" + path, token: list.token(.editor), body: hotel)
        #expect(own.status == 400)
      }
      let ids = try await list.couch(.editor, .get, "/_all_docs").json["rows"]?.array?
        .compactMap { $0["id"]?.string }
      #expect(ids?.contains { $0.hasPrefix("draft:") } == false)
    }
  }

  @Test func aDeviceThatWasOfflineBringsNoFormerMemberBack() async throws {
    try await ListFixture.open { list in
      let path = "/" + list.id
      let old = try await list.couch(.editor, .get, path + "?revs=true")
      let ids = old.json["_revisions"]?["ids"]?.array?.compactMap { $0.string } ?? []
      let start = try #require(old.json["_revisions"]?["start"]?.int)
      #expect(try await list.call(.owner, .delete, "/members/reader").status == 204)
      // Offline, the editor has changed the title twice, so this branch wins.
      let new = [String(repeating: "f", count: 32), String(repeating: "e", count: 32)] + ids
      let history = new.map { "\"\($0)\"" }.joined(separator: ",")
      let members = old.json["members"].map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
      let body = #"""
        {"docs":[{"_id":"\#(list.id)","_rev":"\#(start + 2)-\#(new[0])","type":"wiki",
        "title":"Offline","owner_id":"owner","members":\#(members),"readers":["reader"],
        "markdown":"","_revisions":{"start":\#(start + 2),"ids":[\#(history)]}}],
        "new_edits":false}
        """#
      #expect(try await list.couch(.editor, .post, "/_bulk_docs", body: body).status == 201)
      let wiki = try await list.couch(.owner, .get, path)
      #expect(wiki.json["members"] == ["editor"] && wiki.json["readers"] == [])
      #expect(try await list.call(.reader, .get).status == 404)
    }
  }

  @Test(arguments: ["delete", "handOn"])
  func anErasedOwnersListEndsOrIsOfferedToItsMembers(_ wish: String) async throws {
    try await ListFixture.open { list in
      let erased = try await list.api.call(
        .delete, "/v1/me?lists=" + wish, token: list.token(.owner))
      #expect(erased.status == 204)
      let after = try await list.call(.editor, .get)
      guard wish == "handOn" else {
        #expect(after.status == 404)
        return
      }
      #expect(after["role"] == "editor" && after["owner"] == "")
      let wiki = try await list.couch(.editor, .get, "/" + list.id + "?revs_info=true")
      #expect(wiki["owner_id"] == "" && !wiki.text.contains(#""owner""#))
      let offers = try await list.api.call(.get, "/v1/invitations", token: list.token(.reader))
      let offer = try #require(offers.json["invitations"]?.array?.first)
      #expect(offer["title"] == "Rome" && offer["role"] == "owner" && offer["inviter"] == nil)
      let accepted = try await list.accept(.reader, try #require(offer["id"]?.string))
      #expect(accepted["role"] == "owner" && accepted["owner"] == "reader")
      #expect(try await list.accept(.editor, try #require(offer["id"]?.string)).status == 404)
      #expect(try await list.couch(.editor, .get, "/" + list.id)["owner_id"] == "reader")
    }
  }
}
