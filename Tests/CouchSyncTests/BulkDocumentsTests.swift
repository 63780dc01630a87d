import CouchSync
import Documents
import Stores
import Testing

struct BulkDocumentsTests {
  @Test func newEditsAnswerOneElementEachInOrder() async throws {
    let couch = try await Couch()
    try await couch.put("taken")
    let answer = try await couch.bulk(
      #"{"docs":[{"_id":"b","x":1},{"_id":"taken"},{"x":2},{"_id":"a"}]}"#)
    let elements = try #require(answer.json.array)
    #expect(answer.status == 201)
    #expect(elements.count == 4)
    #expect(elements[0]["ok"] == true)
    #expect(elements[0]["id"] == "b")
    #expect(
      elements[1]
        == ["id": "taken", "error": "conflict", "reason": "Document update conflict."])
    #expect(elements[2]["id"]?.string?.utf8.count == 32)
    #expect(elements[3]["rev"]?.string?.hasPrefix("1-") == true)
    #expect(try await couch.get("a").status == 200)
  }

  @Test func j11BadDocumentsDoNotStopTheOthers() async throws {
    let couch = try await Couch()
    let answer = try await couch.bulk(
      """
      {"docs":[{"_id":"_bad"},{"_id":"a"},7,{"_id":5},{"_id":"c","_rev":"x"},{"_id":"d","_foo":1},
      {"_id":"e","_attachments":{"f":{"data":""}}},{"_id":"f"}]}
      """)
    let elements = try #require(answer.json.array)
    #expect(
      elements.map { $0["error"]?.string ?? "ok" } == [
        "illegal_docid", "ok", "doc_validation", "illegal_docid", "bad_request", "doc_validation",
        "forbidden", "ok",
      ])
    #expect(elements[0]["id"] == "_bad")
    #expect(elements[2]["id"] == nil)
    #expect(try await couch.ids() == "a f")
  }

  @Test func aDocumentTwiceSeesItsFirstRevision() async throws {
    let couch = try await Couch()
    let answer = try await couch.bulk(
      #"{"docs":[{"_id":"a","x":1},{"_id":"a","x":2},{"_id":"b"}]}"#)
    #expect(answer.json.array?.map { $0["error"]?.string ?? "ok" } == ["ok", "conflict", "ok"])
    #expect(try await couch.get("a").json["x"] == 1)
  }

  @Test func deletionsAreEdits() async throws {
    let couch = try await Couch()
    let revision = try await couch.put("a")
    let answer = try await couch.bulk(
      #"{"docs":[{"_id":"a","_rev":"\#(revision)","_deleted":true,"why":1}]}"#)
    #expect(answer.json.array?.first?["rev"]?.string?.hasPrefix("2-") == true)
    await #expect(throws: CouchError(404, "not_found", "deleted")) { try await couch.get("a") }
  }

  @Test func emptyRequestIsAnEmptyAnswer() async throws {
    let couch = try await Couch()
    #expect(try await couch.bulk(#"{"docs":[]}"#).text == "[]")
    #expect(try await couch.bulk(#"{"docs":[],"new_edits":false}"#).text == "[]")
  }

  @Test func j09ReplicatedRevisionsAreTakenAsTheyAreAndRepeatsAreNoOps() async throws {
    let couch = try await Couch()
    let body = """
      {"new_edits":false,"docs":[
      {"_id":"a","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]},"x":1},
      {"_id":"a","_rev":"2-c","_revisions":{"start":2,"ids":["c","a"]},"x":2},
      {"_id":"a","_rev":"3-d","_revisions":{"start":3,"ids":["d","b","a"]},"_deleted":true},
      {"_id":"b","_rev":"1-a"}]}
      """
    #expect(try await couch.bulk(body).text == "[]")
    let before = try await couch.changes(("style", "all_docs"))
    #expect(
      before.values.map { $0["changes"] } == [[["rev": "2-c"], ["rev": "3-d"]], [["rev": "1-a"]]])
    #expect(try await couch.bulk(body).text == "[]")
    #expect(try await couch.changes(("style", "all_docs")).rows == before.rows)
  }

  @Test func j09HistoriesArriveOutOfOrder() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "3-c", body: #","x":3"#)
    try await couch.graft("a", "3-c", "2-b", "1-a", body: #","x":3"#)
    try await couch.graft("a", "4-d", "3-c", "2-b", "1-a", body: #","x":4"#)
    try await couch.graft("a", "2-b", "1-a")
    let answer = try await couch.get("a", ("revs", "true"), ("conflicts", "true"))
    #expect(answer.json["_rev"] == "4-d")
    #expect(answer.json["_revisions"]?["ids"] == ["d", "c", "b", "a"])
    #expect(answer.json["_conflicts"] == nil)
  }

  @Test func j09SameRevisionWithAnotherBodyIsACollision() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "1-a", body: #","x":1"#)
    try await couch.graft("a", "1-a", body: #", "x" : 1"#)
    let answer = try await couch.bulk(
      #"{"new_edits":false,"docs":[{"_id":"a","_rev":"1-a","x":2}]}"#)
    #expect(answer.json.array?.map { $0["error"] } == ["forbidden"])
    #expect(try await couch.get("a").json["x"] == 1)
  }

  @Test func replicatedRefusalsAreAllThatIsAnswered() async throws {
    let couch = try await Couch()
    let answer = try await couch.bulk(
      """
      {"new_edits":false,"docs":[{"_id":"a","_rev":"1-a"},{"_id":"b"},{"_id":"_c","_rev":"1-a"},
      {"_id":"d","_rev":"1-a","_attachments":{"f":{"stub":true}}}]}
      """)
    #expect(answer.status == 201)
    #expect(
      answer.json.array?.map { "\($0["id"]?.string ?? "") \($0["error"]?.string ?? "")" } == [
        "b bad_request", "_c forbidden", "d forbidden",
      ])
    #expect(try await couch.ids() == "a")
  }

  @Test func fullStoreTakesDeletionsAndWhatFits() async throws {
    let couch = try await Couch(limits: StoreLimits(documents: 2, bytes: 10_000, revisions: 10))
    let revision = try await couch.put("a")
    try await couch.put("b")
    let answer = try await couch.bulk(
      #"{"docs":[{"_id":"c"},{"_id":"d"},{"_id":"a","_rev":"\#(revision)","_deleted":true},{"_id":"e"}]}"#
    )
    let outcome = answer.json.array?.map { $0["error"]?.string ?? "ok" }
    #expect(outcome?[2] == "ok")
    #expect(outcome?.filter { $0 == "quota_exceeded" }.count == 2)
    #expect(try await couch.database.info().json["doc_count"] == 2)
  }

  @Test(arguments: [
    ("{}", "400 bad_request"), (#"{"docs":{}}"#, "400 bad_request"), ("[]", "400 bad_request"),
    (#"{"docs":[],"new_edits":1}"#, "400 bad_request"),
    (#"{"docs":[],"all_or_nothing":true}"#, "501 not_implemented"),
  ])
  func malformedRequestIsRefused(body: String, expected: String) async {
    #expect(await refusal { try BulkRequest(json(body)) } == expected)
  }

  @Test func tooManyDocumentsAreRefused() async throws {
    let body =
      #"{"docs":["#
      + Array(repeating: "{}", count: CouchLimits.bulkDocuments + 1)
      .joined(separator: ",") + "]}"
    #expect(await refusal { try BulkRequest(json(body)) } == "413 too_large")
  }

  @Test func moreDocumentsThanACommitTakesAreAllStored() async throws {
    let couch = try await Couch()
    let count = CouchLimits.commitDocuments + 1
    let docs = (0..<count).map { #"{"_id":"\#($0)"}"# }.joined(separator: ",")
    #expect(try await couch.bulk(#"{"docs":[\#(docs)]}"#).json.array?.count == count)
    #expect(try await couch.database.info().json["doc_count"]?.int == count)
  }

  @Test func documentOfTheDeepestNestingFitsIntoABatch() async throws {
    let couch = try await Couch()
    let depth = JSONLimits.document.maximumDepth - 1
    let nested = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    let answer = try await couch.bulk(#"{"docs":[{"_id":"a","x":\#(nested)}]}"#)
    #expect(answer.json.array?.first?["ok"] == true)
    try await couch.put("b", #"{"x":\#(nested)}"#)
  }
}
