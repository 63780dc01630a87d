import CouchSync
import Documents
import Stores
import Testing

struct PurgeTests {
  private func purge(_ couch: Couch, _ body: String) async throws -> CouchAnswer {
    try await couch.database.purge(PurgeRequest(json(body)))
  }

  @Test func purgedDocumentIsNowhereAndNotReplicated() async throws {
    let couch = try await Couch()
    let revision = try await couch.put("a", #"{"x":1}"#)
    try await couch.put("b")
    let answer = try await purge(couch, #"{"a":["\#(revision)"]}"#)
    #expect(answer.outcome == .created)
    #expect(answer.text == #"{"purge_seq":null,"purged":{"a":["\#(revision)"]}}"#)
    #expect(await refusal { try await couch.get("a") } == "404 not_found")
    #expect(try await couch.ids() == "b")
    #expect(try await couch.changes().ids == "b")
    let info = try await couch.database.info().json
    #expect(info["doc_count"] == 1)
    #expect(info["doc_del_count"] == 0)
    #expect(info["update_seq"]?.string == (try await couch.token(3)))
    let difference = try await couch.database.revisionsDifference(
      RevisionsRequest(json(#"{"a":["\#(revision)"]}"#)))
    #expect(difference.text == "{}")
  }

  @Test(.bug(id: "Y04")) func peerThatSleptOverAPurgeBringsNothingBack() async throws {
    let couch = try await Couch()
    let revision = try await couch.put("a", #"{"x":1}"#)
    let second = try await couch.put("a", #"{"x":2}"#, rev: revision)
    let tombstone = try await couch.delete("a", rev: second)
    _ = try await purge(couch, #"{"a":["\#(tombstone)"]}"#)
    let asked = #"{"a":["\#(revision)","\#(second)","\#(tombstone)","4-x"]}"#
    let difference = try await couch.database.revisionsDifference(
      RevisionsRequest(json(asked)))
    #expect(difference.text == #"{"a":{"missing":["4-x"]}}"#)
    try await couch.graft("a", revision, body: #","x":1"#)
    try await couch.graft("a", second, revision, body: #","x":2"#)
    try await couch.graft("a", tombstone, second, revision, deleted: true)
    #expect(await refusal { try await couch.get("a") } == "404 not_found")
    #expect(try await couch.changes().rows.isEmpty)
    // A revision that a peer made from the purged one is not purged itself.
    try await couch.graft("a", "2-y", revision, body: #","x":3"#)
    #expect(try await couch.get("a").json["x"] == 3)
  }

  @Test func newDocumentOfAPurgedIDNeverGetsAPurgedRevision() async throws {
    let couch = try await Couch()
    let revision = try await couch.put("a", #"{"x":1}"#)
    _ = try await purge(couch, #"{"a":["\#(revision)"]}"#)
    let again = try await couch.put("a", #"{"x":1}"#)
    #expect(again.hasPrefix("2-"))
    let history = try await couch.get("a", ("revs", "true")).json["_revisions"]
    #expect(history?["ids"]?.array?.count == 2)
    #expect(history?["ids"]?.array?.last?.string == String(revision.dropFirst(2)))
    _ = try await purge(couch, #"{"a":["\#(again)"]}"#)
    let bulk = try await couch.bulk(#"{"docs":[{"_id":"a","x":1}]}"#)
    #expect(bulk.json.array?.first?["rev"]?.string?.hasPrefix("3-") == true)
    // The document works like any other: it is deleted, created again, and read with its history.
    let third = try #require(bulk.json.array?.first?["rev"]?.string)
    try await couch.delete("a", rev: third)
    #expect(try await couch.put("a", #"{"x":1}"#).hasPrefix("5-"))
    #expect(try await couch.get("a", ("open_revs", "all")).outcome == .done)
  }

  @Test func purgedConflictIsNotBroughtBackToTheDocumentThatIsLeft() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "3-c", "2-b", "1-a", body: #","x":3"#)
    try await couch.graft("a", "2-d", "1-a", body: #","x":2"#)
    _ = try await purge(couch, #"{"a":["3-c"]}"#)
    try await couch.graft("a", "3-c", "2-b", "1-a", body: #","x":3"#)
    try await couch.graft("a", "2-b", "1-a", body: #","x":3"#)
    #expect(
      try await couch.get("a", ("conflicts", "true")).text == #"{"_id":"a","_rev":"2-d","x":2}"#)
  }

  @Test func onlyLeavesArePurgedAndTheNextLeafWins() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "3-c", "2-b", "1-a", body: #","x":3"#)
    try await couch.graft("a", "2-d", "1-a", body: #","x":2"#)
    let answer = try await purge(couch, #"{"a":["2-b","3-c","1-a","9-z"],"never":["1-a"]}"#)
    #expect(answer.text == #"{"purge_seq":null,"purged":{"a":["3-c"],"never":[]}}"#)
    let left = try await couch.get("a", ("revs", "true"), ("conflicts", "true"))
    #expect(
      left.text
        == #"{"_id":"a","_rev":"2-d","_revisions":{"start":2,"ids":["d","a"]},"x":2}"#)
    #expect(await refusal { try await couch.get("a", ("rev", "3-c")) } == "404 not_found")
    #expect(await refusal { try await couch.get("a", ("rev", "2-b")) } == "404 not_found")
  }

  @Test func tombstonesArePurgedToo() async throws {
    let couch = try await Couch()
    let revision = try await couch.put("a")
    let tombstone = try await couch.delete("a", rev: revision)
    _ = try await purge(couch, #"{"a":["\#(tombstone)"]}"#)
    #expect(try await couch.changes().rows.isEmpty)
    #expect(try await couch.database.info().json["doc_del_count"] == 0)
  }

  @Test func nothingToPurgeChangesNothing() async throws {
    let couch = try await Couch()
    try await couch.put("a")
    let answer = try await purge(couch, #"{"a":[],"_local/x":["1-a"],"":["1-a"]}"#)
    #expect(answer.text == #"{"purge_seq":null,"purged":{"a":[],"_local/x":[],"":[]}}"#)
    #expect(try await purge(couch, "{}").text == #"{"purge_seq":null,"purged":{}}"#)
    #expect(try await couch.database.info().json["update_seq"]?.string == couch.token(1))
  }

  @Test func feedGoesOnAfterItsLastDocumentWasPurged() async throws {
    let couch = try await Couch()
    try await couch.put("a")
    let revision = try await couch.put("b")
    let before = try await couch.changes()
    _ = try await purge(couch, #"{"b":["\#(revision)"]}"#)
    let after = try await couch.changes(("since", before.last.text))
    #expect(after.rows.isEmpty)
    #expect(!after.isRewound)
    #expect(after.last.text == (try await couch.token(3)))
    #expect(after.pending == 0)
    try await couch.put("c")
    #expect(try await couch.changes(("since", after.last.text)).ids == "c")
    #expect(try await couch.changes(("descending", "true")).ids == "c a")
  }

  @Test func aFullStoreCanBePurged() async throws {
    let couch = try await Couch(
      limits: StoreLimits(documents: 1, bytes: 100, history: HistoryLimits(revisions: 10)))
    let revision = try await couch.put("a")
    #expect(await refusal { try await couch.put("b") } == "507 quota_exceeded")
    _ = try await purge(couch, #"{"a":["\#(revision)"]}"#)
    try await couch.put("b")
  }

  @Test func requestHasAHundredDocumentsAndAThousandRevisionsAtMost() async throws {
    let couch = try await Couch()
    func documents(_ count: Int, _ each: Int) -> String {
      let revisions = (0..<each).map { #""1-\#($0)""# }.joined(separator: ",")
      return "{" + (0..<count).map { #""\#($0)":[\#(revisions)]"# }.joined(separator: ",") + "}"
    }
    _ = try await purge(couch, documents(100, 10))
    await #expect(throws: ServiceError(.badRequest, "Exceeded maximum number of documents.")) {
      try await purge(couch, documents(101, 1))
    }
    await #expect(throws: ServiceError(.badRequest, "Exceeded maximum number of revisions.")) {
      try await purge(couch, documents(1, 1_001))
    }
  }

  @Test(arguments: [
    "[]", "1", #"{"a":{}}"#, #"{"a":"1-a"}"#, #"{"a":[1]}"#, #"{"a":["x"]}"#, #"{"a":null}"#,
  ])
  func malformedRequestIsRefused(body: String) async {
    #expect(await refusal { try PurgeRequest(json(body)) } == "400 bad_request")
  }

  @Test func compactionIsDoneWhenItIsAnswered() async throws {
    let couch = try await Couch()
    try await couch.put("a")
    let answer = try await couch.database.compact()
    #expect(answer.outcome == .accepted)
    #expect(answer.text == #"{"ok":true}"#)
    #expect(try await couch.ids() == "a")
  }

  @Test func compactionOfADatabaseDropsTheBodiesOfFormerRevisions() async throws {
    let couch = try await Couch()
    let first = try await couch.put("a", #"{"n":1}"#)
    let second = try await couch.put("a", #"{"n":2}"#, rev: first)
    try await couch.graft("b", "2-b", "1-a")
    try await couch.graft("b", "1-z")
    let before = try await couch.changes()
    #expect(try await couch.get("a", ("rev", first)).json["n"] == 1)
    _ = try await couch.database.compact()
    #expect(await refusal { try await couch.get("a", ("rev", first)) } == "404 not_found")
    let document = try await couch.get("a", ("revs_info", "true")).json
    #expect(document["n"] == 2)
    #expect(
      document["_revs_info"] == [
        ["rev": .string(second), "status": "available"],
        ["rev": .string(first), "status": "missing"],
      ])
    #expect(try await couch.get("b", ("rev", "1-z")).outcome == .done)
    #expect(try await couch.changes().rows == before.rows)
  }
}
