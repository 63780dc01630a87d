import CouchQuery
import CouchSync
import Documents
import StoreTesting
import Stores
import Testing

struct BulkDocumentsTests {
  @Test func newEditsAnswerOneElementEachInOrder() async throws {
    let couch = try await Couch()
    try await couch.put("taken")
    let answer = try await couch.bulk(
      #"{"docs":[{"_id":"b","x":1},{"_id":"taken"},{"x":2},{"_id":"a"}]}"#)
    let elements = try #require(answer.json.array)
    #expect(answer.outcome == .created)
    #expect(elements.count == 4)
    #expect(elements[0]["ok"] == true)
    #expect(elements[0]["id"] == "b")
    #expect(
      elements[1]
        == ["id": "taken", "error": "conflict", "reason": "Document update conflict."])
    #expect(elements[2]["id"]?.string?.utf8.count == 32)
    #expect(elements[3]["rev"]?.string?.hasPrefix("1-") == true)
    #expect(try await couch.get("a").outcome == .done)
  }

  @Test(
    .bug(id: "J11"),
    arguments: [
      (#"{"_id":"_bad"}"#, "400 illegal_docid"), ("7", "400 bad_request"),
      (#"{"_id":5}"#, "400 illegal_docid"), (#"{"_id":""}"#, "400 illegal_docid"),
      (#"{"_id":"c","_rev":"x"}"#, "400 bad_request"), (#"{"_foo":1}"#, "400 doc_validation"),
      (#"{"_deleted":1}"#, "400 doc_validation"), (#"{"_revisions":1}"#, "400 doc_validation"),
    ])
  func malformedDocumentStopsTheWholeRequest(document: String, expected: String) async throws {
    let couch = try await Couch()
    for flag in [true, false] {
      let body = #"{"new_edits":\#(flag),"docs":[{"_id":"a","_rev":"1-a"},\#(document)]}"#
      #expect(await refusal { try await couch.bulk(body) } == expected)
    }
    #expect(try await couch.ids() == "")
  }

  @Test(.bug(id: "J11"), arguments: [true, false])
  func documentThatCanNeverBeStoredIsForbiddenAlone(isNewEdit: Bool) async throws {
    let couch = try await Couch()
    let long = String(repeating: "x", count: DocumentID.maximumBytes + 1)
    let answer = try await couch.bulk(
      """
      {"new_edits":\(isNewEdit),"docs":[{"_id":"a","_rev":"1-a"},{"_id":"\(long)","_rev":"1-a"},
      {"_id":"n\\u0000","_rev":"1-a"},{"_id":"c","_rev":"99999999999999999999-a"},
      {"_id":"f","_rev":"1-a"}]}
      """)
    let forbidden = answer.json.array?.filter { $0["error"] == "forbidden" } ?? []
    #expect(forbidden.map { $0["id"]?.string } == [long, "n\0", "c"])
    #expect(try await couch.ids() == (isNewEdit ? "" : "a f"))
  }

  /// CouchDB limits none of these. A batch that is refused whole comes again for ever.
  @Test(arguments: [
    (0...IncomingAttachment.most).map { #""f\#($0)":{"data":""}"# }.joined(separator: ","),
    #""\#(String(repeating: "n", count: AttachmentName.maximumBytes + 1))":{"data":""}"#,
    #""f":{"data":"","content_type":"text/plain; charset=ü"}"#,
  ])
  func attachmentsBeyondALimitAreForbiddenAlone(attachments: String) async throws {
    let couch = try await Couch()
    let document = #"{"_id":"b","_rev":"1-b","_attachments":{\#(attachments)}}"#
    let answer = try await couch.bulk(
      #"{"new_edits":false,"docs":[{"_id":"a","_rev":"1-a"},\#(document)]}"#)
    #expect(answer.json.array?.map { $0["id"] } == ["b"])
    #expect(answer.json.array?.first?["error"] == "forbidden")
    #expect(try await couch.ids() == "a")
  }

  /// The note about them could not be read any more, and the document not be written.
  @Test func branchesThatNameTooManyAttachmentsAreRefused() async throws {
    let couch = try await Couch()
    let name = String(repeating: "n", count: AttachmentName.maximumBytes - 2)
    let all = (10..<110).map { #""\#(name.dropLast())\#($0)":{"data":""}"# }.joined(separator: ",")
    func put(_ numbers: Range<Int>, _ members: String) async throws -> [JSONValue] {
      let branches = numbers.map { #"{"_id":"a","_rev":"1-\#($0)"\#(members)}"# }
      let answer = try await couch.bulk(
        #"{"new_edits":false,"docs":[\#(branches.joined(separator: ","))]}"#)
      return try #require(answer.json.array)
    }
    let with = #","_attachments":{\#(all)}"#
    #expect(try await put(10..<80, "").isEmpty)
    #expect(try await put(80..<81, with).isEmpty)
    // As if 69 more of the branches had come with as many names, which would take a minute without optimisation.
    try await couch.store.update { changes in
      let record = LocalID(receipt: "attached/a")
      let note = try #require(try changes.local(record))
      let names = String(decoding: note.body, as: UTF8.self).drop { $0 != ":" }.dropLast()
      let all = (11..<80).map { #""1-\#($0)"\#(names)"# } + [#""1-80"\#(names)"#]
      changes.write(
        LocalEdit(
          record, LocalDocument(revision: 2, body: Array("{\(all.joined(separator: ","))}".utf8))))
    }
    let refused = try await put(81..<84, with)
    #expect((1...2).contains(refused.count))
    #expect(refused.allSatisfy { $0["reason"]?.string?.contains("attachments") == true })
    let winner = try #require(try await couch.get("a").json["_rev"]?.string)
    try await couch.delete("a", rev: winner)
    #expect(try await couch.get("a").json["_rev"]?.string != winner)
  }

  @Test(arguments: [
    #""x":"# + String(repeating: "[", count: 600) + String(repeating: "]", count: 600),
    #""x":"\#(String(repeating: "y", count: 600_000))""#,
    #""x":1\#(String(repeating: "0", count: 64))"#, #""x":1e999"#, #""x":"\ud800""#,
    #""x":1,"x":2"#,
    (0..<10_001).map { #""m\#($0)":0"# }.joined(separator: ","),
  ])
  func documentBeyondALimitIsForbiddenAlone(members: String) async throws {
    let couch = try await Couch()
    let docs =
      #"[{"_id":"a","_rev":"1-a"}, {"_id":"b","_rev":"1-b",\#(members)} ,{"_id":"c","_rev":"1-c"}]"#
    for body in [
      #"{"docs":\#(docs),"new_edits":false}"#, #" { "new_edits":false, "docs" : \#(docs) } "#,
    ] {
      let request = try await BulkRequest.read(Array(body.utf8), limits: .standard)
      let answer = try await couch.database.bulkDocuments(request)
      #expect(answer.json.array?.map { $0["id"] } == ["b"])
      #expect(answer.json.array?.first?["error"] == "forbidden")
      #expect(answer.json.array?.first?["reason"]?.string?.isEmpty == false)
    }
    #expect(try await couch.ids() == "a c")
  }

  @Test func administratorsDatabaseTakesCouchDBsDocuments() async throws {
    let couch = try await Couch(limits: .database)
    let long = String(repeating: "y", count: 6_000_000)
    let many = (0..<20_000).map { #""m\#($0)":0"# }.joined(separator: ",")
    let deep = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
    let body = """
      {"docs":[{"_id":"a","x":"\(long)"},{"_id":"b",\(many)},{"_id":"c","x":\(deep)},
      {"_id":"d","x":"\(long)\(long.prefix(2_000_000))"}]}
      """
    let limits = DocumentLimits(.database)
    let request = try await BulkRequest.read(Array(body.utf8), limits: limits)
    let answer = try await couch.database.bulkDocuments(request)
    #expect(
      answer.json.array?.map { $0["error"]?.string ?? "ok" } == [
        "ok", "ok", "forbidden", "forbidden",
      ])
    _ = try await couch.database.copy(
      DocumentName("b"), to: CopyTarget("e", revision: nil))
    let found = try FindRequest(json(#"{"selector":{"m19999":0},"fields":["_id"]}"#))
    let docs = try await couch.database.find(found).json["docs"]
    #expect(docs?.array?.count == 2)
  }

  @Test(arguments: [
    #"{"docs":[{"x":"\ud800"},]}"#, #"{"docs":[{"x":"\ud800"}],"docs":[]}"#, #"[{"x":"\ud800"}]"#,
    #"{"docs":[{"x":"\ud800"}],"new_edits":1}"#, #"{"docs":[{"x":"\ud800"}] "y":1}"#,
    #"{"docs":[{"x":"\ud800"}],"y":"\ud800"}"#, #"{"docs":[{"x":"\ud800"},{"a":tru}]}"#,
    #"{"docs":[{"x":"\ud800"}]"#, #"{"docs":[{"x":"\ud800"}]}}"#, #"{"docs":{"x":"\ud800"}}"#,
  ])
  func bodyThatIsNoRequestIsRefusedThoughOneDocumentIsBeyondALimit(body: String) async {
    let refused = await refusal { try await BulkRequest.read(Array(body.utf8), limits: .standard) }
    #expect(refused.hasPrefix("400 "))
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
    await #expect(throws: DocumentError.deleted) { try await couch.get("a") }
  }

  @Test func emptyRequestIsAnEmptyAnswer() async throws {
    let couch = try await Couch()
    #expect(try await couch.bulk(#"{"docs":[]}"#).text == "[]")
    #expect(try await couch.bulk(#"{"docs":[],"new_edits":false}"#).text == "[]")
  }

  @Test(.bug(id: "J09")) func replicatedRevisionsAreTakenAsTheyAreAndRepeatsAreNoOps() async throws
  {
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

  @Test(.bug(id: "J09")) func historiesArriveOutOfOrder() async throws {
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

  @Test(.bug(id: "J09")) func sameRevisionWithAnotherBodyIsACollision() async throws {
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
      {"new_edits":false,"docs":[{"_id":"a","_rev":"1-a"},
      {"_id":"d","_rev":"1-a","_attachments":{"f":{"stub":true}}}]}
      """)
    #expect(answer.outcome == .created)
    #expect(
      answer.json == [
        [
          "id": "d", "rev": "1-a", "error": "missing_stub",
          "reason": "Invalid attachment stub in d for f",
        ]
      ])
    #expect(try await couch.ids() == "a")
  }

  @Test func fullStoreTakesDeletionsAndWhatFits() async throws {
    let couch = try await Couch(
      limits: StoreLimits(documents: 2, bytes: 10_000, history: HistoryLimits(revisions: 10)))
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

  @Test func fullStoreFailsAPeersRequestButTakesWhatFits() async throws {
    let couch = try await Couch(
      limits: StoreLimits(documents: 2, bytes: 10_000, history: HistoryLimits(revisions: 10)))
    let revision = try await couch.put("a")
    let body = """
      {"new_edits":false,"docs":[{"_id":"b","_rev":"1-b"},{"_id":"c","_rev":"1-c"},{"_id":"d","_rev":"1-d"},
      {"_id":"a","_rev":"2-a","_revisions":{"start":2,"ids":["a","\(revision.dropFirst(2))"]},"_deleted":true}]}
      """
    #expect(await refusal { try await couch.bulk(body) } == "507 quota_exceeded")
    #expect(await refusal { try await couch.get("a") } == "404 not_found")
    let stored = try await couch.ids().split(separator: " ").map(String.init)
    #expect(stored.count == 2)
    let first = try #require(stored.first)
    try await couch.delete(first, rev: "1-" + first)
    #expect(try await couch.bulk(body).text == "[]")
    #expect(try await couch.ids() == ["b", "c", "d"].filter { $0 != first }.joined(separator: " "))
  }

  @Test func localDocumentsComeInABulk() async throws {
    let couch = try await Couch()
    let answer = try await couch.bulk(#"{"docs":[{"_id":"_local/x","n":1},{"_id":"a"}]}"#)
    #expect(answer.json.array?[0] == ["ok": true, "id": "_local/x", "rev": "0-1"])
    let peers = #"{"new_edits":false,"docs":[{"_id":"_local/x","_rev":"0-1","n":2}]}"#
    #expect(try await couch.bulk(peers).text == "[]")
    let local = try await couch.database.local(LocalID(client: "_local/x"))
    #expect(local.text == #"{"_id":"_local/x","_rev":"0-2","n":2}"#)
    #expect(try await couch.ids() == "a")
  }

  @Test(arguments: [
    ("{}", "400 bad_request"), (#"{"docs":{}}"#, "400 bad_request"), ("[]", "400 bad_request"),
    (#"{"docs":[],"new_edits":1}"#, "400 bad_request"),
  ])
  func malformedRequestIsRefused(body: String, expected: String) async {
    #expect(await refusal { try BulkRequest(json(body)) } == expected)
  }

  @Test func allOrNothingWritesNothing() async throws {
    let couch = try await Couch()
    let answer = try await couch.bulk(#"{"docs":[{"_id":"a"}],"all_or_nothing":true}"#)
    #expect(answer.outcome == .refused)
    #expect(answer.json.array?.first?["error"] == "not_implemented")
    #expect(try await couch.ids() == "")
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

  @Test(.bug(id: "35/27")) func attachmentsOfManyDocumentsAreCommittedInParts() async throws {
    let couch = try await Couch()
    let count = 2 * CouchLimits.commitAttachments + 1
    let docs = (0..<count).map {
      #"{"_id":"\#($0)","_attachments":{"f":{"data":"\#(Base64.string(Array("\($0)".utf8)))"}}}"#
    }
    let before = couch.reads.counts.commits
    let answer = try await couch.bulk(#"{"docs":[\#(docs.joined(separator: ","))]}"#)
    #expect(answer.json.array?.filter { $0["ok"] == true }.count == count)
    #expect(couch.reads.counts.commits - before >= 3)
    #expect(try await couch.get("7").json["_attachments"]?["f"]?["length"] == 1)
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
