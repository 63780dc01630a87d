import CouchQuery
import CouchSync
import Documents
import Stores
import Testing

struct QueryIndexTests {
  private func list(
    _ couch: Couch, _ parameters: (String, String)...
  ) async throws -> [JSONValue] {
    let answer = try await couch.database.queryIndexes(query(parameters)).json
    return try #require(answer["indexes"]?.array)
  }

  private func delete(_ couch: Couch, _ design: String, _ name: String) async throws {
    let answer = try await couch.database.deleteIndex(design: design, type: "json", name: name)
    #expect(answer.text == #"{"ok":true}"#)
  }

  @Test func freshDatabaseListsAllDocumentsAlone() async throws {
    let couch = try await Couch()
    #expect(
      try await couch.database.queryIndexes().text
        == #"{"total_rows":1,"indexes":[{"ddoc":null,"name":"_all_docs","type":"special","#
        + #""def":{"fields":[{"_id":"asc"}]}}]}"#)
  }

  @Test func definitionIsADesignDocumentAsCouchDBWritesIt() async throws {
    let couch = try await Couch()
    let made = try await couch.index(
      #"""
      {"index":{"fields":["b",{"a.x":"asc"}],"partial_filter_selector":{"c":{"d":1}}},
      "ddoc":"dd","name":"nn","type":"json","partitioned":false,"w":2}
      """#)
    #expect(made == ["result": "created", "id": "_design/dd", "name": "nn"])
    let document = try await couch.get("_design/dd")
    #expect(
      document.text.hasSuffix(
        #","language":"query","views":{"nn":{"map":{"fields":{"b":"asc","a.x":"asc"},"#
          + #""partial_filter_selector":{"c.d":{"$eq":1}}},"reduce":"_count","options":{"def":"#
          + #"{"fields":["b",{"a.x":"asc"}],"partial_filter_selector":{"c":{"d":1}}}}}}}"#))
    let index = try #require(try await list(couch).last)
    #expect(
      String(decoding: index.bytes, as: UTF8.self)
        == #"{"ddoc":"_design/dd","name":"nn","type":"json","partitioned":false,"#
        + #""def":{"fields":[{"b":"asc"},{"a.x":"asc"}],"#
        + #""partial_filter_selector":{"c.d":{"$eq":1}}}}"#)
  }

  @Test func sameDefinitionTwiceIsOneIndex() async throws {
    let couch = try await Couch()
    let body = #"{"index":{"fields":["a","b"]}}"#
    let first = try await couch.index(body)
    let again = try await couch.index(body)
    #expect(first["result"] == "created")
    #expect(again["result"] == "exists")
    #expect(first["id"] == again["id"])
    #expect(first["name"]?.string?.utf8.count == 40)
    #expect(first["id"]?.string == "_design/" + (first["name"]?.string ?? ""))
    let other = try await couch.index(#"{"index":{"fields":["b","a"]}}"#)
    #expect(other["result"] == "created")
    #expect(other["id"] != first["id"])
    #expect(try await list(couch).count == 3)
  }

  @Test func designDocumentThatIsThereIsExtended() async throws {
    let couch = try await Couch()
    try await couch.put("_design/d", #"{"language":"query","note":1.0,"views":{}}"#)
    for name in ["y", "x"] {
      let made = try await couch.index(
        #"{"index":{"fields":["\#(name)"]},"ddoc":"_design/d","name":"\#(name)"}"#)
      #expect(made["result"] == "created")
    }
    let changed = try await couch.index(#"{"index":{"fields":["z","y"]},"ddoc":"d","name":"y"}"#)
    #expect(changed["result"] == "created")
    let document = try await couch.get("_design/d")
    #expect(document.text.contains(#""note":1.0"#))
    #expect(document.json["_rev"]?.string?.hasPrefix("4-") ?? false)
    #expect(try await list(couch).dropFirst(1).map { $0["name"] } == ["x", "y"])
    #expect(try await list(couch).last?["def"]?["fields"] == [["z": "asc"], ["y": "asc"]])
  }

  @Test func designDocumentOfAnotherLanguageIsLeftAlone() async throws {
    let couch = try await Couch()
    try await couch.put("_design/js", #"{"language":"javascript","views":{}}"#)
    let body = #"{"index":{"fields":["a"]},"ddoc":"js"}"#
    #expect(await refusal { try await couch.index(body) } == "400 invalid_ddoc_lang")
  }

  @Test(
    arguments: [
      ("{}", "400 missing_required_key"), (#"{"index":{"fields":["a"]},"x":1}"#, "400 invalid_key"),
      (#"{"fields":["a"]}"#, "400 missing_required_key"), ("[]", "400 bad_request"),
      (#"{"index":{"fields":["a"],"selector":{}}}"#, "400 invalid_key"),
      (#"{"index":5}"#, "400 invalid_index"), (#"{"index":{}}"#, "400 missing_required_key"),
      (#"{"index":{"fields":[]}}"#, "400 invalid_index"),
      (#"{"index":{"fields":["a","a"]}}"#, "400 invalid_index"),
      (#"{"index":{"fields":null}}"#, "400 invalid_sort_json"),
      (#"{"index":{"fields":[2]}}"#, "400 invalid_sort_field"),
      (#"{"index":{"fields":[{"a":"asc"},{"b":"desc"}]}}"#, "400 unsupported_mixed_sort"),
      (#"{"index":{"fields":["a"],"partial_filter_selector":5}}"#, "400 invalid_selector_json"),
      (
        #"{"index":{"fields":["a"],"partial_filter_selector":{"a":{"$x":1}}}}"#,
        "400 invalid_operator"
      ),
      (#"{"index":{"fields":["a"]},"type":"text"}"#, "501 not_implemented"),
      (#"{"index":{"fields":["a"]},"type":"nouveau"}"#, "501 not_implemented"),
      (#"{"index":{"fields":["a"]},"type":"geo"}"#, "400 invalid_index"),
      (#"{"index":{"fields":["a"]},"type":null}"#, "400 invalid_string"),
      (#"{"index":{"fields":["a"]},"name":""}"#, "400 invalid_empty_string"),
      (#"{"index":{"fields":["a"]},"name":5}"#, "400 invalid_string"),
      (#"{"index":{"fields":["a"]},"ddoc":""}"#, "400 invalid_empty_string"),
      (#"{"index":{"fields":["a"]},"ddoc":["x"]}"#, "400 invalid_string"),
      (#"{"index":{"fields":["a"]},"partitioned":true}"#, "400 bad_request"),
      (#"{"index":{"fields":["a"]},"partitioned":1}"#, "400 invalid_partitioned_value"),
      (#"{"index":{"fields":["a"]},"w":0}"#, "400 invalid_pos_integer"),
    ])
  func malformedDefinitionIsRefused(body: String, error: String) async throws {
    let couch = try await Couch()
    #expect(await refusal { try await couch.index(body) } == error)
    #expect(try await list(couch).count == 1)
  }

  @Test func definitionsBeyondTheLimitAreRefused() async throws {
    let couch = try await Couch()
    for number in 0..<QueryLimits.definitions {
      try await couch.index(#"{"index":{"fields":["f\#(number)"]},"ddoc":"d\#(number % 3)"}"#)
    }
    let one = #"{"index":{"fields":["more"]},"ddoc":"d0","name":"n"}"#
    #expect(await refusal { try await couch.index(one) } == "413 too_large")
    let same = try await couch.index(#"{"index":{"fields":["f1"]},"ddoc":"d1"}"#)
    #expect(same["result"] == "exists")
    let name = try #require(same["name"]?.string)
    let replaced = #"{"index":{"fields":["g"]},"ddoc":"d1","name":"\#(name)"}"#
    #expect(try await couch.index(replaced)["result"] == "created")
    try await delete(couch, "d1", name)
    #expect(try await couch.index(one)["result"] == "created")
  }

  @Test func replicatedDefinitionsBeyondTheLimitAreIgnored() async throws {
    let couch = try await Couch()
    for number in 100..<130 {
      try await couch.put(
        "_design/d\(number)",
        #"""
        {"language":"query","views":{"n":{"map":{"fields":{"f\#(number)":"asc"}},"reduce":"_count",
        "options":{"def":{"fields":["f\#(number)"]}}}}}
        """#)
    }
    #expect(try await list(couch).count == 1 + QueryLimits.definitions)
    #expect(try await couch.explain(#"{"selector":{"f100":1}}"#)["index"]?["type"] == "json")
    #expect(try await couch.explain(#"{"selector":{"f129":1}}"#)["index"]?["type"] == "special")
  }

  @Test func malformedDefinitionsAreIgnored() async throws {
    let couch = try await Couch()
    let view =
      #"{"map":{"fields":{"a":"asc"}},"reduce":"_count","options":{"def":{"fields":["a"]}}}"#
    let old = #"{"map":{"fields":{"b":"asc"},"selector":{"x":1}},"options":{}}"#
    try await couch.graft(
      "_design/x", "1-a",
      body: #"""
        ,"language":"query","views":{"good":\#(view),"js":{"map":"function(d){}"},"none":5,"no":{},
        "fields":{"map":{"fields":5},"options":{}},"empty":{"map":{"fields":{}},"options":{}},
        "mixed":{"map":{"fields":{"a":"asc","b":"desc"}},"options":{}},
        "path":{"map":{"fields":{"a..b":"asc"}},"options":{}},
        "filter":{"map":{"fields":{"a":"asc"},"partial_filter_selector":{"$x":1}},"options":{}},
        "old":\#(old)}
        """#)
    for (name, body) in [
      ("js", #""language":"javascript","views":{"good":\#(view)}"#),
      ("z", #""language":"query","views":[1]"#),
      ("zz", #""language":["query"],"views":{"good":\#(view)}"#),
    ] {
      try await couch.graft("_design/\(name)", "1-a", body: "," + body)
    }
    #expect(try await list(couch).dropFirst(1).map { $0["name"] } == ["good", "old"])
    #expect(try await couch.found(#"{"selector":{"a":1}}"#) == "")
  }

  @Test(arguments: [
    (#"{"views":{"a":{"map":{}}}}"#, "`views.a.map` field must have string type"),
    (
      #"{"language":"query","views":{"a":{"map":"f"}}}"#,
      "`views.a.map` field must have object type"
    ),
    (#"{"views":{"a":{"map":"f"},"b":{}}}"#, "View `b` must contain map function"),
    (#"{"views":{"a":5}}"#, "`views.a` field must have object type"),
    (#"{"views":{"a":{"map":"f","reduce":{}}}}"#, "`views.a.reduce` field must have string type"),
    (#"{"views":[]}"#, "`views` field must have object type"),
    (#"{"filters":{"f":5}}"#, "`filters.f` field must have object or string type"),
    (#"{"language":1}"#, "`language` field must have string type"),
    (#"{"options":{"local_seq":1}}"#, "`options.local_seq` field must have boolean type"),
    (#"{"rewrites":{}}"#, "`rewrites` field must have string or array type"),
  ])
  func designDocumentOfAnotherFormIsRefused(body: String, reason: String) async throws {
    let couch = try await Couch()
    do {
      try await couch.put("_design/d", body)
      Issue.record("it was written")
    } catch let error as ServiceError {
      #expect(error.code == .invalidDesign)
      #expect(error.reason == reason)
    }
    let element = #"{"docs":[{"_id":"_design/d",\#(body.dropFirst()),{"_id":"a"}]}"#
    let rows = try await couch.bulk(element).json.array
    #expect(rows?.first?["error"] == "invalid_design_doc" && rows?.last?["ok"] == true)
    // What a peer has is stored.
    try await couch.graft("_design/d", "1-a", body: "," + body.dropFirst().dropLast())
  }

  @Test func listIsPaged() async throws {
    let couch = try await Couch()
    for name in ["a", "b", "c"] {
      try await couch.index(#"{"index":{"fields":["\#(name)"]},"ddoc":"\#(name)","name":"n"}"#)
    }
    #expect(
      try await list(couch, ("limit", "2"), ("skip", "2")).map { $0["ddoc"] } == [
        "_design/b", "_design/c",
      ])
    #expect(try await list(couch, ("skip", "9")).isEmpty)
    let answer = try await couch.database.queryIndexes(query([("limit", "1")])).json
    #expect(answer["total_rows"] == 4)
    #expect(
      await refusal { try await couch.database.queryIndexes(query([("limit", "x")])) }
        == "400 query_parse_error")
  }

  @Test func deletedDefinitionLeavesTheOthers() async throws {
    let couch = try await Couch()
    for name in ["x", "y"] {
      try await couch.index(#"{"index":{"fields":["\#(name)"]},"ddoc":"d","name":"\#(name)"}"#)
    }
    try await delete(couch, "_design/d", "x")
    #expect(try await list(couch).dropFirst(1).map { $0["name"] } == ["y"])
    try await delete(couch, "d", "y")
    #expect(await refusal { try await couch.get("_design/d") } == "404 not_found")
    let again = try await couch.index(#"{"index":{"fields":["x"]},"ddoc":"d","name":"x"}"#)
    #expect(again["result"] == "created")
  }

  @Test func onlyADefinitionCanBeDeleted() async throws {
    let couch = try await Couch()
    try await couch.index(#"{"index":{"fields":["x"]},"ddoc":"d","name":"x"}"#)
    try await couch.put("_design/js", #"{"language":"javascript","views":{"x":{"map":"f"}}}"#)
    for (design, type, name) in [
      ("d", "json", "y"), ("d", "text", "x"), ("e", "json", "x"), ("d", "special", "x"),
      ("js", "json", "x"),
    ] {
      #expect(
        await refusal {
          try await couch.database.deleteIndex(design: design, type: type, name: name)
        } == "404 not_found")
    }
    #expect(try await list(couch).count == 2)
  }

  @Test func severalAreDeletedAtOnce() async throws {
    let couch = try await Couch()
    for name in ["a", "b", "c"] {
      try await couch.index(#"{"index":{"fields":["\#(name)"]},"ddoc":"\#(name)","name":"n"}"#)
    }
    try await couch.index(#"{"index":{"fields":["a2"]},"ddoc":"a","name":"m"}"#)
    let answer = try await couch.database.deleteIndexes(
      json(#"{"docids":["_design/a","nothing","b",""]}"#))
    #expect(
      answer.text
        == #"{"success":[{"id":"_design/a","ok":true},{"id":"_design/b","ok":true}],"#
        + #""fail":[{"id":"_design/nothing","error":"not_found"},{"id":"_design/","#
        + #""error":"illegal_docid"}]}"#)
    #expect(try await list(couch).dropFirst(1).map { $0["ddoc"] } == ["_design/c"])
    for body in [#"{"docids":5}"#, #"{"docids":[1]}"#, #"{"docids":[null]}"#] {
      #expect(
        await refusal { try await couch.database.deleteIndexes(json(body)) }
          == "400 invalid_bulk_docs")
    }
    let many = (0...QueryLimits.bulkDeletes).map { "\"\($0)\"" }.joined(separator: ",")
    #expect(
      await refusal {
        try await couch.database.deleteIndexes(json(#"{"docids":[\#(many)]}"#))
      } == "413 too_large")
  }

  @Test func definitionsReplicate() async throws {
    let (source, target) = (try await Couch(), try await Couch())
    try await source.index(
      #"{"index":{"fields":["n"],"partial_filter_selector":{"n":{"$gt":1}}},"ddoc":"d"}"#)
    for number in 1...3 { try await source.put("d\(number)", #"{"n":\#(number)}"#) }
    _ = try await Replicator(from: source, to: target, id: "r").run()
    let answer = try await target.find(#"{"selector":{"n":{"$gt":null}},"use_index":"d"}"#)
    #expect(answer.found == "d2 d3")
    #expect(answer.json["warning"] == nil)
  }
}
