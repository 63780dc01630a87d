import CouchSync
import Documents
import StoreTesting
import Testing

struct AllDocumentsTests {
  private func alphabet() async throws -> Couch {
    let couch = try await Couch()
    for id in ["c", "a", "e", "b", "d"] { try await couch.put(id, #"{"n":"\#(id)"}"#) }
    let deleted = try await couch.put("bb")
    try await couch.delete("bb", rev: deleted)
    return couch
  }

  /// Scripts such as couchdb-dump replace the first line and drop the last one.
  @Test func rowsStandOnLinesOfTheirOwn() async throws {
    let couch = try await alphabet()
    for body in [nil, #"{"keys":["a","b","a","x"]}"#] {
      let lines = try await couch.all(("include_docs", "true"), body: body).text
        .split(separator: "\n")
      #expect(lines.first?.hasSuffix(#""rows":["#) ?? false)
      #expect(lines.last == "]}")
      let rows = lines.dropFirst().dropLast()
      #expect(rows.count == (body == nil ? 5 : 4))
      #expect(rows.dropLast().allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("},") })
      #expect(rows.last?.hasSuffix("}") ?? false)
    }
  }

  @Test func liveDocumentsComeInByteOrder() async throws {
    let couch = try await Couch()
    let revision = try await couch.put("a")
    #expect(
      try await couch.all().text
        == #"{"total_rows":1,"offset":0,"rows":["#
        + "\n" + #"{"id":"a","key":"a","value":{"rev":"\#(revision)"}}"# + "\n]}")
    for id in ["Z", "é", "_design/x", "z"] { try await couch.put(id) }
    #expect(try await couch.ids() == "Z _design/x a z é")
  }

  @Test(
    arguments: [
      ([("limit", "2")], "a b", 0), ([("limit", "0")], "", 0), ([("skip", "3")], "d e", 3),
      ([("skip", "9")], "", 5), ([("descending", "true")], "e d c b a", 0),
      ([("startkey", "\"b\"")], "b c d e", 1), ([("start_key", "\"bb\"")], "c d e", 2),
      ([("endkey", "\"c\"")], "a b c", 0),
      ([("end_key", "\"c\""), ("inclusive_end", "false")], "a b", 0),
      ([("startkey", "\"b\""), ("endkey", "\"d\""), ("skip", "1"), ("limit", "1")], "c", 2),
      ([("startkey", "\"d\""), ("endkey", "\"b\""), ("descending", "true")], "d c b", 1),
      (
        [
          ("startkey", "\"d\""), ("endkey", "\"b\""), ("descending", "true"),
          ("inclusive_end", "false"),
        ],
        "d c", 1
      ),
      ([("key", "\"c\"")], "c", 2), ([("key", "\"bb\"")], "", 2), ([("key", "\"x\"")], "", 5),
      ([("key", "5")], "", 0), ([("startkey", "null")], "a b c d e", 0),
      ([("endkey", "{}")], "", 0), ([("startkey", "{}")], "a b c d e", 0),
      ([("endkey", "1")], "", 0),
      ([("startkey", "[]"), ("descending", "true")], "", 5),
      ([("startkey_docid", "b"), ("end_key_doc_id", "d"), ("inclusive_end", "false")], "b c", 1),
      ([("startkey", "\"c\""), ("start_key_doc_id", "b")], "c d e", 2),
    ] as [([(String, String)], String, Int)])
  func rangeGivesItsRows(parameters: [(String, String)], ids: String, offset: Int) async throws {
    let couch = try await alphabet()
    let answer = try await couch.database.allDocuments(AllDocumentsQuery(query(parameters)))
    let rows = try #require(answer.json["rows"]?.array)
    #expect(rows.compactMap { $0["id"]?.string }.joined(separator: " ") == ids)
    #expect(answer.json["offset"]?.int == offset)
    #expect(answer.json["total_rows"] == 5)
  }

  @Test func rowsThatAreLeftOutAreNotRead() async throws {
    let couch = try await Couch()
    for number in 100..<400 {
      let revision = try await couch.put("d\(number)")
      if number % 3 == 0 { try await couch.delete("d\(number)", rev: revision) }
    }
    for direction in ["false", "true"] {
      let before = couch.reads.counts.documents
      let query = try AllDocumentsQuery(query([("skip", "195"), ("descending", direction)]))
      let rows = try #require(try await couch.database.allDocuments(query).json["rows"]?.array)
      #expect(
        rows.compactMap { $0["id"]?.string }
          == (direction == "true"
            ? ["d106", "d104", "d103", "d101", "d100"] : ["d392", "d394", "d395", "d397", "d398"]))
      // The read includes tombstones among the rows.
      #expect(couch.reads.counts.documents - before <= 8)
    }
  }

  @Test func keysGiveOneRowEachInOrder() async throws {
    let couch = try await alphabet()
    let answer = try await couch.all(
      ("include_docs", "true"), body: #"{"keys":["d","x","bb",5,"d"]}"#)
    let rows = try #require(answer.json["rows"]?.array)
    #expect(answer.json["offset"] == .null)
    #expect(rows.map { $0["key"] } == ["d", "x", "bb", 5, "d"])
    #expect(rows[0]["doc"]?["n"] == "d")
    #expect(rows[1] == ["key": "x", "error": "not_found"])
    #expect(rows[2]["value"]?["deleted"] == true)
    #expect(rows[2]["doc"] == .null)
    #expect(rows[3] == ["key": 5, "error": "not_found"])
  }

  @Test func keysObeyDirectionSkipAndLimit() async throws {
    let couch = try await alphabet()
    let answer = try await couch.all(
      ("keys", #"["a","b","c","d"]"#), ("descending", "true"), ("skip", "1"), ("limit", "2"))
    #expect(answer.json["rows"]?.array?.map { $0["key"] } == ["c", "b"])
  }

  @Test func documentsComeWithTheirConflicts() async throws {
    let couch = try await Couch()
    try await couch.graft("a", "1-a", body: #","x":1"#)
    try await couch.graft("a", "1-b", body: #","x":2"#)
    let plain = try await couch.all(("include_docs", "true"))
    #expect(plain.text.contains(#""doc":{"_id":"a","_rev":"1-b","x":2}"#))
    let answer = try await couch.all(("include_docs", "true"), ("conflicts", "true"))
    #expect(answer.text.contains(#""doc":{"_id":"a","_rev":"1-b","_conflicts":["1-a"],"x":2}"#))
  }

  @Test func updateSequenceIsToldOnRequest() async throws {
    let couch = try await alphabet()
    #expect(try await couch.all().json["update_seq"] == nil)
    #expect(
      try await couch.all(("update_seq", "true")).json["update_seq"]?.string
        == couch.token(7))
  }

  @Test func queryCountsOverTheBodyOfAPost() async throws {
    let couch = try await alphabet()
    let answer = try await couch.all(("limit", "2"), body: #"{"limit":1,"startkey":"b"}"#)
    #expect(answer.json["rows"]?.array?.compactMap { $0["id"]?.string } == ["b", "c"])
  }

  @Test(arguments: [
    [("startkey", "\"b\""), ("endkey", "\"a\"")], [("endkey", "null")],
    [("startkey", "\"a\""), ("endkey", "\"b\""), ("descending", "true")],
  ])
  func startBehindTheEndHasNoRows(parameters: [(String, String)]) async throws {
    let query = try AllDocumentsQuery(query(parameters))
    let answer = try await alphabet().database.allDocuments(query)
    #expect(answer.json["rows"] == [])
  }

  @Test(arguments: ["key", "startkey", "start_key", "endkey"])
  func besideKeysARangeSaysNothing(name: String) async throws {
    let answer = try await alphabet().all(("keys", #"["b"]"#), (name, #""a""#))
    #expect(answer.json["rows"]?.array?.map { $0["id"] } == ["b"])
  }

  @Test(arguments: [
    ("keys", "{", "bad_request"), ("keys", "{}", "bad_request"), ("startkey", "a", "bad_request"),
    ("limit", "-1", "query_parse_error"), ("skip", "x", "query_parse_error"),
    ("descending", "1", "query_parse_error"),
  ])
  func malformedQueryIsRefusedInCouchDBsWords(name: String, value: String, word: String) async {
    #expect(await refusal { try AllDocumentsQuery(query([(name, value)])) } == "400 " + word)
  }
}
