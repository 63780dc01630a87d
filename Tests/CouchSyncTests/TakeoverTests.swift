import CouchSync
import Documents
import StoreTesting
import Stores
import Testing

/// Answers during which a database server takes over that may lack the last changes.
struct TakeoverTests {
  private let name = StoreName.system
  private let engine = MemoryEngine()

  private func write(_ numbers: Range<Int>, to couch: Couch) async throws {
    let docs = numbers.map { #"{"_id":"d\#($0)","n":\#($0)}"# }.joined(separator: ",")
    _ = try await couch.bulk(#"{"docs":[\#(docs)]}"#)
  }

  @Test func changesGoOnlyAsFarAsTheNewServerHasThem() async throws {
    let couch = try await Couch(engine, name)
    let (rows, extra) = (CouchLimits.pageRows, 100)
    try await write(0..<rows + extra / 2, to: couch)
    engine.keepCopy(of: name)
    try await write(rows + extra / 2..<rows + extra, to: couch)
    let query = try ChangesQuery(query([]))
    let first = try await couch.database.changes(query)
    #expect(first.rows.count == rows && !first.isComplete)
    engine.takeOver(name)
    let second = try await couch.database.changes(query.after(first))
    #expect(second.rows.count == extra / 2 && second.isComplete && !second.isRewound)
    // They have the numbers of the lost ones.
    try await write(5_000..<5_020, to: couch)
    let later = try await couch.changes(("since", second.last.text))
    #expect(later.rows.count == 20 && !later.isRewound)
  }

  @Test func changesInReverseEndWhenWhatWasReadIsLost() async throws {
    let couch = try await Couch(engine, name)
    try await write(0..<50, to: couch)
    engine.keepCopy(of: name)
    try await write(50..<CouchLimits.pageRows + 100, to: couch)
    let query = try ChangesQuery(query([("descending", "true")]))
    let first = try await couch.database.changes(query)
    #expect(!first.isComplete && !first.isRewound)
    engine.takeOver(name)
    #expect(try await couch.database.changes(query.after(first)).isRewound)
  }

  @Test(arguments: 1...16)
  func indexMissesNothingThatHasTheNumberOfALostChange(call: Int) async throws {
    let storage = try #require(try await engine.open(name, creating: true))
    let couch = Couch(storage)
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    try await write(0..<10, to: couch)
    engine.keepCopy(of: name)
    try await write(10..<20, to: couch)
    let hooked = HookedStorage(storage) { [engine, name] number, _ in
      if number == call { engine.takeOver(name) }
    }
    let query = #"{"selector":{"n":{"$gte":0}},"sort":["n"],"limit":50,"fields":["n"]}"#
    _ = try await Couch(hooked).find(query)
    // Unless the query was over before.
    engine.takeOver(name)
    try await write(30..<45, to: couch)
    let answer = try await couch.find(query)
    let present = try await couch.all(("limit", "100"))
    #expect(answer.json["docs"]?.array?.count == (present.json["rows"]?.array?.count ?? 0) - 1)
  }

  @Test func rowsOfSeveralPiecesAreWhole() async throws {
    let couch = try await Couch(engine, name)
    let text = String(repeating: "x", count: 9_000)
    let docs = (10..<90).map { #"{"_id":"d\#($0)","n":\#($0),"t":"\#(text)"}"# }
    _ = try await couch.bulk(#"{"docs":[\#(docs.joined(separator: ","))]}"#)
    let page = try await couch.changes(("include_docs", "true"))
    #expect(page.rows.pieces.count > 5)
    #expect(page.values.map { $0["doc"]?["n"]?.int } == Array(10..<90))
    let rows = try #require(page.answer.json["results"]?.array)
    #expect(rows == page.values)
    let parts = try await engine.inShortestSlices {
      try await couch.changes(("include_docs", "true"))
    }
    #expect(parts.answer.text == page.answer.text)
  }
}
