import CouchQuery
import CouchSync
import Documents
import StoreTesting
import Stores
import Testing

@testable import HTTPAPI

extension Couch {
  /// A new database in the test's own engine.
  init(_ engine: MemoryEngine, _ name: StoreName) async throws {
    self.init(try #require(try await engine.open(name, creating: true)))
  }

  /// A database over a storage.
  init(_ storage: any StoreStorage) {
    reads = ReadCounter()
    store = DocumentStore(
      name: .system, storage: storage, limits: .full,
      now: { Timestamp(milliseconds: 1_000) })
    database = CouchDatabase(name: "db", store: store, as: .server, saying: ErrorTable.couchWord)
  }

  func find(_ body: String) async throws -> CouchAnswer {
    try await database.find(FindRequest(json(body)))
  }

  /// The ids of the documents that `_find` returns, joined.
  func found(_ body: String) async throws -> String {
    try await find(body).found
  }

  func explain(_ body: String) async throws -> JSONValue {
    try await database.explain(FindRequest(json(body))).json
  }

  /// Sends `POST _index`.
  @discardableResult
  func index(_ body: String) async throws -> JSONValue {
    try await database.createIndex(IndexRequest(json(body))).json
  }

  func builtIndexes() async throws -> Int {
    try await store.read { view in try view.indexes() }.count
  }
}

extension CouchAnswer {
  /// The ids of an answer's documents, joined.
  var found: String {
    (json["docs"]?.array ?? []).compactMap { $0["_id"]?.string }.joined(separator: " ")
  }
}

struct FindTests {
  private func hotels() async throws -> Couch {
    let couch = try await Couch()
    try await couch.put("rome", #"{"type":"hotel","city":"Rome","stars":4,"a":{"b":1,"c":[7,8]}}"#)
    try await couch.put("oslo", #"{"type":"hotel","city":"Oslo","stars":3}"#)
    try await couch.put("bern", #"{"type":"hotel","city":"Bern","stars":5}"#)
    try await couch.put("note", #"{"type":"note","city":"Rome"}"#)
    return couch
  }

  @Test func documentsThatMatchComeAsTheyAreStored() async throws {
    let couch = try await Couch()
    let revision = try await couch.put("a", #"{"n":1.0,"t":"\u0041"}"#)
    try await couch.put("b", #"{"n":2}"#)
    let answer = try await couch.find(#"{"selector":{"n":1}}"#)
    #expect(answer.outcome == .done)
    let document = #"{"_id":"a","_rev":"\#(revision)","n":1.0,"t":"\u0041"}"#
    #expect(answer.text.hasPrefix(#"{"docs":[\#(document)],"bookmark":""#))
  }

  @Test func limitIs25UnlessAnotherIsGiven() async throws {
    let couch = try await Couch()
    for number in 100..<130 { try await couch.put("d\(number)", #"{"n":\#(number)}"#) }
    #expect(try await couch.find(#"{"selector":{}}"#).json["docs"]?.array?.count == 25)
    #expect(try await couch.found(#"{"selector":{},"limit":2}"#) == "d100 d101")
    #expect(try await couch.found(#"{"selector":{},"limit":2,"skip":3}"#) == "d103 d104")
    #expect(try await couch.found(#"{"selector":{"n":{"$gt":126}},"skip":1}"#) == "d128 d129")
    let none = try await couch.find(#"{"selector":{},"limit":0}"#)
    #expect(none.json["docs"] == [])
    #expect(none.json["bookmark"] == "nil")
  }

  @Test func tombstonesAndDesignDocumentsAreLeftOut() async throws {
    let couch = try await Couch()
    try await couch.put("_design/x", #"{"type":"t","n":1}"#)
    try await couch.put("a", #"{"type":"t","n":1}"#)
    try await couch.put("~", #"{"type":"t","n":1}"#)
    try await couch.put("A", #"{"type":"t","n":1}"#)
    let gone = try await couch.put("b", #"{"type":"t","n":1}"#)
    try await couch.delete("b", rev: gone)
    #expect(try await couch.found(#"{"selector":{}}"#) == "A a ~")
    #expect(try await couch.found(#"{"selector":{},"sort":[{"_id":"desc"}]}"#) == "~ a A")
    #expect(try await couch.found(#"{"selector":{"type":"t"}}"#) == "A a ~")
    #expect(try await couch.found(#"{"selector":{"_id":"_design/x"}}"#) == "")
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    #expect(try await couch.found(#"{"selector":{"n":1}}"#) == "A a ~")
  }

  @Test(
    arguments: [
      (#"["_id"]"#, #"{"_id":"rome"}"#), (#"["a.b","_id"]"#, #"{"a":{"b":1},"_id":"rome"}"#),
      (#"["stars","a.b","a.c"]"#, #"{"stars":4,"a":{"b":1,"c":[7,8]}}"#),
      (#"["a.b","a"]"#, #"{"a":{"b":1,"c":[7,8]}}"#),
      (#"["a","a.b"]"#, #"{"a":{"b":1,"c":[7,8]}}"#),
      (#"["a.c.1"]"#, #"{"a":{"c":{"1":8}}}"#), (#"["none","city.x"]"#, "{}"),
    ])
  func fieldsAreNestedAsInTheDocument(fields: String, document: String) async throws {
    let couch = try await hotels()
    let answer = try await couch.find(#"{"selector":{"_id":"rome"},"fields":\#(fields)}"#)
    #expect(answer.text.hasPrefix(#"{"docs":[\#(document)],"#))
  }

  @Test func noFieldsAreAllFields() async throws {
    let couch = try await hotels()
    let answer = try await couch.find(#"{"selector":{"_id":"note"},"fields":[]}"#)
    #expect(answer.json["docs"]?.array?.first?["city"] == "Rome")
  }

  @Test func onlyQueriesWithoutAnIndexAreWarnedOf() async throws {
    let couch = try await hotels()
    let warning = "No matching index found, create an index to optimize query time."
    let selector = #"{"selector":{"city":"Rome"}}"#
    #expect(try await couch.find(selector).json["warning"]?.string == warning)
    let ofType = try await couch.find(#"{"selector":{"type":"hotel","city":"Rome"}}"#)
    #expect(ofType.found == "rome")
    #expect(ofType.json["warning"] == nil)
    try await couch.index(#"{"index":{"fields":["city"]}}"#)
    let indexed = try await couch.find(selector)
    #expect(indexed.found == "note rome")
    #expect(indexed.json["warning"] == nil)
  }

  @Test func manyDocumentsForFewResultsAreWarnedOf() async throws {
    let couch = try await Couch()
    for number in 100..<112 { try await couch.put("d\(number)", #"{"type":"t","n":\#(number)}"#) }
    let answer = try await couch.find(#"{"selector":{"type":"t","n":105},"execution_stats":true}"#)
    #expect(answer.found == "d105")
    #expect(
      answer.json["warning"]?.string?.hasPrefix("The number of documents examined is high") ?? false
    )
    let statistics = try #require(answer.json["execution_stats"])
    #expect(statistics["total_keys_examined"] == 12)
    #expect(statistics["total_docs_examined"] == 12)
    #expect(statistics["total_quorum_docs_examined"] == 0)
    #expect(statistics["results_returned"] == 1)
    #expect(statistics["execution_time_ms"]?.number?.double ?? -1 >= 0)
  }

  @Test func conflictsCanBeSelectedBy() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "1-a", body: #","x":1"#)
    try await couch.graft("a", "1-b", body: #","x":2"#)
    try await couch.put("b", #"{"x":2}"#)
    let selector = #""selector":{"_conflicts":{"$exists":true}}"#
    #expect(try await couch.found("{\(selector)}") == "")
    let answer = try await couch.find(#"{\#(selector),"conflicts":true}"#)
    #expect(
      answer.text.hasPrefix(
        #"{"docs":[{"_id":"a","_rev":"1-b","_conflicts":["1-a"],"x":2}],"#))
    try await couch.index(#"{"index":{"fields":["_conflicts"]}}"#)
    #expect(try await couch.find(#"{\#(selector),"conflicts":true}"#).found == "a")
  }

  @Test(
    arguments: [
      (#"{"_id":"oslo"}"#, "oslo"), (#"{"_id":{"$in":["rome","x","bern",1]}}"#, "bern rome"),
      (#"{"_id":{"$gt":"note"}}"#, "oslo rome"), (#"{"_id":{"$gte":"note"}}"#, "note oslo rome"),
      (#"{"_id":{"$lt":"note"}}"#, "bern"), (#"{"_id":{"$gt":"c","$lte":"oslo"}}"#, "note oslo"),
      (#"{"_id":{"$beginsWith":"o"}}"#, "oslo"), (#"{"_id":{"$gt":null}}"#, "bern note oslo rome"),
      (#"{"_id":{"$gt":"o","$lt":"n"}}"#, ""), (#"{"_id":5}"#, ""),
    ])
  func idsAreFoundByTheirBounds(selector: String, ids: String) async throws {
    let couch = try await hotels()
    let answer = try await couch.find(#"{"selector":\#(selector),"execution_stats":true}"#)
    #expect(answer.found == ids)
    let reverse = try await couch.found(#"{"selector":\#(selector),"sort":[{"_id":"desc"}]}"#)
    #expect(reverse.split(separator: " ").reversed().joined(separator: " ") == ids)
  }

  /// CouchDB's own tests: such a selector matches each document, but the query returns none.
  @Test(arguments: [
    (#"{"$or":[]}"#, ""), (#"{"$and":[]}"#, ""), (#"{"$nor":[]}"#, ""),
    (#"{"city":"Rome","$or":[]}"#, "note rome"),
    (#"{"city":"Rome","$and":[{"$or":[]}]}"#, "note rome"),
  ])
  func emptyListAloneFindsNothing(selector: String, ids: String) async throws {
    let couch = try await hotels()
    #expect(try await couch.found(#"{"selector":\#(selector)}"#) == ids)
    try await couch.index(#"{"index":{"fields":["city"]}}"#)
    #expect(try await couch.found(#"{"selector":\#(selector)}"#) == ids)
  }

  @Test func idRangeReadsNoDocumentBesideIt() async throws {
    let couch = try await Couch()
    for number in 100..<160 { try await couch.put("d\(number)") }
    let answer = try await couch.find(
      #"{"selector":{"_id":{"$gte":"d120","$lt":"d123"}},"execution_stats":true}"#)
    #expect(answer.found == "d120 d121 d122")
    #expect(answer.json["execution_stats"]?["total_docs_examined"] == 3)
  }

  @Test func answerBeyondTheLimitIsRefused() async throws {
    let couch = try await Couch()
    let body = #"{"t":"\#(String(repeating: "x", count: 500_000))"}"#
    for number in 0..<140 { try await couch.put("d\(number)", body) }
    #expect(
      await refusal { try await couch.find(#"{"selector":{},"limit":200}"#) } == "413 too_large")
    #expect(try await couch.find(#"{"selector":{},"limit":2}"#).outcome == .done)
  }

  @Test func patternThatBacktrackingWouldNeverEndIsAnswered() async throws {
    let couch = try await Couch()
    try await couch.put("a", #"{"t":"\#(String(repeating: "a", count: 40))!"}"#)
    #expect(try await couch.found(#"{"selector":{"t":{"$regex":"^(a+)+$"}}}"#) == "")
    #expect(try await couch.found(#"{"selector":{"t":{"$regex":"^(a+)+!$"}}}"#) == "a")
  }
}
