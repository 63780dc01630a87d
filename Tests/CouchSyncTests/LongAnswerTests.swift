import Documents
import StoreTesting
import Stores
import Testing

@testable import CouchSync
@testable import HTTPAPI

/// Lists of documents that are longer than one part of an answer.
@Suite struct LongAnswerTests {
  /// Regression: a replicator that asked for more than 64 MiB was refused, and asked for the same again and again.
  @Test func listOfDocumentsComesInParts() async throws {
    let couch = try await Self.filled()
    let keys = (0..<30).map { #""\#(Self.id($0))""# }.joined(separator: ",")
    let docs = (0..<30).map { #"{"id":"\#(Self.id($0))"}"# }.joined(separator: ",")
    let answers = [
      try await couch.all(("include_docs", "true")),
      try await couch.all(("include_docs", "true"), ("descending", "true"), ("skip", "3")),
      try await couch.all(("include_docs", "true"), body: #"{"keys":[\#(keys)]}"#),
      try await couch.bulkGet(#"{"docs":[\#(docs)]}"#, ("revs", "true")),
      try await couch.database.allDocuments(
        AllDocumentsQuery.list(
          json(#"{"queries":[{"include_docs":true},{"include_docs":true,"limit":2}]}"#),
          scope: .everything)),
    ]
    for (answer, rows) in zip(answers, [30, 27, 30, 30, 2]) {
      let parts = try await Self.parts(answer, of: couch)
      #expect(parts.count >= 3)
      #expect(parts.dropLast().allSatisfy { $0.count >= CouchLimits.answerPartBytes })
      #expect(parts.allSatisfy { $0.count < CouchLimits.answerPartBytes + 200_000 })
      let whole = try ParsedJSON(parts.reduce(into: [], +=), limits: .database).root
      #expect((whole["rows"] ?? whole["results"])?.count == rows)
      let ids = (whole["rows"] ?? whole["results"])?.elements.compactMap { $0["id"]?.string } ?? []
      #expect(Set(ids).count == ids.count)
    }
  }

  @Test func keyThatComesAgainInAnotherPartIsReadAgain() async throws {
    let couch = try await Self.filled()
    let keys = (0..<40).map { #""\#(Self.id($0 % 3))""# }.joined(separator: ",")
    let answer = try await couch.all(("include_docs", "true"), body: #"{"keys":[\#(keys)]}"#)
    let text = try await Self.parts(answer, of: couch).reduce(into: [], +=)
    let rows = try #require(try ParsedJSON(text, limits: .database).root["rows"])
    #expect(rows.elements.map { $0["doc"]?["_id"]?.string } == (0..<40).map { Self.id($0 % 3) })
  }

  /// Regression: such an answer was made in memory, 64 MiB at most.
  @Test func documentsThatAreNamedAgainLaterComeInParts() async throws {
    let couch = try await Self.filled()
    let ids = (0..<90).map { Self.id($0 % 9) }
    let docs = ids.map { #"{"id":"\#($0)"}"# }.joined(separator: ",")
    let parts = try await Self.parts(couch.bulkGet(#"{"docs":[\#(docs)]}"#), of: couch)
    #expect(parts.count >= 8)
    #expect(parts.allSatisfy { $0.count < CouchLimits.answerPartBytes + 200_000 })
    let results = try ParsedJSON(parts.reduce(into: [], +=), limits: .database).root["results"]
    let found = results?.elements.map { $0["docs"]?[0]?["ok"]?["_id"]?.string ?? "" }
    #expect(found == ids)
  }

  @Test(arguments: ["all", "named"]) func openRevisionsComeInParts(wanted: String) async throws {
    let couch = try await Couch()
    let text = String(repeating: "y", count: 100_000)
    for number in 10..<40 { try await couch.graft("a", "1-\(number)", body: #","x":"\#(text)""#) }
    let revisions = (10..<40).map { "1-\($0)" }
    let asked = wanted == "all" ? revisions : revisions.reversed() + ["9-x"] + revisions
    let list = "[" + asked.map { "\"\($0)\"" }.joined(separator: ",") + "]"
    let named = try #require(
      try OpenRevisions.parameter(query([("open_revs", wanted == "all" ? "all" : list)])))
    let answer = try await couch.database.openRevisions(
      DocumentID("a"), named, DocumentQuery(query([("revs_info", "true")])))
    let parts = try await Self.parts(answer, of: couch)
    #expect(parts.count >= 3)
    #expect(parts.allSatisfy { $0.count < CouchLimits.answerPartBytes + 200_000 })
    let root = try ParsedJSON(parts.reduce(into: [], +=), limits: .database).root
    let found = root.elements.map { $0["ok"]?["_rev"]?.string ?? $0["missing"]?.string ?? "" }
    #expect(found == asked)
  }

  /// A part of another database would look like the rest of the first.
  @Test func databaseOfTheSameNameDoesNotGoOnWithTheAnswer() async throws {
    let (couch, other) = (try await Self.filled(), try await Self.filled())
    let rest = try #require(try await couch.all(("include_docs", "true")).rest)
    #expect(await refusal { try await other.database.answer(rest) } == "503 unavailable")
  }

  @Test func partThatThereIsNoMemoryForIsRefused() async throws {
    let couch = try await Self.filled()
    let database = CouchDatabase(
      name: "db", store: couch.store, as: .server, saying: ErrorTable.couchWord,
      reserveAnswer: { $0 < 500_000 })
    let asked = try AllDocumentsQuery(query([("include_docs", "true")]))
    #expect(await refusal { try await database.allDocuments(asked) } == "503 unavailable")
  }

  /// A database with 30 documents of 100 KB.
  private static func filled() async throws -> Couch {
    let couch = try await Couch()
    for number in 0..<30 {
      try await couch.put(id(number), #"{"x":"\#(String(repeating: "y", count: 100_000))"}"#)
    }
    return couch
  }

  private static func id(_ number: Int) -> String { "doc\(number + 10)" }

  private static func parts(_ answer: CouchAnswer, of couch: Couch) async throws -> [[UInt8]] {
    var (parts, rest) = ([answer.body], answer.rest)
    while let next = rest {
      let answer = try await couch.database.answer(next)
      parts.append(answer.body)
      rest = answer.rest
    }
    return parts
  }
}

extension JSONLimits {
  fileprivate static let database = JSONLimits.checked(maximumBytes: 64 << 20, maximumDepth: 70)
}
