import CouchSync
import Documents
import Stores
import Testing

/// Pages of `_changes` in both directions, and their `pending` counts.
struct ChangesWalkTests {
  /// Documents 0 to 1,199. Every tenth was changed afterwards.
  private func long() async throws -> Couch {
    let couch = try await Couch()
    let docs = (0..<1_200).map { #"{"_id":"\#($0)"}"# }.joined(separator: ",")
    _ = try await couch.bulk(#"{"docs":[\#(docs)]}"#)
    for number in stride(from: 0, to: 1_200, by: 10) {
      let revision = try await couch.get("\(number)").json["_rev"]?.string
      try await couch.put("\(number)", #"{"changed":true}"#, rev: revision)
    }
    return couch
  }

  /// Every page of an answer.
  private func pages(
    _ couch: Couch, _ parameters: [(String, String)], body: String? = nil
  ) async throws -> [ChangesPage] {
    var query = try ChangesQuery(query(parameters), body: body.map(json))
    var pages = [try await couch.database.changes(query)]
    while let page = pages.last, !page.isComplete, pages.count < 100 {
      query = query.after(page)
      pages.append(try await couch.database.changes(query))
    }
    return pages
  }

  @Test(arguments: [nil, 1, 7, 499, 500, 501, 1_000, 1_199, 1_200, 5_000])
  func theWayDownIsTheWayUpReversed(limit: Int?) async throws {
    let couch = try await long()
    let up = try await pages(couch, []).flatMap { $0.values }
    var parameters = [("descending", "true")]
    if let limit { parameters.append(("limit", "\(limit)")) }
    let down = try await pages(couch, parameters)
    #expect(down.flatMap { $0.values } == Array(up.reversed().prefix(limit ?? .max)))
    #expect(down.last?.isComplete == true)
    #expect(down.last?.pending == max(0, 1_200 - (limit ?? 1_200)))
  }

  @Test func filtersHoldOnTheWayDown() async throws {
    let couch = try await long()
    let body = #"{"doc_ids":["3","10","1100","77"]}"#
    let given = [("filter", "_doc_ids"), ("descending", "true")]
    let all = try await pages(couch, given, body: body)
    #expect(all.map(\.ids) == ["1100 10 77 3"])
    let two = try await pages(couch, given + [("limit", "2")], body: body)
    #expect(two.map(\.ids) == ["1100 10"])
    #expect(two[0].last.text.hasPrefix("1202-"))
    #expect(try await pages(couch, given, body: #"{"doc_ids":["x"]}"#)[0].isComplete)
  }

  @Test(arguments: [1, 100, 500, 999, 1_080, 1_199, 1_200, 1_201])
  func pendingIsExactWhereTheAnswerEnds(limit: Int) async throws {
    let couch = try await long()
    let given = try await pages(couch, [("limit", "\(limit)")])
    let last = try #require(given.last)
    #expect(given.map(\.rows.count).reduce(0, +) == min(limit, 1_200))
    #expect(last.pending == max(0, 1_200 - limit))
    let rest = try await pages(couch, [("since", last.last.text)])
    #expect(rest.map(\.rows.count).reduce(0, +) == last.pending)
    #expect(rest.last?.pending == 0)
  }

  @Test func pendingCountsWhatTheFilterPassesOver() async throws {
    let couch = try await long()
    let body = #"{"doc_ids":["1","2","3"]}"#
    let page = try await pages(couch, [("filter", "_doc_ids"), ("limit", "2")], body: body)[0]
    #expect(page.ids == "1 2")
    #expect(page.pending == 1_198)
    let none = try await pages(couch, [("limit", "0"), ("since", page.last.text)])[0]
    #expect(none.pending == 1_198)
    #expect(none.last == page.last)
  }

  @Test func theLastPageTellsOfWritersThatCameMeanwhile() async throws {
    let couch = try await long()
    var query = try ChangesQuery(query([]))
    let first = try await couch.database.changes(query)
    #expect(!first.isComplete)
    #expect(first.pending >= 200)
    try await couch.put("later")
    query = query.after(first)
    let second = try await couch.database.changes(query)
    #expect(second.isComplete)
    #expect(second.pending == 1)
    #expect(try await couch.database.changes(query.later(than: second)).ids == "later")
  }
}
