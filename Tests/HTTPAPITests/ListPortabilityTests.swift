import Documents
import HTTPTypes
import NIOCore
import StoreTesting
import Testing

@testable import HTTPAPI
@testable import Stores

/// An export contains the lists that the person owns.
@Suite(.timeLimit(.minutes(60))) struct ListPortabilityTests {
  @Test func ownedListsAreExportedAndReadInUnderNewIDs() async throws {
    try await ListFixture.open { list in
      try await list.call(.owner, .put, "/bookmarks/h1", body: #"{"name":"One"}"#)
      try await list.call(.owner, .put, "/notes/Plan", body: #"{"markdown":"Go"}"#)
      let (other, lists) = try await list.movedToAnother()
      let copy = try #require(lists.first)
      #expect(lists.count == 1 && copy["title"]?.string == "Rome")
      #expect(copy["owner"]?.string == "other" && copy["members"]?.array?.count == 1)
      let id = try #require(copy["id"]?.string)
      #expect(id != list.id)
      let path = "/v1/lists/" + id
      #expect(try await list.api.call(.get, path + "/bookmarks", token: other).ids == ["h1"])
      let note = try await list.api.call(.get, path + "/notes/Plan", token: other)
      #expect(note["markdown"] == "Go")
      let page = try await list.api.call(.get, "/couch/list-\(id)/\(id):Plan", token: other)
      #expect(page["wiki_id"] == id)
      let wiki = try await list.api.call(.get, "/couch/list-\(id)/\(id)?meta=true", token: other)
      #expect(!wiki.text.contains("editor"))
      // The exported list has not changed.
      #expect(try await list.call(.editor, .get)["owner"] == "owner")
    }
  }

  @Test func draftsOnOwnedListsMoveWithThem() async throws {
    try await ListFixture.open { list in
      try await list.call(.owner, .put, "/notes/Plan", body: #"{"markdown":"one\ntwo\nthree"}"#)
      try await list.call(
        .owner, .put, "/notes/Plan?draft=true", body: #"{"markdown":"one\ntwo\n3"}"#)
      try await list.call(.owner, .put, "/bookmarks/h1?draft=true", body: #"{"name":"One"}"#)
      let (other, lists) = try await list.movedToAnother()
      let path = "/v1/lists/" + (try #require(lists.first?["id"]?.string))
      let drafts = try await list.api.call(.get, path + "/drafts", token: other)
      #expect(drafts.json["drafts"]?.array?.count == 2)
      #expect(try await list.api.call(.get, path + "/bookmarks", token: other).ids == ["h1"])
      // The draft's base is known, so it is merged with a later change.
      try await list.api.call(
        .put, path + "/notes/Plan", token: other, body: #"{"markdown":"1\ntwo\nthree"}"#)
      let note = try await list.api.call(.post, path + "/notes/Plan/publish", token: other)
      #expect(note.status == 200 && note["markdown"] == "1\ntwo\n3")
      let me = try await list.api.call(.get, "/v1/me", token: other)["store"] ?? ""
      let rows = try await list.api.call(.get, "/couch/\(me)/_all_docs", token: other)
      #expect(!rows.text.contains(list.id) && rows.text.contains("draft:"))
    }
  }

  @Test func aBrokenImportLeavesNoList() async throws {
    try await ListFixture.open { list in
      let export = try await list.api.call(.get, "/v1/me/export", token: list.token(.owner))
      let other = try await list.api.user("other")
      let cut = export.bytes.dropLast(200)
      let imported = try await list.api.send(
        .post, "/v1/me/import", token: other, body: ByteBuffer(bytes: cut),
        headers: [.contentType: "application/x-ndjson"])
      #expect(imported.status == 422)
      let lists = try await list.api.call(.get, "/v1/lists", token: other).json["lists"]?.array
      #expect(lists == [])
      #expect(try await list.api.engine.names(in: "list", after: nil, limit: 9).count == 1)
    }
  }

  /// The lines of an export without the document of a list, with right sums.
  private func withoutTheListsDocument(_ export: Reply, _ list: String) throws -> [UInt8] {
    var lines = export.bytes.split(separator: UInt8(ascii: "\n")).map { Array($0) + [0x0A] }
    let start = try #require(lines.firstIndex { $0.starts(with: #"{"id":"\#(list)""#.utf8) })
    let end = try #require(
      lines[(start + 1)...].firstIndex { !$0.starts(with: #"{"rev":"#.utf8) })
    lines.removeSubrange(start..<end)
    let last = lines.removeLast()
    let old = try JSONValue(parsing: last, limits: .request)
    var manifest = try #require(old["manifest"]?.object)
    var sum = ExportSum()
    for line in lines { sum.add(line) }
    let bodies = end - start - 1
    manifest["documents"] = .number(JSONNumber(try #require(manifest["documents"]?.int) - 1))
    manifest["bodies"] = .number(JSONNumber(try #require(manifest["bodies"]?.int) - bodies))
    manifest["lines"] = .number(JSONNumber(Int(sum.lines)))
    manifest["bytes"] = .number(JSONNumber(Int(sum.bytes)))
    manifest["sha256"] = .string(sum.digest)
    return lines.flatMap { $0 } + JSONValue.object(["manifest": .object(manifest)]).bytes + [0x0A]
  }

  @Test func anImportOfAListWithoutItsDocumentIsRefused() async throws {
    try await ListFixture.open { list in
      let export = try await list.api.call(.get, "/v1/me/export", token: list.token(.owner))
      let other = try await list.api.user("other")
      let bytes = try withoutTheListsDocument(export, list.id)
      let imported = try await list.api.send(
        .post, "/v1/me/import", token: other, body: ByteBuffer(bytes: bytes),
        headers: [.contentType: "application/x-ndjson"])
      #expect(imported.status == 422 && imported.error == "invalid_export")
      #expect(imported["reason"]?.contains(list.id) == true)
      #expect(try await list.api.engine.names(in: "list", after: nil, limit: 9).count == 1)
      #expect(try await list.api.call(.delete, "/v1/me", token: other).status == 204)
    }
  }

  /// Damage may have left a list without its document.
  @Test(arguments: ["", "?lists=handOn"])
  func anAccountWhoseListLostItsDocumentCanBeErased(query: String) async throws {
    try await ListFixture.open { list in
      let id = try #require(AccountID(list.id))
      try await list.api.stores.withExisting(.list(id)) { store in
        let document = DocumentID(stored: list.id)
        try await store.update(loading: [document]) { changes in
          changes.purge(Purge(id: document, tree: RevisionTree(), leavesMarks: false))
        }
      }
      let token = try list.token(.owner)
      #expect(try await list.api.call(.delete, "/v1/me" + query, token: token).status == 204)
      #expect(try await list.api.call(.get, "/v1/me", token: token).status == 401)
    }
  }

  @Test func aListThatLostItsDocumentCanBeDeleted() async throws {
    try await ListFixture.open { list in
      let id = try #require(AccountID(list.id))
      try await list.api.stores.withExisting(.list(id)) { store in
        let document = DocumentID(stored: list.id)
        try await store.update(loading: [document]) { changes in
          changes.purge(Purge(id: document, tree: RevisionTree(), leavesMarks: false))
        }
      }
      #expect(try await list.call(.owner, .delete).status == 204)
      #expect(try await list.api.engine.names(in: "list", after: nil, limit: 9).isEmpty)
    }
  }

  @Test func historiesOfAListNameItsMembers() async throws {
    try await ListFixture.open { list in
      try await list.call(.editor, .put, "/bookmarks/h1", body: #"{"name":"One"}"#)
      try await list.call(.owner, .put, "/bookmarks/h1", body: #"{"name":"Two"}"#)
      let page = try await list.call(.reader, .get, "/bookmarks").json["bookmarks"]?.array
      #expect(page?.first?["addedBy"]?.string == "editor")
      let history = try await list.call(.reader, .get, "/documents/h1/revisions")
      let revisions = try #require(history.json["revisions"]?.array)
      #expect(revisions.compactMap { $0["by"]?["name"]?.string } == ["owner", "editor"])
      let first = try #require(revisions.last?["rev"]?.string)
      let wish = #"{"rev":"\#(first)"}"#
      #expect(
        try await list.call(.reader, .post, "/documents/h1/restore", body: wish).status == 403)
      #expect(
        try await list.call(.editor, .post, "/documents/h1/restore", body: wish).status == 200)
      let now = try await list.call(.reader, .get, "/bookmarks/h1")
      #expect(now.json["hotel"]?["name"]?.string == "One" && now["addedBy"] == "editor")
    }
  }

  @Test func aKeyMakesRetriesOfListsWritesHarmless() async throws {
    try await ListFixture.open { list in
      let key: HTTPFields = [.idempotencyKey: "one"]
      let body = #"{"title":"Paris"}"#
      let first = try await list.api.call(
        .post, "/v1/lists", token: list.token(.owner), body: body, headers: key)
      let again = try await list.api.call(
        .post, "/v1/lists", token: list.token(.owner), body: body, headers: key)
      #expect(first.status == 201 && again.status == 201 && first["id"] == again["id"])
      let lists = try await list.api.call(.get, "/v1/lists", token: list.token(.owner))
      #expect(lists.json["lists"]?.array?.count == 2)
      for _ in 0..<2 {
        let removed = try await list.call(
          .owner, .delete, "/members/reader", headers: [.idempotencyKey: "two"])
        #expect(removed.status == 204)
        let handed = try await list.call(
          .owner, .patch, body: #"{"owner":"editor"}"#, headers: [.idempotencyKey: "three"])
        #expect(handed.status == 202 && handed["username"] == "editor")
      }
    }
  }

  @Test func aListMadeWithoutAnAnswerIsAnsweredToARetryAndMadeOnce() async throws {
    try await ListFixture.open { list in
      let token = try list.token(.owner)
      for (path, body, skipped) in [
        ("/v1/lists", #"{"title":"Bern"}"#, 1),
        ("/v1/lists/\(list.id)/invitations", #"{"role":"reader"}"#, 0),
      ] {
        let key: HTTPFields = [.idempotencyKey: path]
        list.api.engine.loseOutcome(in: .system, after: skipped)
        let lost = try await list.api.call(.post, path, token: token, body: body, headers: key)
        let retry = try await list.api.call(.post, path, token: token, body: body, headers: key)
        // The answer with an invitation's token is not kept. The retry names the invitation.
        #expect(lost.status == 503 && retry.status == (skipped == 1 ? 201 : 409))
        let id = retry["id"] ?? retry["location"]?.split(separator: "/").last.map { String($0) }
        let all = try await list.api.call(.get, path, token: token).json
        let made = (all["lists"] ?? all["invitations"])?.array?.filter {
          $0["id"]?.string == id
        }
        #expect(made?.count == 1)
      }
    }
  }

  @Test func whatWasRemovedWithoutAnAnswerIsNoContentToARetry() async throws {
    try await ListFixture.open { list in
      try await list.call(.owner, .put, "/notes/Day%201", body: #"{"markdown":"Rome"}"#)
      for (method, path, body, store) in [
        (.delete, "/notes/Day%201", nil, try #require(list.store)),
        (.put, "/members/stranger", #"{"role":"reader"}"#, .system),
        (.delete, "/members/stranger", nil, .system), (.delete, "", nil, .system),
      ] as [(HTTPRequest.Method, String, String?, StoreName)] {
        let key: HTTPFields = [.idempotencyKey: method.rawValue + path]
        list.api.engine.loseOutcome(in: store, after: 0)
        let lost = try await list.call(.owner, method, path, body: body, headers: key)
        let retry = try await list.call(.owner, method, path, body: body, headers: key)
        // Who is put on the list is invited.
        let status = method == .put ? 202 : 204
        #expect(lost.status == 503 && retry.status == status, "\(path)")
      }
    }
  }
}

extension ListFixture {
  /// Reads the owner's export into a new account.
  /// - Returns: the account's token and its lists.
  fileprivate func movedToAnother() async throws -> (token: String, lists: [JSONValue]) {
    let export = try await api.call(.get, "/v1/me/export", token: token(.owner))
    #expect(export.status == 200)
    let other = try await api.user("other")
    let imported = try await api.send(
      .post, "/v1/me/import", token: other, body: ByteBuffer(bytes: export.bytes),
      headers: [.contentType: "application/x-ndjson"])
    #expect(imported.status == 200)
    let lists = try await api.call(.get, "/v1/lists", token: other).json["lists"]?.array
    return (other, lists ?? [])
  }
}
