import CouchQuery
import CouchSync
import Documents
import Testing

struct ExplainTests {
  @Test func explanationHasCouchDBsMembers() async throws {
    let couch = try await Couch()
    try await couch.index(#"{"index":{"fields":["year"]},"ddoc":"y","name":"y"}"#)
    let answer = try await couch.database.explain(
      FindRequest(
        json(
          #"""
          {"selector":{"year":{"$gt":2010}},"fields":["_id","year"],"sort":[{"year":"asc"}],"limit":2}
          """#)))
    #expect(
      answer.text
        == #"{"dbname":"db","index":{"ddoc":"_design/y","name":"y","type":"json","partitioned":false,"#
        + #""def":{"fields":[{"year":"asc"}]}},"partitioned":false,"selector":{"year":{"$gt":2010}},"#
        + #""opts":{"use_index":[],"bookmark":"nil","limit":2,"skip":0,"sort":{"year":"asc"},"#
        + #""fields":["_id","year"],"partition":"","r":1,"conflicts":false,"stale":false,"#
        + #""update":true,"stable":false,"execution_stats":false,"allow_fallback":true},"limit":2,"#
        + #""skip":0,"fields":["_id","year"],"index_candidates":[{"index":{"ddoc":null,"name":"type","#
        + #""type":"special","def":{"fields":[{"type":"asc"}]}},"analysis":{"usable":false,"#
        + #""reasons":[{"name":"field_mismatch"}],"ranking":1,"covering":null}},{"index":{"ddoc":null,"#
        + #""name":"_all_docs","type":"special","def":{"fields":[{"_id":"asc"}]}},"analysis":"#
        + #"{"usable":false,"reasons":[{"name":"sort_order_mismatch"}],"ranking":1,"covering":null}}],"#
        + #""selector_hints":[{"type":"json","indexable_fields":["year"],"unindexable_fields":[]}],"#
        + #""mrargs":{"include_docs":false,"view_type":"map","reduce":false,"partition":null,"#
        + #""start_key":[2010],"end_key":["<MAX>"],"direction":"fwd","stable":false,"update":true,"#
        + #""conflicts":"undefined"},"covering":true}"#)
  }

  @Test(
    arguments: [
      (#""selector":{"a":1,"b.c":2},"fields":["b.c","_id"]"#, true),
      (#""selector":{"a":{"$or":[1,{"$gt":5}]},"b.c":2,"_id":{"$gt":"x"}},"fields":["a"]"#, true),
      (#""selector":{"a":1,"b.c":2},"fields":["a"],"sort":["a"],"r":3"#, true),
      (#""selector":{"a":1,"b.c":2}"#, false), (#""selector":{"a":1,"b.c":2},"fields":[]"#, false),
      (#""selector":{"a":1,"b.c":2},"fields":["b"]"#, false),
      (#""selector":{"a":1,"b.c":2},"fields":["a.x"]"#, false),
      (#""selector":{"a":1,"b.c":2},"fields":["a","_rev"]"#, false),
      (#""selector":{"a":1,"b.c":2},"fields":["a"],"conflicts":true"#, false),
      (#""selector":{"a":1,"b.c":2,"d":{"$exists":false}},"fields":["a"]"#, false),
      (#""selector":{"a":1,"b.c":2,"b":{"$type":"object"}},"fields":["a"]"#, false),
      (#""selector":{"type":"t"},"fields":["type"]"#, false),
      (#""selector":{"_id":"x"},"fields":["_id"]"#, false),
    ])
  func coveringIsToldWhereTheIndexHasAllFields(query: String, isCovering: Bool) async throws {
    let couch = try await Couch()
    try await couch.index(#"{"index":{"fields":["a","b.c"]}}"#)
    let answer = try await couch.explain("{\(query)}")
    #expect(answer["covering"] == .bool(isCovering))
    #expect(answer["mrargs"]?["include_docs"] == .bool(!isCovering))
  }

  @Test func candidateCoversTheFieldsThatAreAskedFor() async throws {
    let couch = try await Couch()
    for (name, fields) in [("chosen", #"["a","b"]"#), ("less", #"["a"]"#), ("more", #"["a","c"]"#)]
    {
      try await couch.index(#"{"index":{"fields":\#(fields)},"ddoc":"\#(name)"}"#)
    }
    let answer = try await couch.explain(#"{"selector":{"a":1,"b":2},"fields":["a","c"]}"#)
    #expect(answer["covering"] == false)
    let covering = (answer["index_candidates"]?.array ?? []).map { candidate in
      (candidate["index"]?["ddoc"]?.string ?? "", candidate["analysis"]?["covering"] ?? .null)
    }
    #expect(covering.map(\.0) == ["_design/more", "_design/less", "", ""])
    #expect(covering.map(\.1) == [true, false, .null, .null])
  }

  @Test(
    arguments: [
      (#""selector":{"a":1,"b":2}"#, #"[1,2]"#, #"[1,2,"<MAX>"]"#, "fwd"),
      (#""selector":{"a":1,"b":{"$gte":2,"$lt":5}}"#, "[1,2]", #"[1,5,"<MAX>"]"#, "fwd"),
      (#""selector":{"a":1,"b":{"$lt":5}},"sort":[{"b":"desc"}]"#, #"[1,5,"<MAX>"]"#, "[1]", "rev"),
      (#""selector":{"a":{"$exists":true},"b":1}"#, "[]", #"["<MAX>"]"#, "fwd"),
      (#""selector":{"a":5,"b":{"$gt":2,"$lt":1}}"#, "null", "null", "fwd"),
      (#""selector":{"c":1}"#, "null", #""<MAX>""#, "fwd"),
      (#""selector":{"c":1},"sort":[{"_id":"desc"}]"#, #""<MAX>""#, "null", "rev"),
      (#""selector":{"_id":{"$gt":"x"}}"#, #""x""#, #""<MAX>""#, "fwd"),
      (#""selector":{"_id":{"$in":["z","x"]}}"#, #""x""#, #""z""#, "fwd"),
      (#""selector":{"type":"t"}"#, #""t""#, #""t""#, "fwd"),
    ])
  func rangeIsShown(query: String, start: String, end: String, direction: String) async throws {
    let couch = try await Couch()
    try await couch.index(#"{"index":{"fields":["a","b"]}}"#)
    let arguments = try await couch.explain("{\(query)}")["mrargs"]
    #expect(arguments?["start_key"]?.bytes == Array(start.utf8))
    #expect(arguments?["end_key"]?.bytes == Array(end.utf8))
    #expect(arguments?["direction"]?.string == direction)
  }

  @Test func candidatesTellWhyTheyWereNotChosen() async throws {
    let couch = try await Couch()
    for (name, fields, filter) in [
      ("chosen", #"["a","b"]"#, "{}"), ("later", #"["a","b"]"#, "{}"), ("less", #"["a"]"#, "{}"),
      ("more", #"["a","b","c"]"#, "{}"), ("other", #"["x"]"#, "{}"),
      ("partial", #"["a"]"#, #"{"a":1}"#),
    ] {
      try await couch.index(
        #"""
        {"index":{"fields":\#(fields),"partial_filter_selector":\#(filter)},"ddoc":"\#(name)"}
        """#)
    }
    let query = #""selector":{"a":1,"b":2,"c":{"$size":1}}"#
    #expect(
      try await verdicts(couch, "{\(query)}") == [
        "partial": "false is_partial 6", "other": "false field_mismatch 5",
        "more": "true too_many_fields 2", "less": "true less_overlap 3",
        "later": "true alphabetically_comes_after 1", "type": "false field_mismatch 5",
        "_all_docs": "true unfavored_type 4",
      ])
    let requested = try await verdicts(couch, #"{\#(query),"use_index":"less"}"#)
    #expect(requested["chosen"] == "true excluded_by_user 1")
    #expect(requested["less"] == nil)
  }

  private func verdicts(_ couch: Couch, _ request: String) async throws -> [String: String] {
    var verdicts: [String: String] = [:]
    for candidate in try await couch.explain(request)["index_candidates"]?.array ?? [] {
      let name = candidate["index"]?["ddoc"]?.string?.split(separator: "/").last.map(String.init)
      let analysis = try #require(candidate["analysis"])
      let reason = analysis["reasons"]?.array?.first?["name"]?.string ?? ""
      verdicts[name ?? candidate["index"]?["name"]?.string ?? ""] =
        "\(analysis["usable"] == true) \(reason) \(analysis["ranking"]?.int ?? 0)"
    }
    return verdicts
  }

  @Test func queryWithoutAnIndexIsExplained() async throws {
    let couch = try await Couch()
    let answer = try await couch.explain(
      #"{"selector":{"a":1,"$or":[{"b":1},{"c":{"$ne":2}}]},"sort":["a"]}"#)
    #expect(answer["index"] == .null)
    #expect(answer["mrargs"] == nil)
    #expect(
      answer["selector_hints"] == [
        ["type": "json", "indexable_fields": ["a"], "unindexable_fields": ["b", "c"]]
      ])
  }

  @Test func explainingBuildsNothing() async throws {
    let couch = try await Couch()
    try await couch.put("a", #"{"n":1}"#)
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    _ = try await couch.explain(#"{"selector":{"n":1}}"#)
    #expect(try await couch.builtIndexes() == 0)
  }
}
