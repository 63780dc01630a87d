import CouchSync
import Documents
import Stores
import Testing

struct LocalDocumentTests {
  private func put(_ couch: Couch, _ id: String, _ body: String) async throws -> CouchAnswer {
    let id = try LocalID(client: id)
    return try await couch.database.putLocal(id, LocalWrite(json(body)))
  }

  private func get(_ couch: Couch, _ id: String) async throws -> CouchAnswer {
    try await couch.database.local(LocalID(client: id))
  }

  private func delete(_ couch: Couch, _ id: String, _ revision: String?) async throws -> CouchAnswer
  {
    try await couch.database.deleteLocal(LocalID(client: id), revision: revision)
  }

  @Test func checkpointComesBackAsSent() async throws {
    let couch = try await Couch()
    let first = try await put(
      couch, "_local/x=.y", #"{"_id":"_local/x=.y","last_seq":"5-a","history":[{"last_seq":5.0}]}"#)
    #expect(first.outcome == .created)
    #expect(first.text == #"{"ok":true,"id":"_local/x=.y","rev":"0-1"}"#)
    #expect(
      try await get(couch, "_local/x=.y").text
        == #"{"_id":"_local/x=.y","_rev":"0-1","last_seq":"5-a","history":[{"last_seq":5.0}]}"#)
    let second = try await put(
      couch, "_local/x=.y", #"{"_rev":"0-1","_revisions":{"start":0,"ids":["1"]},"last_seq":6}"#)
    #expect(second.json["rev"] == "0-2")
    #expect(
      try await get(couch, "_local/x=.y").text
        == #"{"_id":"_local/x=.y","_rev":"0-2","last_seq":6}"#)
  }

  @Test func emptyLocalDocumentIsAnObject() async throws {
    let couch = try await Couch()
    _ = try await put(couch, "_local/a", "{}")
    #expect(try await get(couch, "_local/a").text == #"{"_id":"_local/a","_rev":"0-1"}"#)
  }

  @Test func revisionIsTheOneSentAndOneMoreWhateverIsStored() async throws {
    let couch = try await Couch()
    #expect(try await put(couch, "_local/a", #"{"_rev":"0-7"}"#).json["rev"] == "0-8")
    #expect(try await put(couch, "_local/a", "{}").json["rev"] == "0-1")
    #expect(try await put(couch, "_local/a", #"{"_rev":"0-2"}"#).json["rev"] == "0-3")
    #expect(try await get(couch, "_local/a").json["_rev"] == "0-3")
  }

  @Test func pathNamesTheDocumentWhateverItsBodySays() async throws {
    let couch = try await Couch()
    for id in ["_local/b", "b", "_local/a"] {
      #expect(try await put(couch, "_local/a", #"{"_id":"\#(id)","x":1}"#).outcome == .created)
      #expect(try await get(couch, "_local/a").text == #"{"_id":"_local/a","_rev":"0-1","x":1}"#)
    }
    #expect(await refusal { try await get(couch, "_local/b") } == "404 not_found")
  }

  @Test func absentLocalDocumentIsNotFoundInCouchDBsWords() async throws {
    let couch = try await Couch()
    await #expect(throws: ServiceError.missing) {
      try await get(couch, "_local/a")
    }
  }

  @Test func localDocumentsAreNowhereElse() async throws {
    let couch = try await Couch()
    _ = try await put(couch, "_local/a", "{}")
    #expect(try await couch.changes().rows.isEmpty)
    #expect(try await couch.ids() == "")
    #expect(try await couch.database.info().json["doc_count"] == 0)
  }

  @Test func removalNeedsNoRevisionAndIsFinal() async throws {
    let couch = try await Couch()
    #expect(await refusal { try await delete(couch, "_local/a", "0-1") } == "404 not_found")
    _ = try await put(couch, "_local/a", "{}")
    for revision in [nil, "0-9", "0-1"] {
      _ = try await put(couch, "_local/a", "{}")
      #expect(
        try await delete(couch, "_local/a", revision).text
          == #"{"ok":true,"id":"_local/a","rev":"0-0"}"#)
      #expect(await refusal { try await get(couch, "_local/a") } == "404 not_found")
    }
    _ = try await put(couch, "_local/a", "{}")
    #expect(try await put(couch, "_local/a", #"{"_rev":"0-1","_deleted":true}"#).outcome == .done)
  }

  @Test(arguments: ["", "1", "0-", "0-x", "1-1", "0--1", "0-99999999999999999999"])
  func malformedRevisionIsABadRequest(revision: String) async throws {
    let couch = try await Couch()
    #expect(
      await refusal { try await delete(couch, "_local/a", revision) } == "400 bad_request")
    #expect(
      await refusal { try await put(couch, "_local/a", #"{"_rev":"\#(revision)"}"#) }
        == "400 bad_request")
  }

  @Test(arguments: [
    (#"{"_id":1}"#, "400 illegal_docid"), (#"{"_foo":1}"#, "400 doc_validation"),
    (#"{"_rev":1}"#, "400 bad_request"), (#"{"_deleted":"x"}"#, "400 doc_validation"),
    ("[]", "400 bad_request"),
  ])
  func documentThatContradictsItselfIsRefused(body: String, expected: String) async throws {
    let couch = try await Couch()
    #expect(await refusal { try await put(couch, "_local/a", body) } == expected)
  }

  @Test(.bug(id: "J14"), arguments: ["_local/", "_local", "local/a", "", "receipt/a"])
  func idThatIsNotLocalIsRefused(id: String) async {
    #expect(await refusal { try LocalID(client: id) } == "400 illegal_docid")
  }

  @Test(.bug(id: "J14")) func dotsInALocalIDAreJustDots() async throws {
    let couch = try await Couch()
    _ = try await put(couch, "_local/../a", #"{"x":1}"#)
    #expect(try await get(couch, "_local/../a").json["x"] == 1)
    #expect(await refusal { try await get(couch, "_local/a") } == "404 not_found")
  }
}
