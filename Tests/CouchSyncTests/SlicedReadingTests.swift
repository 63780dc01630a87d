import CouchSync
import Documents
import StoreTesting
import Stores
import Testing

/// Reads that continue from slice to slice.
struct SlicedReadingTests {
  /// Thirty documents, some with conflicts and some deleted, and some local documents.
  private static func filled(_ engine: MemoryEngine = MemoryEngine()) async throws -> Couch {
    let couch = try await Couch(in: engine)
    for number in 10..<40 {
      let id = "d\(number)"
      try await couch.graft(id, "2-b", "1-a", body: #","n":\#(number),"type":"t""#)
      if number % 3 == 0 { try await couch.graft(id, "2-c", "1-a", body: #","m":1"#) }
      if number % 4 == 0 { try await couch.graft(id, "3-e", "2-d", "1-a", deleted: true) }
      if number % 7 == 0 { try await couch.delete(id, rev: "2-b") }
    }
    for number in 1...5 {
      let id = try LocalID(client: "_local/l\(number)")
      _ = try await couch.database.putLocal(id, LocalWrite(json(#"{"n":\#(number)}"#)))
    }
    return couch
  }

  private static let keys =
    #"{"keys":["d11","d12","gone",7,"d12","d28","d11"],"include_docs":true,"conflicts":true}"#
  private static let asked = #"""
    {"revs":true,"docs":[{"id":"d12","rev":"2-b"},{"id":"d13"},{"id":"d12","rev":"1-a"},
    {"id":"d12","rev":"2-b"},{"id":"gone","rev":"1-a"},{"id":"d12","rev":"x"},{"rev":"1-a"},{"id":"d24"}]}
    """#

  struct Reading: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let read: @Sendable (Couch) async throws -> String

    init(_ name: String, _ read: @escaping @Sendable (Couch) async throws -> String) {
      testDescription = name
      self.read = read
    }
  }

  static let readings: [Reading] = [
    Reading("all") { try await $0.all(("include_docs", "true"), ("conflicts", "true")).text },
    Reading("down") { try await $0.all(("descending", "true"), ("skip", "3")).text },
    Reading("range") {
      try await $0.all(
        ("startkey", #""d33""#), ("endkey", #""d15""#), ("descending", "true"), ("limit", "9")
      ).text
    },
    Reading("part") {
      try await $0.all(
        ("startkey", #""d15""#), ("endkey", #""d33""#), ("inclusive_end", "false"), ("skip", "2")
      ).text
    },
    Reading("keys") { try await $0.all(body: keys).text },
    Reading("locals") { couch in
      try await couch.database.allDocuments(
        AllDocumentsQuery(query([("skip", "1")]), scope: .locals)
      ).text
    },
    Reading("queries") { couch in
      let body = try json(#"{"queries":[{"skip":2,"limit":7},\#(keys),{"descending":true}]}"#)
      return try await couch.database.allDocuments(
        AllDocumentsQuery.list(body, scope: .everything)
      ).text
    },
    Reading("bulk get") { try await $0.bulkGet(asked).text },
    Reading("bulk get, latest") { try await $0.bulkGet(asked, ("latest", "true")).text },
    Reading("difference") { couch in
      let request = try await RevisionsRequest(
        json(#"{"d10":["2-b","9-x"],"d11":[],"d12":["1-a"],"new":["1-a","1-a"],"d13":["8-y"]}"#))
      return try await couch.database.revisionsDifference(request).text
        + couch.database.missingRevisions(request).text
    },
    Reading("open") { couch in
      let wanted = OpenRevisions.these(
        try ["2-b", "1-a", "9-z", "2-b"].map { try NamedRevision($0) })
      let options = try DocumentQuery(query([("revs", "true"), ("revs_info", "true")]))
      let some = try await couch.database.openRevisions(DocumentID("d12"), wanted, options)
      let all = try await couch.database.openRevisions(DocumentID("d24"), .all, options)
      let latest = try await couch.database.openRevisions(
        DocumentID("d12"), wanted, DocumentQuery(query([("latest", "true")])))
      return some.text + all.text + latest.text
    },
    Reading("by type") { try await $0.found(#"{"selector":{"type":"t"},"skip":1}"#) },
    Reading("one") {
      try await $0.get("d12", ("meta", "true"), ("revs", "true"), ("local_seq", "true")).text
    },
    Reading("changes") { try await $0.changes(("style", "all_docs")).answer.text },
    Reading("changes, down") { try await $0.changes(("descending", "true")).answer.text },
    Reading("changes, some") {
      try await $0.changes(("include_docs", "true"), ("limit", "4")).answer.text
    },
    Reading("changes, matched") {
      try await $0.changes(
        ("filter", "_selector"), ("style", "all_docs"),
        body: #"{"selector":{"n":{"$gt":20}}}"#
      ).answer.text
    },
  ]

  @Test(arguments: readings)
  func answerPutTogetherInSlicesIsTheSame(_ reading: Reading) async throws {
    let engine = MemoryEngine()
    let couch = try await Self.filled(engine)
    let whole = try await reading.read(couch)
    let states = couch.reads.counts.states
    let parts = try await engine.inShortestSlices { try await reading.read(couch) }
    #expect(parts == whole)
    #expect(couch.reads.counts.states > states + 1)
  }

  @Test func keyNamedOftenIsLookedUpOnce() async throws {
    let couch = try await Self.filled()
    let keys = Array(repeating: #""d12""#, count: 3_000).joined(separator: ",")
    let before = couch.reads.counts
    let answer = try await couch.all(
      ("include_docs", "true"), ("conflicts", "true"), body: #"{"keys":[\#(keys)]}"#)
    let rows = try #require(answer.json["rows"]?.array)
    #expect(rows.count == 3_000)
    #expect(rows.allSatisfy { $0 == rows[0] })
    #expect(rows[0]["doc"]?["_conflicts"] == ["2-b"])
    #expect(couch.reads.counts.trees == before.trees + 1)
    #expect(couch.reads.counts.documents == before.documents + 1)
  }

  @Test func treeIsReadOnceHoweverRevisionsAreMixed() async throws {
    let couch = try await Self.filled()
    let docs = (0..<500).map { #"{"id":"d\#($0 % 2 == 0 ? 12 : 24)","rev":"\#($0 % 3 + 1)-a"}"# }
    let before = couch.reads.counts
    let answer = try await couch.bulkGet(
      #"{"docs":[\#(docs.joined(separator: ","))]}"#, ("latest", "true"))
    let results = try #require(answer.json["results"]?.array)
    #expect(results.count == 500)
    #expect(results.enumerated().allSatisfy { $1["id"]?.string == ($0 % 2 == 0 ? "d12" : "d24") })
    #expect(results[0]["docs"]?.array?.count == 3)
    #expect(results[2]["docs"]?.array?.first?["error"]?["rev"] == "3-a")
    #expect(couch.reads.counts.trees == before.trees + 2)
  }

  @Test func branchesOfOneDocumentShareACommit() async throws {
    let couch = try await Couch()
    let docs = (10..<70).map {
      #"{"_id":"a","_rev":"2-x\#($0)","_revisions":{"start":2,"ids":["x\#($0)","a"]},"n":\#($0)}"#
    }
    let answer = try await couch.bulk(
      #"{"new_edits":false,"docs":[\#(docs.joined(separator: ","))]}"#)
    #expect(answer.text == "[]")
    #expect(couch.reads.counts.commits < 60)
    #expect(try await couch.changes().values.count == 1)
    #expect(try await couch.get("a", ("conflicts", "true")).json["_conflicts"]?.array?.count == 59)
    for number in [10, 40, 69] {
      #expect(try await couch.get("a", ("rev", "2-x\(number)")).json["n"]?.int == number)
    }
  }

  @Test func refusedEditsOfOneDocumentShareACommit() async throws {
    let couch = try await Couch()
    let docs = Array(repeating: #"{"_id":"a"}"#, count: 300).joined(separator: ",")
    let outcomes = try #require(try await couch.bulk(#"{"docs":[\#(docs)]}"#).json.array)
    #expect(outcomes.map { $0["error"]?.string ?? "ok" }.prefix(2) == ["ok", "conflict"])
    #expect(outcomes.count { $0["error"] == "conflict" } == 299)
    #expect(couch.reads.counts.commits < 300)
  }
}
