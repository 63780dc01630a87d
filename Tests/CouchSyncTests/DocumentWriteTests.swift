import CouchSync
import Documents
import Stores
import Testing

struct DocumentWriteTests {
  private func put(
    _ couch: Couch, _ body: String, query: String? = nil, ifMatch: String? = nil,
    isNewEdit: Bool = true
  ) async throws -> CouchAnswer {
    try await couch.database.put(
      DocumentID("a"), json(body), base: BaseRevision(query: query, ifMatch: ifMatch),
      isNewEdit: isNewEdit)
  }

  @Test func putAnswersCreatedWithIDAndRevision() async throws {
    let couch = try await Couch()
    let answer = try await put(couch, #"{"_id":"a","x":1}"#)
    let revision = try #require(answer.revision)
    #expect(answer.outcome == .created)
    #expect(answer.text == #"{"ok":true,"id":"a","rev":"\#(revision)"}"#)
  }

  @Test func putWithStaleRevisionIsConflict() async throws {
    let couch = try await Couch()
    let first = try await couch.put("a")
    try await couch.put("a", #"{"x":1}"#, rev: first)
    for stale in [first, "1-unknown", nil] {
      await #expect(throws: DocumentError.conflict) {
        try await couch.put("a", rev: stale)
      }
    }
  }

  @Test func revisionMayComeFromBodyQueryOrHeader() async throws {
    let couch = try await Couch()
    let first = try await couch.put("a")
    let second = try #require(try await put(couch, "{}", ifMatch: "\"\(first)\"").revision)
    let third = try #require(try await put(couch, "{}", ifMatch: "\(second)").revision)
    let fourth = try #require(
      try await put(couch, #"{"_rev":"\#(third)"}"#, query: "\(third)").revision)
    #expect(fourth.generation == 4)
  }

  @Test func revisionsThatDifferAreABadRequest() async throws {
    let couch = try await Couch()
    #expect(
      await refusal { try await put(couch, #"{"_rev":"1-a"}"#, query: "1-b") } == "400 bad_request")
    #expect(
      await refusal { try await put(couch, "{}", query: "1-a", ifMatch: "\"1-b\"") }
        == "400 bad_request")
    #expect(await refusal { try await put(couch, "{}", ifMatch: "*") } == "400 bad_request")
  }

  @Test func putOfATombstoneAnswers200AndKeepsItsFields() async throws {
    let couch = try await Couch()
    let first = try await couch.put("a")
    let answer = try await put(couch, #"{"_deleted":true,"why":"x"}"#, query: first)
    #expect(answer.outcome == .done)
    let tombstone = try #require(answer.json["rev"]?.string)
    #expect(try await couch.get("a", ("rev", tombstone)).json["why"] == "x")
  }

  @Test func recreatedDocumentContinuesTheGeneration() async throws {
    let couch = try await Couch()
    try await couch.delete("a", rev: couch.put("a"))
    #expect(try await couch.put("a").hasPrefix("3-"))
  }

  @Test(
    .bug(id: "J07"),
    arguments: [
      (#"{"_id":"b","_rev":"1-a"}"#, "409 conflict"), (#"{"_foo":1}"#, "400 doc_validation"),
      (#"{"_rev":"0-a"}"#, "400 bad_request"), (#"{"_rev":1}"#, "400 bad_request"),
      (#"{"_rev":"18446744073709551616-a"}"#, "400 bad_request"),
      (#"{"_rev":"1-ABCDEF0123456789ABCDEF0123456789"}"#, "400 bad_request"),
      ("[]", "400 bad_request"), (#"{"_deleted":1}"#, "400 doc_validation"),
      (#"{"_id":"_x"}"#, "400 illegal_docid"), (#"{"_id":""}"#, "400 illegal_docid"),
      (#"{"_attachments":{"f":{"data":"%"}}}"#, "400 bad_request"),
      (#"{"_attachments":{"f":{"stub":true}}}"#, "412 missing_stub"),
    ])
  func documentThatContradictsItselfIsRefused(body: String, expected: String) async throws {
    let couch = try await Couch()
    #expect(await refusal { try await put(couch, body) } == expected)
  }

  @Test(
    .bug(id: "J08"),
    arguments: [
      #"{"_rev":"1-b","_revisions":{"start":1,"ids":["b","a"]}}"#,
      #"{"_rev":"2-b","_revisions":{"start":2,"ids":[]}}"#,
      #"{"_rev":"2-b","_revisions":{"start":"2","ids":["b"]}}"#,
      #"{"_rev":"2-b","_revisions":[]}"#,
    ])
  func historyThatDoesNotMatchIsRefused(body: String) async throws {
    let couch = try await Couch()
    #expect(await refusal { try await put(couch, body, isNewEdit: false) } == "400 doc_validation")
  }

  @Test(.bug(id: "J08")) func historyWinsOverARevisionThatDisagrees() async throws {
    let couch = try await Couch()
    let answer = try await put(
      couch, #"{"_rev":"2-b","_revisions":{"start":2,"ids":["c","a"]}}"#, isNewEdit: false)
    #expect(answer.json["rev"] == "2-c")
  }

  @Test func pathNamesTheDocumentWhateverItsBodySays() async throws {
    let couch = try await Couch()
    #expect(try await put(couch, #"{"_id":"b"}"#).json["id"] == "a")
    #expect(try await couch.ids() == "a")
  }

  @Test func nothingGoesOnFromATombstoneButANewBeginning() async throws {
    let couch = try await Couch()
    let tombstone = try await couch.delete("a", rev: couch.put("a"))
    #expect(await refusal { try await couch.put("a", rev: tombstone) } == "409 conflict")
    #expect(await refusal { try await put(couch, #"{"_deleted":true}"#) } == "409 conflict")
    #expect(
      await refusal { try await put(couch, #"{"_deleted":true}"#, query: tombstone) }
        == "409 conflict")
    try await couch.put("s")
    let copy = try CopyTarget("a", revision: tombstone)
    #expect(
      await refusal { try await couch.database.copy(DocumentName("s"), to: copy) }
        == "409 conflict")
    #expect(try await couch.put("a").hasPrefix("3-"))
  }

  @Test(.bug(id: "J08")) func longHistoryIsTrimmed() async throws {
    let couch = try await Couch()
    let ids = (0..<5_000).map { "\"d\($0)\"" }.joined(separator: ",")
    _ = try await put(
      couch, #"{"_rev":"5000-d0","_revisions":{"start":5000,"ids":[\#(ids)]}}"#, isNewEdit: false)
    let revisions = try await couch.get("a", ("revs", "true")).json["_revisions"]
    #expect(revisions?["ids"]?.array?.count == couch.store.historyLimits.revisions)
  }

  @Test func bodyAtTheLimitIsStoredAndOneByteMoreIsNot() async throws {
    let couch = try await Couch()
    func document(_ count: Int) -> String {
      let text = String(repeating: "x", count: count / 2)
      let rest = String(repeating: "y", count: count - count / 2)
      return #"{"a":"\#(text)","b":"\#(rest)"}"#
    }
    let frame = document(0).utf8.count
    _ = try await put(couch, document(CouchLimits.documentBytes - frame))
    #expect(
      await refusal { try await couch.put("b", document(CouchLimits.documentBytes - frame + 1)) }
        == "413 document_too_large")
  }

  @Test func replicatedPutNeedsARevision() async throws {
    let couch = try await Couch()
    #expect(await refusal { try await put(couch, "{}", isNewEdit: false) } == "400 bad_request")
    let answer = try await put(couch, #"{"x":1}"#, query: "4-z", isNewEdit: false)
    #expect(answer.text == #"{"ok":true,"id":"a","rev":"4-z"}"#)
  }

  @Test func postDrawsAnIDOrTakesTheDocuments() async throws {
    let couch = try await Couch()
    let drawn = try await couch.database.post(json(#"{"x":1}"#))
    let id = try #require(drawn.json["id"]?.string)
    #expect(id.utf8.count == 32)
    #expect(try await couch.get(id).json["x"] == 1)
    let named = try await couch.database.post(json(#"{"_id":"a"}"#))
    #expect(named.outcome == .created)
    #expect(named.json["id"] == "a")
    #expect(
      await refusal { try await couch.database.post(json(#"{"_id":"a"}"#)) } == "409 conflict")
  }

  @Test func deleteNeedsTheLeafsRevision() async throws {
    let couch = try await Couch()
    await #expect(throws: DocumentError.missing) {
      try await couch.delete("a", rev: nil)
    }
    let first = try await couch.put("a")
    #expect(await refusal { try await couch.delete("a", rev: nil) } == "409 conflict")
    #expect(await refusal { try await couch.delete("a", rev: "1-x") } == "409 conflict")
    #expect(await refusal { try await couch.delete("a", rev: "x") } == "400 bad_request")
    #expect(try await couch.delete("a", rev: first).hasPrefix("2-"))
    await #expect(throws: DocumentError.deleted) {
      try await couch.delete("a", rev: nil)
    }
  }

  @Test func copyWritesTheSourcesBytesUnderAnotherID() async throws {
    let couch = try await Couch()
    let (source, target) = (try DocumentName("a"), try CopyTarget("b", revision: nil))
    let first = try await couch.put("a", #"{"x":1.0}"#)
    try await couch.put("a", #"{"x":2}"#, rev: first)
    let answer = try await couch.database.copy(
      source, revision: RevisionID(first), to: target)
    #expect(answer.outcome == .created)
    #expect(try await couch.get("b").text.hasSuffix(#""x":1.0}"#))
    #expect(
      await refusal { try await couch.database.copy(source, to: target) } == "409 conflict")
    let over = try CopyTarget("b", revision: answer.revision?.description)
    _ = try await couch.database.copy(source, to: over)
    #expect(try await couch.get("b").json["x"] == 2)
  }

  @Test func copyOfATombstoneIsATombstone() async throws {
    let couch = try await Couch()
    let body = #"{"_id":"a","_rev":"\#(try await couch.put("a"))","_deleted":true,"x":1}"#
    let deleted = try await couch.bulk(#"{"docs":[\#(body)]}"#).json.array?.first?["rev"]?.string
    let tombstone = try RevisionID(try #require(deleted))
    let source = try DocumentName("a")
    let answer = try await couch.database.copy(
      source, revision: tombstone, to: CopyTarget("b", revision: nil))
    #expect(answer.outcome == .created)
    await #expect(throws: DocumentError.deleted) { try await couch.get("b") }
    let copy = try await couch.get("b", ("rev", answer.revision?.description ?? ""))
    #expect(copy.json["_deleted"] == true && copy.json["x"] == 1)
    let over = try await couch.put("c")
    _ = try await couch.database.copy(
      source, revision: tombstone, to: CopyTarget("c", revision: over))
    #expect(try await couch.ids() == "")
    let name = try LocalID(client: "_local/l")
    _ = try await couch.database.putLocal(name, LocalWrite(json("{}")))
    let local = try await couch.database.copy(
      source, revision: tombstone, to: CopyTarget("_local/l", revision: "0-1"))
    #expect(local.text == #"{"ok":true,"id":"_local/l","rev":"0-0"}"#)
    #expect(await refusal { try await couch.database.local(name) } == "404 not_found")
  }

  @Test func localDocumentsAreCopiedToAndFro() async throws {
    let couch = try await Couch()
    try await couch.put("a", #"{"x":1}"#)
    let (name, local) = (try DocumentName("a"), try CopyTarget("_local/l", revision: "0-4"))
    let made = try await couch.database.copy(name, to: local)
    #expect(made.text == #"{"ok":true,"id":"_local/l","rev":"0-5"}"#)
    let back = try CopyTarget("b", revision: nil)
    _ = try await couch.database.copy(DocumentName("_local/l"), to: back)
    #expect(try await couch.get("b").json["x"] == 1)
    let absent = try DocumentName("_local/none")
    #expect(await refusal { try await couch.database.copy(absent, to: local) } == "404 not_found")
  }

  @Test func localDocumentsComeByPost() async throws {
    let couch = try await Couch()
    let answer = try await couch.database.post(json(#"{"_id":"_local/x","n":1}"#))
    #expect(answer.text == #"{"ok":true,"id":"_local/x","rev":"0-1"}"#)
    #expect(try await couch.ids() == "")
  }

  @Test func copyOfWhatIsNotThereIsMissing() async throws {
    let couch = try await Couch()
    let (source, target) = (try DocumentName("a"), try CopyTarget("b", revision: nil))
    #expect(await refusal { try await couch.database.copy(source, to: target) } == "404 not_found")
    try await couch.delete("a", rev: couch.put("a"))
    await #expect(throws: DocumentError.deleted) {
      try await couch.database.copy(source, to: target)
    }
    #expect(
      await refusal {
        try await couch.database.copy(source, revision: RevisionID("9-x"), to: target)
      } == "404 not_found")
  }

  @Test(.bug(id: "J10")) func branchesBeyondTheLimitAreRefused() async throws {
    let couch = try await Couch()
    for leaf in 0..<HistoryLimits.standard.liveLeaves { try await couch.graft("a", "1-b\(leaf)") }
    let answer = try await couch.bulk(
      #"{"new_edits":false,"docs":[{"_id":"a","_rev":"1-z"}]}"#)
    #expect(answer.json.array?.first?["error"] == "forbidden")
    #expect(await refusal { try await couch.get("a") } == "none")
  }

  @Test func fullStoreRefusesWithItsQuota() async throws {
    let couch = try await Couch(
      limits: StoreLimits(documents: 1, bytes: 1_000, history: HistoryLimits(revisions: 10)))
    try await couch.put("a")
    #expect(await refusal { try await couch.put("b") } == "507 quota_exceeded")
  }
}
