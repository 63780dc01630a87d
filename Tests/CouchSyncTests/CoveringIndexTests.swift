import CouchQuery
import Documents
import StoreTesting
import Stores
import TestSupport
import Testing

/// Queries that need only an index and no document.
struct CoveringIndexTests {
  /// How many documents and keys a query read, and its answer up to the last document.
  private func answer(
    _ couch: Couch, _ query: String
  ) async throws -> (read: Int, keys: Int, documents: String) {
    let answer = try await couch.find(#"{\#(query),"execution_stats":true}"#)
    let statistics = try #require(answer.json["execution_stats"])
    let end = try #require(answer.text.firstRange(of: #"],"bookmark""#))
    return (
      try #require(statistics["total_docs_examined"]?.int),
      try #require(statistics["total_keys_examined"]?.int),
      String(answer.text[..<end.lowerBound])
    )
  }

  @Test func coveredQueryReadsNoDocument() async throws {
    let couch = try await Couch()
    try await couch.index(#"{"index":{"fields":["n","a.b"]}}"#)
    for number in 0..<5 {
      try await couch.put(
        "d\(number)", #"{"n":\#(number).0,"a":{"b":"\u0041","c":1},"rest":true}"#)
    }
    let query = #""selector":{"n":{"$gt":2},"a.b":"A"},"fields":["a.b","_id","n"]"#
    _ = try await couch.find("{\(query)}")
    let before = couch.reads.counts.documents
    let found = try await answer(couch, query)
    // This one document is the design document.
    #expect(couch.reads.counts.documents == before + 1)
    #expect(found.read == 0)
    #expect(found.keys == 2)
    #expect(
      found.documents == #"{"docs":[{"a":{"b":"\u0041"},"_id":"d3","n":3.0},"#
        + #"{"a":{"b":"\u0041"},"_id":"d4","n":4.0}"#)
    let ids = try await answer(couch, #""selector":{"n":1,"a.b":"A"},"fields":["_id"]"#)
    #expect(ids.read == 0)
    #expect(ids.documents == #"{"docs":[{"_id":"d1"}"#)
  }

  /// Queries for the index's own fields only, and queries for other fields, too.
  @Test(arguments: 0..<repetitions(2, nightly: 6))
  func coveredAnswerIsTheDocumentsAnswer(seed: UInt64) async throws {
    var random = SelectorRandom(seed: seed)
    let couch = try await Couch()
    for number in 100..<160 {
      var document = JSONObject()
      for (name, value) in random.document(whole: number % 2 == 0).object?.members ?? [] {
        document[name] = name == "_id" ? .string("d\(number)") : value
      }
      try await couch.put(
        "d\(number)", String(decoding: JSONValue.object(document).bytes, as: UTF8.self))
    }
    var covered = 0
    for (number, fields) in [
      ["a"], ["b"], ["a.b"], ["a", "b"], ["b", "a.b"], ["b", "_id"], ["a.b", "a"], ["a.0", "b"],
    ].enumerated() {
      let list = "[" + fields.map { "\"\($0)\"" }.joined(separator: ",") + "]"
      try await couch.index(#"{"index":{"fields":\#(list)},"ddoc":"i\#(number)"}"#)
      let present = fields.map { #"{"\#($0)":{"$exists":true}}"# }.joined(separator: ",")
      for turn in 0..<25 {
        let selector = turn == 0 ? "{}" : String(decoding: random.selector().bytes, as: UTF8.self)
        let query = #"""
          "selector":{"$and":[\#(present),\#(selector)]},"fields":["_id",\#(list.dropFirst()),
          "use_index":"i\#(number)","limit":\#(turn % 2 == 0 ? 7 : 100),"skip":\#(turn % 3)
          """#
        let alone = try await answer(couch, query)
        let read = try await answer(couch, query + #","conflicts":true"#)
        #expect(alone.documents == read.documents, "\(query)")
        #expect(alone.keys == read.keys, "\(query)")
        #expect(alone.read == 0 || alone.read == read.read)
        if alone.read == 0, read.read > 0 { covered += 1 }
      }
    }
    #expect(covered > 20)
  }

  @Test func documentWhoseFieldsAreTooLongToKeepIsRead() async throws {
    let couch = try await Couch()
    try await couch.index(#"{"index":{"fields":["n","t"]}}"#)
    // The index stores an object with both fields.
    let most = QueryLimits.contentBytes - #"{"n":1,"t":""}"#.utf8.count
    for (number, length) in [most, most + 1, 1, 9_000, most - 1].enumerated() {
      let text = String(repeating: "x", count: length)
      try await couch.put("d\(number)", #"{"n":\#(number),"t":"\#(text)"}"#)
    }
    let query = #""selector":{"n":{"$gte":0},"t":{"$gt":null}},"fields":["_id","n","t"]"#
    let found = try await answer(couch, query)
    #expect(found.read == 2)
    #expect(found.documents == (try await answer(couch, query + #","conflicts":true"#)).documents)
    let skipped = try await answer(couch, query + #","skip":2,"limit":1"#)
    #expect(skipped.read == 1)
    #expect(skipped.documents.hasPrefix(#"{"docs":[{"_id":"d2","n":2,"t":"x"}"#))
  }

  @Test func fieldsOfAPartialIndexsFilterNeedNotBeCovered() async throws {
    let couch = try await Couch()
    try await couch.index(
      #"{"index":{"fields":["n"],"partial_filter_selector":{"state":"new"}},"ddoc":"p"}"#)
    for number in 0..<6 {
      try await couch.put(
        "d\(number)", #"{"n":\#(number),"state":"\#(number % 2 == 0 ? "new" : "old")"}"#)
    }
    let query = #""selector":{"n":{"$gt":1}},"fields":["n"],"use_index":"p""#
    let found = try await answer(couch, query)
    #expect(found.read == 0)
    #expect(found.documents == #"{"docs":[{"n":2},{"n":4}"#)
  }

  @Test func coveredAnswerFollowsEveryChange() async throws {
    let couch = try await Couch()
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    let query = #""selector":{"n":{"$gte":0}},"fields":["_id","n"]"#
    let first = try await couch.put("a", #"{"n":1}"#)
    let second = try await couch.put("b", #"{"n":2}"#)
    #expect(
      try await answer(couch, query).documents == #"{"docs":[{"_id":"a","n":1},{"_id":"b","n":2}"#)
    try await couch.put("a", #"{"n":3}"#, rev: first)
    try await couch.delete("b", rev: second)
    try await couch.graft("c", "1-a", body: #","n":0"#)
    #expect(
      try await answer(couch, query).documents == #"{"docs":[{"_id":"c","n":0},{"_id":"a","n":3}"#)
    try await couch.graft("c", "1-b", body: #","n":9"#)
    let last = try await answer(couch, query)
    #expect(last.read == 0)
    #expect(last.keys == 2)
    #expect(last.documents == #"{"docs":[{"_id":"a","n":3},{"_id":"c","n":9}"#)
  }

  @Test func coveredPagesLeadThroughEverythingOnce() async throws {
    let couch = try await Couch()
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    let documents = (0..<500).map { #"{"_id":"d\#($0)","n":\#($0 % 7)}"# }
    _ = try await couch.bulk(#"{"docs":[\#(documents.joined(separator: ","))]}"#)
    for direction in ["asc", "desc"] {
      var seen: [String] = []
      var bookmark = "nil"
      for _ in 0..<20 {
        let page = try await couch.find(
          #"""
          {"selector":{"n":{"$gt":0}},"fields":["_id"],"sort":[{"n":"\#(direction)"}],"limit":90,
          "bookmark":"\#(bookmark)","execution_stats":true}
          """#)
        #expect(page.json["execution_stats"]?["total_docs_examined"] == 0)
        guard !page.found.isEmpty else { break }
        seen += page.found.split(separator: " ").map(String.init)
        bookmark = try #require(page.json["bookmark"]?.string)
      }
      #expect(seen.count == 428)
      #expect(Set(seen).count == 428)
    }
  }

  @Test func conditionOnTheDocumentItselfIsNotCovered() async throws {
    let couch = try await Couch()
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    try await couch.put("a", #"{"n":1,"m":1}"#)
    try await couch.put("b", #"{"n":1}"#)
    let query = #""selector":{"$and":[{"n":1},{"$keyMapMatch":{"$eq":"m"}}]},"fields":["n"]"#
    let found = try await answer(couch, query)
    #expect(found.read == 2)
    #expect(found.documents == #"{"docs":[{"n":1}"#)
  }

  @Test func documentsAreReadWhereTheIndexCannotBeUsed() async throws {
    let engine = MemoryEngine()
    let couch = try await Couch(engine, .system)
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    for (id, n) in [("a", 3), ("b", 1)] { try await couch.put(id, #"{"n":\#(n)}"#) }
    engine.failWrites(to: .system, with: ServiceError(.readOnly, "No"))
    let found = try await answer(couch, #""selector":{"n":{"$gt":0}},"fields":["n"]"#)
    #expect(found.read == 2)
    #expect(found.documents == #"{"docs":[{"n":1},{"n":3}"#)
  }
}
