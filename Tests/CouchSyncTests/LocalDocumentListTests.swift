import CouchSync
import Documents
import StoreTesting
import Stores
import Testing

struct LocalDocumentListTests {
  /// Five local documents of clients, one of the service itself, and a normal document.
  private func filled() async throws -> Couch {
    let couch = try await Couch()
    for name in ["c", "a", "e", "b", "d"] {
      let id = try LocalID(client: "_local/\(name)")
      _ = try await couch.database.putLocal(id, LocalWrite(json(#"{"n":"\#(name)"}"#)))
    }
    try await couch.store.update { changes in
      let note = LocalDocument(revision: 1, body: Array("secret".utf8))
      changes.write(LocalEdit(LocalID(receipt: "note"), note))
    }
    try await couch.put("document")
    return couch
  }

  private func list(
    _ couch: Couch, _ parameters: [(String, String)], body: String? = nil
  ) async throws -> CouchAnswer {
    try await couch.database.allDocuments(
      AllDocumentsQuery(query(parameters), body: body.map(json), scope: .locals))
  }

  @Test func clientsLocalDocumentsComeInByteOrderUncounted() async throws {
    let couch = try await Couch()
    #expect(
      try await list(couch, []).text == #"{"total_rows":null,"offset":null,"rows":["# + "\n]}")
    let id = try LocalID(client: "_local/x")
    _ = try await couch.database.putLocal(id, LocalWrite(json(#"{"n":1}"#)))
    #expect(
      try await list(couch, [("include_docs", "true")]).text
        == """
        {"total_rows":null,"offset":null,"rows":[
        {"id":"_local/x","key":"_local/x","value":{"rev":"0-1"},"doc":{"_id":"_local/x","_rev":"0-1","n":1}}
        ]}
        """)
  }

  @Test(
    arguments: [
      ([], "a b c d e"), ([("descending", "true")], "e d c b a"), ([("limit", "2")], "a b"),
      ([("limit", "0")], ""), ([("skip", "3")], "d e"), ([("skip", "1"), ("limit", "1")], "b"),
      ([("startkey", "\"_local/b\"")], "b c d e"), ([("endkey", "\"_local/b\"")], "a b"),
      ([("endkey", "\"_local/b\""), ("inclusive_end", "false")], "a"),
      (
        [
          ("startkey", "\"_local/d\""), ("endkey", "\"_local/b\""), ("descending", "true"),
          ("inclusive_end", "false"),
        ], "d c"
      ),
      ([("key", "\"_local/c\"")], "c"), ([("key", "\"c\"")], ""),
      ([("key", "\"receipt/note\"")], ""),
      ([("startkey", "\"a\"")], ""), ([("startkey", "{}")], "a b c d e"),
      ([("endkey", "null")], ""),
      ([("startkey", "\"A\"")], "a b c d e"), ([("endkey", "\"z\"")], "a b c d e"),
    ] as [([(String, String)], String)])
  func rangeGivesItsRows(parameters: [(String, String)], names: String) async throws {
    let rows = try #require(
      try await list(filled(), parameters).json["rows"]?.array)
    let ids = rows.compactMap { $0["id"]?.string }
    #expect(ids == names.split(separator: " ").map { "_local/\($0)" })
  }

  @Test func keysOfLocalDocumentsGiveOneRowEachAndNoOthers() async throws {
    let keys = #"["_local/c","_local/x","receipt/note","document",7,"_local/a"]"#
    let answer = try await list(filled(), [], body: #"{"keys":\#(keys)}"#)
    let rows = try #require(answer.json["rows"]?.array)
    #expect(rows[0] == ["id": "_local/c", "key": "_local/c", "value": ["rev": "0-1"]])
    #expect(rows[1] == ["key": "_local/x", "error": "not_found"])
    #expect(rows[2]["id"] == "_local/a")
    #expect(rows.count == 3)
  }

  @Test func updateSequenceIsToldOnRequest() async throws {
    let couch = try await filled()
    #expect(
      try await list(couch, [("update_seq", "true")]).json["update_seq"]?.string
        == couch.token(1))
  }
}
