import CouchSync
import Documents
import Stores
import Testing

struct ChangesSelectorTests {
  private func selected(
    _ couch: Couch, _ selector: String, _ parameters: (String, String)...
  ) async throws -> ChangesPage {
    let query = try ChangesQuery(
      query([("filter", "_selector")] + parameters), body: json(#"{"selector":\#(selector)}"#))
    return try await couch.database.changes(query)
  }

  @Test func selectorPassesOverTheOthers() async throws {
    let couch = try await Couch()
    for (id, kind) in [("a", "hotel"), ("b", "list"), ("c", "hotel"), ("d", "list")] {
      try await couch.put(id, #"{"type":"\#(kind)"}"#)
    }
    let page = try await selected(couch, #"{"type":"hotel"}"#)
    #expect(page.ids == "a c")
    #expect(page.isComplete)
    #expect(page.last.text == (try await couch.token(4)))
    let first = try await selected(couch, #"{"type":"hotel"}"#, ("limit", "1"))
    #expect(first.ids == "a")
    let second = try await selected(couch, #"{"type":"hotel"}"#, ("since", first.last.text))
    #expect(second.ids == "c")
    #expect(try await selected(couch, #"{"type":"x"}"#).last.text == (try await couch.token(4)))
    #expect(try await selected(couch, "{}").ids == "a b c d")
    let down = try await selected(couch, #"{"type":"hotel"}"#, ("descending", "true"))
    #expect(down.ids == "c a")
  }

  @Test func tombstoneMatchesByWhatItSays() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "2-b", "1-a", body: #","type":"hotel""#, deleted: true)
    try await couch.delete("b", rev: couch.put("b", #"{"type":"hotel"}"#))
    #expect(try await selected(couch, #"{"type":"hotel"}"#).ids == "a")
    let page = try await selected(couch, #"{"_deleted":true}"#)
    #expect(page.ids == "a b")
    #expect(page.values[0]["deleted"] == true)
    #expect(try await selected(couch, #"{"_id":{"$gt":"a"}}"#).ids == "b")
  }

  @Test func allLeavesAreMatchedWhereAllAreNamed() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "1-a", body: #","x":1"#)
    try await couch.graft("a", "1-b", body: #","x":2"#)
    #expect(try await selected(couch, #"{"x":1}"#).rows.isEmpty)
    #expect(try await selected(couch, #"{"x":2}"#).values[0]["changes"] == [["rev": "1-b"]])
    let leaf = try await selected(couch, #"{"x":1}"#, ("style", "all_docs"))
    #expect(leaf.values[0]["changes"] == [["rev": "1-a"]])
    let both = try await selected(couch, #"{"x":{"$gt":0}}"#, ("style", "all_docs"))
    #expect(both.values[0]["changes"] == [["rev": "1-b"], ["rev": "1-a"]])
  }

  @Test(
    .bug(id: "J12"),
    arguments: [
      "1", "[]", #"{"$none":1}"#, #"{"a":{"$regex":"("}}"#, #"{"$or":{"length":2}}"#,
    ])
  func malformedSelectorIsRefused(selector: String) async throws {
    let couch = try await Couch()
    #expect(await refusal { try await selected(couch, selector) } == "400 bad_request")
  }

  @Test(.bug(id: "J12")) func patternThatBacktrackingWouldNeverEndIsAnswered() async throws {
    let couch = try await Couch()
    try await couch.put("first")
    try await couch.put("a", #"{"text":"\#(String(repeating: "a", count: 40))b"}"#)
    let page = try await selected(
      couch, #"{"$or":[{"_id":"first"},{"text":{"$regex":"^(a+)+$"}}]}"#)
    #expect(page.ids == "first")
    #expect(page.isComplete)
  }

  @Test func pageEndsAfterManyPassedOver() async throws {
    let couch = try await Couch()
    let text = String(repeating: "x", count: 500_000)
    for number in 0..<12 { try await couch.put("\(number)", #"{"text":"\#(text)"}"#) }
    try await couch.put("last", #"{"type":"hotel"}"#)
    var query = try ChangesQuery(
      query([("filter", "_selector")]), body: json(#"{"selector":{"type":"hotel"}}"#))
    var page = try await couch.database.changes(query)
    #expect(page.rows.isEmpty)
    #expect(!page.isComplete)
    while !page.isComplete {
      query = query.after(page)
      page = try await couch.database.changes(query)
    }
    #expect(page.ids == "last")
  }

  @Test func selectedRowsCarryTheirDocuments() async throws {
    let couch = try await Couch()
    try await couch.put("a", #"{"n":1.0}"#)
    let page = try await selected(couch, #"{"n":1}"#, ("include_docs", "true"))
    #expect(String(decoding: page.rows.pieces[0], as: UTF8.self).hasSuffix(#""n":1.0}}"#))
  }
}
