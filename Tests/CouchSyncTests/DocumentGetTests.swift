import CouchSync
import Documents
import Stores
import Testing

struct DocumentGetTests {
  @Test func storedBytesComeBackUnchanged() async throws {
    let couch = try await Couch()
    let revision = try await couch.put("é/1", #"{ "b": 1.0, "a": [ -0, 1e2 ], "c": "\u0041" }"#)
    let answer = try await couch.get("é/1")
    #expect(
      answer.text
        == #"{"_id":"é/1","_rev":""# + revision + #"","b":1.0,"a":[-0,1e2],"c":"\u0041"}"#)
    #expect(answer.outcome == .done)
    #expect(answer.revision?.description == revision)
  }

  @Test func absentDocumentIsMissing() async throws {
    let couch = try await Couch()
    await #expect(throws: DocumentError.missing) { try await couch.get("a") }
    #expect(
      await refusal { try await couch.get("a", ("rev", "1-a"), ("latest", "true")) }
        == "404 not_found")
  }

  @Test func tombstoneIsDeletedUnlessItsRevisionIsAsked() async throws {
    let couch = try await Couch()
    let first = try await couch.put("a", #"{"x":1}"#)
    let second = try await couch.delete("a", rev: first)
    await #expect(throws: DocumentError.deleted) { try await couch.get("a") }
    #expect(
      try await couch.get("a", ("rev", second)).text
        == #"{"_id":"a","_rev":""# + second + #"","_deleted":true}"#)
    #expect(try await couch.get("a", ("rev", first)).json["x"] == 1)
    #expect(
      try await couch.get("a", ("deleted", "true")).text
        == #"{"_id":"a","_rev":""# + second + #"","_deleted":true}"#)
    await #expect(throws: DocumentError.deleted) { try await couch.get("a", ("deleted", "1")) }
  }

  @Test func latestGoesOnFromARevisionToItsLeaf() async throws {
    let couch = try await Couch()
    let first = try await couch.put("a", #"{"x":1}"#)
    let second = try await couch.put("a", #"{"x":2}"#, rev: first)
    let answer = try await couch.get("a", ("rev", first), ("latest", "true"))
    #expect(answer.json["_rev"]?.string == second)
    #expect(answer.revision?.description == second)
  }

  @Test func extrasTellTheTree() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "2-b", "1-a", body: #","x":1"#)
    try await couch.graft("a", "2-c", "1-a", body: #","x":2"#)
    try await couch.graft("a", "3-d", "2-d", "1-a", deleted: true)
    let answer = try await couch.get(
      "a", ("revs", "true"), ("meta", "true"), ("local_seq", "true"))
    #expect(
      answer.text
        == #"{"_id":"a","_rev":"2-c","_revisions":{"start":2,"ids":["c","a"]},"#
        + #""_revs_info":[{"rev":"2-c","status":"available"},{"rev":"1-a","status":"missing"}],"#
        + #""_conflicts":["2-b"],"_deleted_conflicts":["3-d"],"_local_seq":3,"x":2}"#)
    #expect(answer.revision == nil)
  }

  @Test func revisionsInfoTellsWhatCanBeRead() async throws {
    let couch = try await Couch()
    let first = try await couch.put("a", #"{"x":1}"#)
    let second = try await couch.delete("a", rev: first)
    let third = try await couch.put("a", #"{"x":3}"#)
    let info = try await couch.get("a", ("revs_info", "true")).json["_revs_info"]
    #expect(
      info == [
        ["rev": .string(third), "status": "available"],
        ["rev": .string(second), "status": "deleted"],
        ["rev": .string(first), "status": "available"],
      ])
    #expect(third.utf8.first == UInt8(ascii: "3"))
  }

  @Test func conflictsAreAbsentWithoutAny() async throws {
    let couch = try await Couch()
    try await couch.put("a")
    let answer = try await couch.get("a", ("conflicts", "true"), ("deleted_conflicts", "true"))
    #expect(answer.json["_conflicts"] == nil)
    #expect(answer.json["_deleted_conflicts"] == nil)
  }

  @Test(.bug(id: "J07"), arguments: ["", "x", "0-a", "1-", "99999999999999999999-a", "01-a"])
  func malformedRevisionIsABadRequest(text: String) async throws {
    let couch = try await Couch()
    try await couch.put("a")
    #expect(await refusal { try await couch.get("a", ("rev", text)) } == "400 bad_request")
  }

  @Test func unknownRevisionIsMissing() async throws {
    let couch = try await Couch()
    try await couch.put("a")
    #expect(await refusal { try await couch.get("a", ("rev", "9-f")) } == "404 not_found")
  }
}
