import CouchSync
import Documents
import Stores
import Testing

struct ChangesTests {
  private func five() async throws -> Couch {
    let couch = try await Couch()
    for id in ["a", "b", "c"] { try await couch.put(id) }
    let revision = try await couch.put("b", #"{"x":1}"#, rev: couch.get("b").json["_rev"]?.string)
    try await couch.delete("b", rev: revision)
    return couch
  }

  @Test func everyDocumentHasOneRowAtItsLastChange() async throws {
    let couch = try await five()
    let page = try await couch.changes()
    #expect(page.ids == "a c b")
    #expect(page.isComplete)
    #expect(page.pending == 0)
    #expect(page.last.text == (try await couch.token(5)))
    let row = try #require(page.values.last)
    #expect(row["seq"]?.string == page.last.text)
    #expect(row["deleted"] == true)
    #expect(row["changes"]?.array?.count == 1)
    #expect(page.values.first?["deleted"] == nil)
  }

  @Test func normalAnswerIsAnObject() async throws {
    let couch = try await Couch()
    #expect(
      try await couch.changes().answer.text
        == "{\"results\":[\n\n],\n\"last_seq\":\"\(try await couch.token(0))\",\"pending\":0}\n")
    let revision = try await couch.put("a")
    let token = try await couch.token(1)
    #expect(
      try await couch.changes().answer.text
        == "{\"results\":[\n{\"seq\":\"\(token)\",\"id\":\"a\",\"changes\":[{\"rev\":\"\(revision)\"}]}"
        + "\n],\n\"last_seq\":\"\(token)\",\"pending\":0}\n")
    #expect(
      String(decoding: try await couch.changes().lastLine, as: UTF8.self)
        == "{\"last_seq\":\"\(token)\",\"pending\":0}\n")
  }

  @Test func pagesJoinWithoutGapOrRepeat() async throws {
    let couch = try await five()
    let first = try await couch.changes(("limit", "1"))
    #expect(first.ids == "a")
    #expect(first.pending > 0)
    let second = try await couch.changes(("limit", "1"), ("since", first.last.text))
    #expect(second.ids == "c")
    let third = try await couch.changes(("since", "\"\(second.last.text)\""))
    #expect(third.ids == "b")
    let fourth = try await couch.changes(("since", third.last.text))
    #expect(fourth.rows.isEmpty)
    #expect(fourth.last == third.last)
  }

  @Test func limitOfZeroTellsWhatIsPending() async throws {
    let couch = try await five()
    let page = try await couch.changes(("limit", "0"))
    #expect(page.rows.isEmpty)
    #expect(page.isComplete)
    #expect(page.pending == 3)
    #expect(page.last.text == (try await couch.token(0)))
  }

  @Test func nowIsTheEnd() async throws {
    let couch = try await five()
    let page = try await couch.changes(("since", "now"))
    #expect(page.rows.isEmpty)
    #expect(page.last.text == (try await couch.token(5)))
    try await couch.put("d")
    #expect(try await couch.changes(("since", page.last.text)).ids == "d")
  }

  @Test func styleTellsTheWinnerOrAllLeaves() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "2-b", "1-a")
    try await couch.graft("a", "2-c", "1-a")
    try await couch.graft("a", "3-d", "2-d", "1-a", deleted: true)
    #expect(try await couch.changes().values[0]["changes"] == [["rev": "2-c"]])
    let leaves: JSONValue = [["rev": "2-c"], ["rev": "2-b"], ["rev": "3-d"]]
    let page = try await couch.changes(("style", "all_docs"))
    #expect(page.values[0]["changes"] == leaves)
    #expect(page.values[0]["deleted"] == nil)
  }

  @Test func documentsComeOnRequest() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "1-a", body: #","x":1"#)
    try await couch.graft("a", "1-b", body: #","x":2"#)
    let page = try await couch.changes(("include_docs", "true"), ("conflicts", "true"))
    #expect(
      String(decoding: page.rows.pieces[0], as: UTF8.self)
        .hasSuffix(#""doc":{"_id":"a","_rev":"1-b","_conflicts":["1-a"],"x":2}}"#))
  }

  @Test func descendingWalksDownFromTheEnd() async throws {
    let couch = try await five()
    #expect(try await couch.changes(("descending", "true")).ids == "b c a")
    let page = try await couch.changes(("descending", "true"), ("limit", "1"), ("since", "now"))
    #expect(page.ids == "b")
    #expect(page.isComplete && page.pending == 2)
    let none = try await couch.changes(("descending", "true"), ("limit", "0"))
    #expect(none.rows.isEmpty && none.pending == 3)
  }

  @Test func filterByIDsPassesOverTheOthers() async throws {
    let couch = try await five()
    let body = #"{"doc_ids":["a","x"]}"#
    let page = try await couch.changes(("filter", "_doc_ids"), body: body)
    #expect(page.ids == "a")
    #expect(page.last.text == (try await couch.token(5)))
    #expect(try await couch.changes(("filter", "_doc_ids"), ("doc_ids", #"["c"]"#)).ids == "c")
    #expect(
      try await couch.changes(("filter", "_doc_ids"), ("descending", "true"), body: body).ids == "a"
    )
  }

  @Test func filterByDesignKeepsDesignDocuments() async throws {
    let couch = try await five()
    try await couch.put("_design/d")
    #expect(try await couch.changes(("filter", "_design")).ids == "_design/d")
  }

  /// `other` is a new store with the same name. Its token is one of the earlier store.
  @Test(.bug(id: "J13")) func tokenFromBeforeStartsOver() async throws {
    let (couch, other) = (try await five(), try await five())
    let page = try await couch.changes(("since", try await other.token(5)))
    #expect(page.isRewound)
    #expect(page.ids == "a c b")
    #expect(page.last.text == (try await couch.token(5)))
    #expect(try await couch.changes(("since", try await couch.token(6))).isRewound)
    #expect(try await couch.changes(("since", try await couch.token(5))).isRewound == false)
  }

  @Test(.bug(id: "J13")) func tokenOfAnotherStoreStartsFromTheBeginning() async throws {
    let couch = try await five()
    let own = try await couch.token(3)
    let foreign = "3-\(StoreTag(.system).digits)\(own.suffix(8))"
    for since in [foreign, "3", "3-g1AAAAF9eJzLYWBg"] {
      let all = try await couch.changes(("since", since))
      #expect(all.ids == "a c b" && all.isRewound)
      #expect(all.last.text == (try await couch.token(5)))
    }
    let page = try await couch.changes(("since", foreign), ("last-event-id", own))
    #expect(page.ids == "b")
  }

  @Test func lastEventGoesBeforeSince() throws {
    let parameters = query([("since", "now"), ("last-event-id", "0")])
    #expect(try ChangesQuery(parameters).since == .start)
    #expect(try ChangesQuery(parameters, lastEvent: "now").since == .now)
    #expect(throws: ServiceError.self) { try ChangesQuery(parameters, lastEvent: "") }
  }

  @Test(arguments: [
    ([("since", "x")], "400 bad_request"), ([("since", "")], "400 bad_request"),
    ([("style", "x")], "400 query_parse_error"), ([("limit", "-1")], "400 query_parse_error"),
    ([("seq_interval", "0")], "400 bad_request"), ([("seq_interval", "x")], "400 bad_request"),
    ([("filter", "_doc_ids")], "400 bad_request"),
    ([("filter", "_doc_ids"), ("doc_ids", "[1]")], "400 bad_request"),
    ([("filter", "x")], "400 bad_request"), ([("filter", "x/y/z")], "400 bad_request"),
    ([("filter", "_view")], "400 bad_request"),
    ([("filter", "_view"), ("view", "x")], "400 bad_request"),
    ([("filter", "_none")], "400 bad_request"), ([("filter", "_selector")], "400 bad_request"),
    ([("last-event-id", "")], "400 bad_request"),
  ])
  func malformedQueryIsRefused(parameters: [(String, String)], expected: String) async {
    #expect(await refusal { try ChangesQuery(query(parameters)) } == expected)
  }

  @Test(arguments: [
    ("_design/d", "filters", "f", "501 not_implemented"),
    ("_design/d", "filters", "none", "404 not_found"),
    ("_design/d", "views", "f", "404 not_found"), ("_design/e", "filters", "f", "404 not_found"),
  ])
  func filterOfADesignDocumentIsNotRun(
    design: String, kind: String, name: String, expected: String
  ) async throws {
    let couch = try await Couch()
    try await couch.put("_design/d", #"{"filters":{"f":"function () {}"}}"#)
    let function = "\(design.dropFirst(8))/\(name)"
    let parameters =
      kind == "views" ? [("filter", "_view"), ("view", function)] : [("filter", function)]
    let query = try ChangesQuery(query(parameters))
    #expect(await refusal { try await couch.database.changes(query) } == expected)
  }

  @Test(arguments: [false, true])
  func longAnswerComesInPages(descending: Bool) async throws {
    let couch = try await Couch()
    let count = CouchLimits.pageRows + 1
    let docs = (0..<count).map { #"{"_id":"\#($0)"}"# }.joined(separator: ",")
    _ = try await couch.bulk(#"{"docs":[\#(docs)]}"#)
    var query = try ChangesQuery(query([("descending", "\(descending)"), ("seq_interval", "10")]))
    var page = try await couch.database.changes(query)
    #expect(page.rows.count == CouchLimits.pageRows)
    #expect(!page.isComplete)
    // A write during the read belongs to the next answer.
    try await couch.put("later")
    query = query.after(page)
    page = try await couch.database.changes(query)
    #expect(page.ids == (descending ? "0" : "\(count - 1)"))
    #expect(page.isComplete)
    if !descending {
      let later = try await couch.database.changes(query.later(than: page))
      #expect(later.ids == "later")
    }
  }

  @Test func limitHoldsOverAllPages() async throws {
    let couch = try await five()
    let query = try ChangesQuery(query([("limit", "2")]))
    let page = try await couch.database.changes(query)
    #expect(page.ids == "a c")
    #expect(page.isComplete)
    #expect(query.after(page).limit == 0)
  }
}
