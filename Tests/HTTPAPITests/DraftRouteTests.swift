import Documents
import HTTPTypes
import Stores
import Testing

@testable import HTTPAPI

@Suite(.timeLimit(.minutes(60))) struct DraftRouteTests {
  private static let plan = #"{"markdown":"one\ntwo\nthree\n"}"#

  @Test func aDraftIsSeenByItsAuthorAlone() async throws {
    try await ListFixture.open { list in
      try await list.call(.owner, .put, "/bookmarks/h1", body: #"{"name":"One"}"#)
      try await list.call(.owner, .put, "/notes/Plan", body: Self.plan)
      let before = try await list.couch(.owner, .get)["update_seq"]
      let drafted = try await list.call(
        .editor, .put, "/bookmarks/h1?draft=true", body: #"{"name":"Uno"}"#)
      #expect(drafted.status == 201 && drafted.json["draft"] == true)
      let new = try await list.call(
        .editor, .put, "/bookmarks/h2?draft=true", body: #"{"name":"Two"}"#)
      #expect(new.status == 201)
      let note = try await list.call(
        .editor, .put, "/notes/Plan?draft=true", body: #"{"markdown":"other"}"#)
      #expect(note.status == 201 && note.json["draft"] == true)
      #expect(try await list.couch(.owner, .get)["update_seq"] == before)
      #expect(try await list.call(.owner, .get, "/bookmarks").ids == ["h1"])
      #expect(try await list.call(.editor, .get, "/bookmarks").ids == ["h2", "h1"])
      let mine = try await list.call(.editor, .get, "/bookmarks/h1")
      #expect(mine.json["hotel"]?["name"]?.string == "Uno" && mine.json["draft"] == true)
      let theirs = try await list.call(.reader, .get, "/bookmarks/h1")
      #expect(theirs.json["hotel"]?["name"]?.string == "One" && theirs.json["draft"] == nil)
      #expect(try await list.call(.reader, .get, "/bookmarks/h2").status == 404)
      #expect(try await list.call(.editor, .get, "/notes/Plan")["markdown"] == "other")
      #expect(try await list.call(.owner, .get, "/notes/Plan")["markdown"] == "one\ntwo\nthree\n")
      #expect(try await list.call(.owner, .get, "/drafts").json["drafts"]?.array == [])
      let drafts = try await list.call(.editor, .get, "/drafts").json["drafts"]?.array
      #expect(drafts?.compactMap { $0["kind"]?.string } == ["note", "bookmark", "bookmark"])
    }
  }

  @Test func publishingMakesItEverybodysAndTheDraftIsGone() async throws {
    try await ListFixture.open { list in
      try await list.call(.editor, .put, "/bookmarks/h1?draft=true", body: #"{"name":"One"}"#)
      let published = try await list.call(.editor, .post, "/bookmarks/h1/publish")
      #expect(published.status == 200)
      #expect(try await list.call(.reader, .get, "/bookmarks").ids == ["h1"])
      #expect(try await list.call(.editor, .get, "/drafts").json["drafts"]?.array == [])
      #expect(try await list.call(.editor, .post, "/bookmarks/h1/publish").status == 404)
      try await list.call(.editor, .delete, "/bookmarks/h1?draft=true")
      #expect(try await list.call(.editor, .get, "/bookmarks").ids == [])
      #expect(try await list.call(.reader, .get, "/bookmarks").ids == ["h1"])
      let removed = try await list.call(.editor, .post, "/bookmarks/h1/publish")
      #expect(removed.json["deleted"] == true)
      #expect(try await list.call(.reader, .get, "/bookmarks").ids == [])
    }
  }

  @Test func aBookmarksDraftIsMergedWithWhatOthersChanged() async throws {
    try await ListFixture.open { list in
      try await list.call(
        .owner, .put, "/bookmarks/h1", body: #"{"name":"One","city":"Rome","phone":"1"}"#)
      try await list.call(
        .editor, .put, "/bookmarks/h1?draft=true",
        body: #"{"name":"Uno","city":"Rome","phone":"1"}"#)
      try await list.call(
        .owner, .put, "/bookmarks/h1", body: #"{"name":"Ein","city":"Rome","phone":"2"}"#)
      let hotel = try await list.call(.editor, .post, "/bookmarks/h1/publish").json["hotel"]
      #expect(hotel?["name"]?.string == "Uno" && hotel?["phone"]?.string == "2")
    }
  }

  /// Without a stored base, nothing says that the author has removed what the others have written.
  @Test(arguments: [true, false])
  func aBookmarksDraftWithoutAKnownBaseKeepsWhatOthersAdded(isNew: Bool) async throws {
    try await ListFixture.open { list in
      if !isNew { try await list.call(.owner, .put, "/bookmarks/h1", body: #"{"name":"Eins"}"#) }
      try await list.call(
        .editor, .put, "/bookmarks/h1?draft=true" + (isNew ? "&base=none" : ""),
        body: #"{"name":"Uno","city":"Rome"}"#)
      for number in 0...StoreLimits.storedAncestors + 1 {
        let body = #"{"name":"One","phone":"\#(number)","myNote":"ask for 12"}"#
        try await list.call(.owner, .put, "/bookmarks/h1", body: body)
      }
      let published = try await list.call(.editor, .post, "/bookmarks/h1/publish")
      let hotel = published.json["hotel"]
      #expect(published.status == 200 && hotel?["myNote"]?.string == "ask for 12")
      #expect(hotel?["name"]?.string == "Uno" && hotel?["city"]?.string == "Rome")
    }
  }

  @Test func aDraftWithoutABodyKeepsWhatItsAuthorSees() async throws {
    try await ListFixture.open { list in
      try list.api.search.add(#"{"id":"h1","name":"Ritz"}"#, #"{"id":"h2","name":"Savoy"}"#)
      let path = "/bookmarks/h1?draft=true"
      func publish(_ steps: String) async throws {
        let reply = try await list.call(.editor, .post, "/bookmarks/h1/publish")
        #expect(reply.json["hotel"]?["myNote"]?.string == "ask for 12", "\(steps) \(reply.text)")
      }
      try await list.call(
        .owner, .put, "/bookmarks/h1", body: #"{"name":"One","myNote":"ask for 12"}"#)
      let drafted = try await list.call(.editor, .put, path)
      #expect(drafted.status == 201 && drafted.json["hotel"]?["name"]?.string == "One")
      try await publish("a draft")
      try await list.call(.editor, .delete, path)
      try await list.call(.editor, .put, path)
      try await publish("a draft after a removal")
      try await list.call(
        .editor, .put, path, body: #"{"name":"Uno","myNote":"ask for 12"}"#)
      let again = try await list.call(.editor, .put, path)
      #expect(again.json["hotel"]?["name"]?.string == "Uno")
      try await publish("a draft after a draft")
      let new = try await list.call(.editor, .put, "/bookmarks/h2?draft=true")
      #expect(new.json["hotel"]?["name"]?.string == "Savoy")
    }
  }

  @Test func aNotesDraftIsMergedByLinesOrAConflictWithAllThreeTexts() async throws {
    try await ListFixture.open { list in
      try await list.call(.owner, .put, "/notes/Plan", body: Self.plan)
      try await list.call(
        .editor, .put, "/notes/Plan?draft=true", body: #"{"markdown":"one\ntwo\n3\n"}"#)
      try await list.call(.owner, .put, "/notes/Plan", body: #"{"markdown":"1\ntwo\nthree\n"}"#)
      let merged = try await list.call(.editor, .post, "/notes/Plan/publish")
      #expect(merged.status == 200 && merged["markdown"] == "1\ntwo\n3\n")
      try await list.call(
        .editor, .put, "/notes/Plan?draft=true", body: #"{"markdown":"1\nzwei\n3\n"}"#)
      try await list.call(.owner, .put, "/notes/Plan", body: #"{"markdown":"1\ndue\n3\n"}"#)
      let conflict = try await list.call(.editor, .post, "/notes/Plan/publish")
      #expect(conflict.status == 409 && conflict.error == "conflict")
      #expect(conflict["base"] == "1\ntwo\n3\n" && conflict["theirs"] == "1\ndue\n3\n")
      #expect(conflict["mine"] == "1\nzwei\n3\n")
      #expect(try await list.call(.editor, .get, "/drafts").json["drafts"]?.array?.count == 1)
      #expect(try await list.call(.editor, .delete, "/notes/Plan/draft").status == 204)
      #expect(try await list.call(.editor, .get, "/notes/Plan")["markdown"] == "1\ndue\n3\n")
    }
  }

  @Test func aLateDraftGoesOnFromWhatItsAuthorSaw() async throws {
    try await ListFixture.open { list in
      let seen = try await list.call(.owner, .put, "/notes/Plan", body: Self.plan)["rev"]
      let path = "/notes/Plan?draft=true&base="
      try await list.call(.owner, .put, "/notes/Plan", body: #"{"markdown":"1\ntwo\nthree\n"}"#)
      try await list.call(
        .editor, .put, path + (seen ?? ""), body: #"{"markdown":"one\ntwo\n3\n"}"#)
      let merged = try await list.call(.editor, .post, "/notes/Plan/publish")
      #expect(merged.status == 200 && merged["markdown"] == "1\ntwo\n3\n")
      // A draft of the same lines conflicts. The editor merges it and saves it again on the others' revision.
      try await list.call(
        .editor, .put, path + (seen ?? ""), body: #"{"markdown":"eins\ntwo\n3\n"}"#)
      let conflict = try await list.call(.editor, .post, "/notes/Plan/publish")
      #expect(conflict.status == 409 && conflict["base"] == "one\ntwo\nthree\n")
      let theirs = conflict["theirsRev"] ?? ""
      try await list.call(.editor, .put, path + theirs, body: #"{"markdown":"eins"}"#)
      let again = try await list.call(.editor, .post, "/notes/Plan/publish")
      #expect(again.status == 200 && again["markdown"] == "eins")
      // A draft of a new note, while another person writes that note.
      try await list.call(.editor, .put, path + "none", body: #"{"markdown":"mine"}"#)
      let both = try await list.call(.editor, .post, "/notes/Plan/publish")
      #expect(both.status == 409 && both["base"] == nil && both["theirs"] == "eins")
      let wrong = try await list.call(.editor, .put, path + "x", body: Self.plan)
      #expect(wrong.status == 400 && wrong.error == "invalid_parameter")
    }
  }

  /// Two devices of one author saved their drafts over one another.
  @Test func aDraftHasTheWordsOfBothDevicesOfItsAuthor() async throws {
    try await ListFixture.open { list in
      func save(
        _ text: String, from base: String?, headers: HTTPFields = [:]
      ) async throws -> Reply {
        let body: JSONValue = ["markdown": .string(text)]
        return try await list.call(
          .editor, .put, "/notes/Plan?draft=true&base=" + (base ?? "none"),
          body: String(decoding: body.bytes, as: UTF8.self), headers: headers)
      }
      let published = try await list.call(
        .owner, .put, "/notes/Plan", body: #"{"markdown":"1\n2\n3\n4\n5\n"}"#)["rev"]
      let phone = try await save("one\n2\n3\n4\n5\n", from: published)
      #expect(phone.status == 201)
      // The laptop has not seen the phone's draft.
      let laptop = try await save("1\n2\n3\n4\nfive\n", from: published)
      #expect(laptop.status == 200 && laptop["markdown"] == "one\n2\n3\n4\nfive\n")
      // The phone goes on from the draft that it has saved.
      let later = try await save("one\n2\nthree\n4\n5\n", from: phone["rev"])
      #expect(later["markdown"] == "one\n2\nthree\n4\nfive\n")
      let conflict = try await save("one\n2\ndrei\n4\nfive\n", from: laptop["rev"])
      #expect(conflict.status == 409 && conflict["theirsRev"] == later["rev"])
      #expect(conflict["base"] == laptop["markdown"] && conflict["theirs"] == later["markdown"])
      let stale = try await list.call(
        .editor, .delete, "/notes/Plan/draft", headers: [.ifMatch: "\"\(laptop["rev"] ?? "")\""])
      #expect(stale.status == 412)
      // Others' changes since the first draft stay, too.
      try await list.call(
        .owner, .put, "/notes/Plan", body: #"{"markdown":"0\n1\n2\n3\n4\n5\n6\n7\n"}"#)
      let old = try await save("1\n2\n3\n4\n5\nsix", from: published)
      #expect(old.status == 409)
      let both = try await save("one\n2\ndrei\n4\nfive\n", from: later["rev"])
      #expect(both.status == 200 && both["markdown"] == "one\n2\ndrei\n4\nfive\n")
      let tag = try #require(both.headers[.eTag])
      let whole = try await save("1\n2\ndrei\n4\n5\n", from: both["rev"], headers: [.ifMatch: tag])
      #expect(whole["markdown"] == "1\n2\ndrei\n4\n5\n")
      let shown = try await list.call(.editor, .post, "/notes/Plan/publish")
      #expect(shown.status == 200 && shown["markdown"] == "0\n1\n2\ndrei\n4\n5\n6\n7\n")
      // A hotel is merged by member.
      let path = "/bookmarks/h1?draft=true&base="
      try await list.call(.editor, .put, path + "none", body: #"{"name":"One","myNote":"quiet"}"#)
      let hotel = try await list.call(
        .editor, .put, path + "none", body: #"{"name":"One","city":"Rome"}"#
      ).json["hotel"]
      #expect(hotel?["myNote"]?.string == "quiet" && hotel?["city"]?.string == "Rome")
    }
  }

  /// It was a conflict again at each attempt, whatever its author sent.
  @Test func aDraftOfANoteThatOthersRemovedIsPublishedAnew() async throws {
    try await ListFixture.open { list in
      let base = try await list.call(.owner, .put, "/notes/Plan", body: Self.plan)["rev"] ?? ""
      let path = "/notes/Plan?draft=true&base="
      let mine = #"{"markdown":"one\ntwo\nthree\nfour\n"}"#
      try await list.call(.editor, .put, path + base, body: mine)
      #expect(try await list.call(.owner, .delete, "/notes/Plan").status == 204)
      #expect(try await list.call(.editor, .post, "/notes/Plan/publish").status == 409)
      #expect(try await list.call(.editor, .put, path + "none", body: mine).status < 300)
      #expect(try await list.call(.editor, .post, "/notes/Plan/publish").status < 300)
      let published: String? = try await list.call(.reader, .get, "/notes/Plan")["markdown"]
      #expect(published == "one\ntwo\nthree\nfour\n")
    }
  }

  /// What another device had saved was replaced.
  @Test func aBaseThatIsNotKeptReplacesNoDraft() async throws {
    try await ListFixture.open { list in
      let base = try await list.call(.owner, .put, "/notes/Plan", body: Self.plan)["rev"] ?? ""
      let path = "/notes/Plan?draft=true&base="
      try await list.call(.editor, .put, path + base, body: #"{"markdown":"mine"}"#)
      let unknown = "999-" + String(repeating: "0", count: 32)
      let other = try await list.call(.editor, .put, path + unknown, body: #"{"markdown":"other"}"#)
      #expect(other.status == 409 && other["theirs"] == "mine" && other.json["base"] == .null)
      #expect(try await list.call(.editor, .get, "/notes/Plan")["markdown"] == "mine")
    }
  }

  @Test func draftsEndWithTheMembershipAndWithTheList() async throws {
    try await ListFixture.open { list in
      for person in [ListFixture.Person.editor, .owner] {
        try await list.call(person, .put, "/bookmarks/h1?draft=true", body: #"{"name":"One"}"#)
      }
      let own = { (person: ListFixture.Person) in
        let store =
          try await list.api.call(.get, "/v1/me", token: list.token(person))["store"] ?? ""
        return try await list.api.call(
          .get, "/couch/\(store)/_all_docs", token: list.token(person)
        ).json["rows"]?.array?.count
      }
      #expect(try await own(.editor) == 1)
      #expect(try await list.call(.owner, .delete, "/members/editor").status == 204)
      #expect(try await own(.editor) == 0)
      #expect(try await own(.owner) == 1)
      #expect(try await list.call(.owner, .delete).status == 204)
      #expect(try await own(.owner) == 0)
    }
  }

  @Test func aReaderHasNoDrafts() async throws {
    try await ListFixture.open { list in
      let put = try await list.call(
        .reader, .put, "/bookmarks/h1?draft=true", body: #"{"name":"One"}"#)
      #expect(put.status == 403)
      #expect(try await list.call(.editor, .put, "/bookmarks/h1?draft=maybe").status == 400)
      #expect(try await list.call(.stranger, .get, "/drafts").status == 404)
    }
  }
}
