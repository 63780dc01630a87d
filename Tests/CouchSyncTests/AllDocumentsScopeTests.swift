import CouchSync
import Documents
import Testing

struct AllDocumentsScopeTests {
  private func full() async throws -> Couch {
    let couch = try await Couch()
    for id in ["A", "_design/a", "_design/b", "_design/c", "z"] { try await couch.put(id) }
    return couch
  }

  private func designs(
    _ couch: Couch, _ parameters: (String, String)...
  ) async throws -> JSONValue {
    let query = try AllDocumentsQuery(query(parameters), scope: .designs)
    return try await couch.database.allDocuments(query).json
  }

  private func ids(_ answer: JSONValue) -> String {
    (answer["rows"]?.array ?? []).compactMap { $0["id"]?.string }.joined(separator: " ")
  }

  @Test func designDocumentsAreListedAlone() async throws {
    let couch = try await full()
    let answer = try await designs(couch)
    #expect(ids(answer) == "_design/a _design/b _design/c")
    #expect(answer["total_rows"] == 3)
    #expect(answer["offset"] == 0)
    #expect(ids(try await designs(couch, ("descending", "true"), ("limit", "1"))) == "_design/c")
    #expect(ids(try await designs(couch, ("startkey", #""_design/b""#))) == "_design/b _design/c")
    #expect(ids(try await designs(couch, ("endkey", #""_design/b""#))) == "_design/a _design/b")
    #expect(ids(try await designs(couch, ("startkey", #""a""#))) == "")
    #expect(ids(try await designs(couch, ("endkey", #""A""#))) == "")
    #expect(ids(try await designs(couch, ("key", #""_design/b""#))) == "_design/b")
    let keys = try await designs(couch, ("keys", #"["z",1,"_local/x","_design/x","_design/a"]"#))
    #expect(keys["rows"]?.array?.map { $0["key"] } == ["_design/x", "_design/a"])
    #expect(keys["rows"]?.array?.first?["error"] == "not_found")
    #expect(ids(keys) == "_design/a")
  }

  @Test func severalQueriesAreAnsweredInOrder() async throws {
    let couch = try await full()
    let body = try json(#"{"queries":[{"keys":["z"]},{"limit":1},{"startkey":"z","skip":1}]}"#)
    let queries = try AllDocumentsQuery.list(body, scope: .everything)
    let answer = try await couch.database.allDocuments(queries).json
    #expect(answer["results"]?.array?.map(ids) == ["z", "A", ""])
    let scoped = try AllDocumentsQuery.list(body, scope: .designs)
    let designs = try await couch.database.allDocuments(scoped).json
    #expect(designs["results"]?.array?.map(ids) == ["", "_design/a", ""])
  }

  /// In CouchDB a list of one key is a `key` in this request, and in `_all_docs` it is a list.
  @Test func listOfOneKeyIsAKeyAmongSeveralQueries() async throws {
    let couch = try await Couch()
    let revision = try await couch.put("b")
    let body = try json(#"{"queries":[{"keys":["a"]},{"keys":["b"]},{"keys":["b","a"]}]}"#)
    let queries = try AllDocumentsQuery.list(body, scope: .everything)
    let row = #"{"id":"b","key":"b","value":{"rev":"\#(revision)"}}"#
    #expect(
      try await couch.database.allDocuments(queries).text
        == """
        {"results":[{"total_rows":1,"offset":0,"rows":[
        ]},{"total_rows":1,"offset":0,"rows":[
        \(row)
        ]},{"total_rows":1,"offset":null,"rows":[
        \(row),
        {"key":"a","error":"not_found"}
        ]}]}
        """)
  }

  @Test(arguments: ["{}", #"{"queries":{}}"#, #"{"queries":[1]}"#])
  func malformedQueriesAreRefused(body: String) async {
    #expect(
      await refusal { try AllDocumentsQuery.list(json(body), scope: .everything) }
        == "400 bad_request")
  }

  @Test func queriesAreCounted() async {
    let queries = { (count: Int) in
      #"{"queries":[\#(Array(repeating: "{}", count: count).joined(separator: ","))]}"#
    }
    let limit = CouchLimits.queries
    for (count, expected) in [(limit, "none"), (limit + 1, "413 too_large")] {
      #expect(
        await refusal { try AllDocumentsQuery.list(json(queries(count)), scope: .everything) }
          == expected)
    }
  }
}
