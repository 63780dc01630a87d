import Documents
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

/// Who changed what on a list, and bringing back what was removed.
@Suite(.timeLimit(.minutes(60))) struct ListHistoryRouteTests {
  /// The whole history, read in pages.
  private static func history(
    _ person: ListFixture.Person = .reader, limit: Int = 50, in list: ListFixture
  ) async throws -> [JSONValue] {
    var (changes, next): ([JSONValue], Int?) = ([], nil)
    repeat {
      let after = next.map { "&after=\($0)" } ?? ""
      let page = try await list.call(person, .get, "/history?limit=\(limit)\(after)")
      #expect(page.status == 200)
      let found = try #require(page.json["changes"]?.array)
      #expect(found.count <= limit)
      changes += found
      next = page.json["next"]?.number.flatMap { Int($0.text) }
    } while next != nil
    return changes
  }

  /// Each change as text: its author, what became of it, its kind and its name.
  private static func told(_ changes: [JSONValue]) -> [String] {
    changes.map { change in
      let by = change["by"]?["name"]?.string ?? change["by"]?["kind"]?.string ?? "?"
      let done = change["deleted"] == true ? "removed" : "wrote"
      return "\(by) \(done) \(change["kind"]?.string ?? "") \(change["name"]?.string ?? "")"
    }
  }

  @Test func historyNamesWhoMadeTheLastChangeOfEach() async throws {
    try await ListFixture.open { list in
      try await list.call(.owner, .put, "/bookmarks/h1", body: #"{"name":"One"}"#)
      try await list.call(.editor, .put, "/bookmarks/h2", body: #"{"name":"Two"}"#)
      try await list.call(.owner, .put, "/notes/Plan", body: #"{"markdown":"one"}"#)
      try await list.call(.owner, .put, "/notes/Pack", body: #"{"markdown":"one"}"#)
      try await list.call(.editor, .put, "/notes/Plan", body: #"{"markdown":"two"}"#)
      try await list.call(.owner, .delete, "/bookmarks/h2")
      list.api.clock.advance(seconds: 60)
      try await list.call(.editor, .delete, "/notes/Pack")
      try await list.call(.owner, .patch, body: #"{"title":"Oslo"}"#)
      let changes = try await Self.history(in: list)
      #expect(
        Self.told(changes) == [
          "owner wrote list Oslo", "editor removed note Pack", "owner removed hotel Two",
          "editor wrote note Plan", "owner wrote hotel One",
        ])
      #expect(
        changes.map { $0["time"]?.string }.prefix(2).allSatisfy {
          $0 == list.api.clock.now.rfc3339
        })
      #expect(changes.map { $0["former"] != nil } == [false, true, true, false, false])
      // No draft and no name in the store: only ids.
      try await list.call(.owner, .put, "/notes/Mine?draft=true", body: #"{"markdown":"one"}"#)
      for limit in [1, 2, 4, 5] {
        #expect(try await Self.history(limit: limit, in: list) == changes, "\(limit)")
      }
    }
  }

  @Test func whoIsNoMemberAnyMoreHasNoName() async throws {
    try await ListFixture.open { list in
      try await list.call(.editor, .put, "/notes/Plan", body: #"{"markdown":"one"}"#)
      #expect(Self.told(try await Self.history(in: list)).first == "editor wrote note Plan")
      #expect(try await list.call(.owner, .delete, "/members/editor").status == 204)
      let changes = try await Self.history(.owner, in: list)
      let note = try #require(changes.first { $0["kind"] == "note" })
      #expect(note["by"] == ["kind": "user"])
      #expect(!(try await list.call(.owner, .get, "/history")).text.contains("editor"))
      #expect(try await list.call(.editor, .get, "/history").status == 404)
    }
  }

  @Test func whatWasRemovedIsBroughtBackFromTheHistory() async throws {
    try await ListFixture.open { list in
      try await list.call(.owner, .put, "/bookmarks/h1", body: #"{"name":"One"}"#)
      try await list.call(.owner, .put, "/notes/A%20plan", body: #"{"markdown":"one"}"#)
      #expect(try await list.call(.editor, .delete, "/bookmarks/h1").status == 204)
      #expect(try await list.call(.editor, .delete, "/notes/A%20plan").status == 204)
      let removed = try await Self.history(in: list).filter { $0["deleted"] == true }
      #expect(removed.count == 2)
      for change in removed {
        let (id, former) = (
          try #require(change["id"]?.string), try #require(change["former"]?.string)
        )
        let path = "/documents/\(id.urlSegment)/restore"
        let body = "{\"rev\":\"\(former)\"}"
        #expect(try await list.call(.reader, .post, path, body: body).status == 403)
        #expect(try await list.call(.editor, .post, path, body: body).status == 200)
      }
      #expect(try await list.call(.reader, .get, "/notes/A%20plan")["markdown"] == "one")
      #expect(try await list.call(.reader, .get, "/bookmarks").ids == ["h1"])
      let changes = try await Self.history(in: list)
      #expect(!changes.contains { $0["deleted"] == true || $0["former"] != nil })
    }
  }

  @Test func onlyTheListItsNotesAndItsHotelsAreInIt() async throws {
    try await ListFixture.open { list in
      try await list.couch(.editor, .put, "/other", body: #"{"type":"other","name":"Other"}"#)
      try await list.couch(.editor, .put, "/h9", body: #"{"type":"hotel","name":"Nine"}"#)
      let changes = try await Self.history(in: list)
      #expect(changes.map { $0["kind"]?.string } == ["hotel", "list"])
      for query in ["after=0", "after=x", "limit=0", "limit=51", "after=99999999999999999999"] {
        #expect(try await list.call(.reader, .get, "/history?" + query).status == 400, "\(query)")
      }
      let empty = try await list.call(.reader, .get, "/history?after=1")
      #expect(empty.status == 200 && empty.json["next"] == nil)
    }
  }
}
