import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

/// Two people's answers of one URL: a browser may keep one and ask for the other.
@Suite(.bug(id: "35/39")) struct PersonalTagTests {
  @Test func equalRevisionsOfTwoPeopleHaveDifferentTags() async throws {
    try await APIFixture.open { api in
      let (anna, bert) = (try await api.user("anna"), try await api.user("bert"))
      let first = try await api.bookmark("a", anna)
      api.clock.advance(seconds: 60)
      let second = try await api.bookmark("a", bert)
      let read = try await api.call(.get, "/v1/bookmarks/a", token: anna)
      let other = try await api.call(.get, "/v1/bookmarks/a", token: bert)
      #expect(read["rev"] == other["rev"] && read.bytes != other.bytes)
      #expect(first != second && read.headers[.eTag] == first && other.headers[.eTag] == second)
      // A browser in which anna logs out and bert logs in.
      let asked = try await api.call(
        .get, "/v1/bookmarks/a", token: bert, headers: [.ifNoneMatch: first])
      #expect(asked.status == 200 && asked.bytes == other.bytes)
      let known = try await api.call(
        .get, "/v1/bookmarks/a", token: bert, headers: [.ifNoneMatch: second])
      #expect(known.status == 304 && known.headers[.eTag] == second)
      // For a write the state alone matters, with or without whose it was.
      let bare = "\"" + (other["rev"] ?? "") + "\""
      let written = try await api.call(
        .put, "/v1/bookmarks/a", token: bert, body: #"{"name":"b"}"#, headers: [.ifMatch: second])
      #expect(written.status == 200)
      let late = try await api.call(
        .put, "/v1/bookmarks/a", token: bert, body: "{}", headers: [.ifMatch: bare])
      #expect(late.status == 412)
    }
  }

  /// Devices may give equal revision ids to different bodies.
  @Test(arguments: ["/v1/documents/x/revisions/1-a", "/couch/bookmarks/x"])
  func documentsOfTwoPeopleAreNotTakenForEachOther(path: String) async throws {
    try await APIFixture.open { api in
      var tags: [String] = []
      for name in ["anna", "bert"] {
        let token = try await api.user(name)
        let stored = try await api.call(
          .put, "/couch/bookmarks/x?new_edits=false", token: token,
          body: #"{"_rev":"1-a","by":"\#(name)"}"#)
        #expect(stored.status == 201)
        let read = try await api.call(.get, path, token: token)
        #expect(read["by"] == name)
        for known in tags {
          let asked = try await api.call(
            .get, path, token: token, headers: [.ifNoneMatch: known])
          #expect(asked.status == 200 && asked.bytes == read.bytes)
        }
        tags.append(try #require(read.headers[.eTag]))
      }
    }
  }

  @Test func listHasATagForEachRole() async throws {
    try await ListFixture.open { list in
      let owner = try await list.call(.owner, .get)
      let reader = try await list.call(.reader, .get)
      #expect(owner.bytes != reader.bytes && owner.headers[.eTag] != reader.headers[.eTag])
      let tag = try #require(owner.headers[.eTag])
      let asked = try await list.call(.reader, .get, headers: [.ifNoneMatch: tag])
      #expect(asked.status == 200 && asked["role"] == "reader")
      #expect(try await list.call(.owner, .get, headers: [.ifNoneMatch: tag]).status == 304)
      let title = #"{"title":"Roma"}"#
      for status in [200, 412] {
        let changed = try await list.call(
          .owner, .patch, body: title, headers: [.ifMatch: tag])
        #expect(changed.status == status)
      }
    }
  }

  @Test func equalDraftsOfTwoMembersHaveDifferentTags() async throws {
    try await ListFixture.open { list in
      var tags: Set<String> = []
      for person in [ListFixture.Person.owner, .editor] {
        list.api.clock.advance(seconds: 60)
        let saved = try await list.call(
          person, .put, "/notes/Plan?draft=true", body: #"{"markdown":"same"}"#)
        #expect(saved.status == 201)
        let read = try await list.call(person, .get, "/notes/Plan")
        #expect(read.headers[.eTag] == saved.headers[.eTag])
        tags.insert(try #require(read.headers[.eTag]))
      }
      #expect(tags.count == 2)
    }
  }

  /// What a member sees of a bookmark is not of its revision alone.
  @Test func bookmarkHasAnotherTagWhenWhoAddedItLeaves() async throws {
    try await ListFixture.open { list in
      #expect(
        try await list.call(.editor, .put, "/bookmarks/a", body: #"{"name":"A"}"#).status == 201)
      let named = try await list.call(.owner, .get, "/bookmarks/a")
      let tag = try #require(named.headers[.eTag])
      #expect(named["addedBy"] != nil)
      #expect(
        try await list.call(.owner, .get, "/bookmarks/a", headers: [.ifNoneMatch: tag]).status
          == 304)
      #expect(
        try await list.call(.owner, .delete, "/members/\(try #require(named["addedBy"]))").status
          == 204)
      let later = try await list.call(.owner, .get, "/bookmarks/a", headers: [.ifNoneMatch: tag])
      #expect(later.status == 200 && later["addedBy"] == nil && later["rev"] == named["rev"])
      // A write compares the revision.
      let written = try await list.call(
        .owner, .put, "/bookmarks/a", body: #"{"name":"B"}"#, headers: [.ifMatch: tag])
      #expect(written.status == 200)
    }
  }

  /// The list's note is deleted and made again meanwhile.
  @Test func draftHasAnotherTagWhenTheListsNoteBecomesAnother() async throws {
    try await ListFixture.open { list in
      let (note, draft) = (#"{"markdown":"one"}"#, #"{"markdown":"two"}"#)
      #expect(try await list.call(.editor, .put, "/notes/Plan", body: note).status == 201)
      #expect(
        try await list.call(.owner, .put, "/notes/Plan?draft=true", body: draft).status == 201)
      let first = try await list.call(.owner, .get, "/notes/Plan")
      let tag = try #require(first.headers[.eTag])
      list.api.clock.advance(seconds: 60)
      #expect(try await list.call(.editor, .delete, "/notes/Plan").status == 204)
      #expect(try await list.call(.editor, .put, "/notes/Plan", body: note).status == 201)
      let later = try await list.call(.owner, .get, "/notes/Plan", headers: [.ifNoneMatch: tag])
      #expect(later.status == 200 && later["createdAt"] != first["createdAt"])
      #expect(later["rev"] == first["rev"])
    }
  }

  /// RFC 9110, section 13.2.2: both fields of a condition have to hold.
  @Test func writeThatWantsARevisionAndNoneIsRefused() async throws {
    try await APIFixture.open { api in
      let anna = try await api.user("anna")
      let tag = try await api.bookmark("a", anna)
      for wanted in [tag, "*"] {
        let written = try await api.call(
          .put, "/v1/bookmarks/a", token: anna, body: #"{"name":"b"}"#,
          headers: [.ifMatch: wanted, .ifNoneMatch: "*"])
        #expect(written.status == 412)
      }
    }
  }
}
