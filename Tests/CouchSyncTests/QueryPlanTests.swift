import Documents
import Stores
import Testing

struct QueryPlanTests {
  private func couch(_ indexes: (name: String, fields: String)...) async throws -> Couch {
    let couch = try await Couch()
    for (name, fields) in indexes {
      try await couch.index(#"{"index":{"fields":\#(fields)},"ddoc":"\#(name)","name":"n"}"#)
    }
    return couch
  }

  /// The design document of the chosen index, or a built-in index's name; `none` if no index is chosen.
  private func chosen(_ couch: Couch, _ request: String) async throws -> String {
    let index = try await couch.explain(request)["index"]
    return index?["ddoc"]?.string?.split(separator: "/").last.map(String.init)
      ?? index?["name"]?.string ?? "none"
  }

  @Test(
    arguments: [
      (#"{"a":1}"#, "a"), (#"{"a":1,"b":2}"#, "ab"), (#"{"a":1,"b":{"$gt":2}}"#, "ab"),
      (#"{"a":{"$gt":1},"b":2}"#, "ab"), (#"{"b":2}"#, "_all_docs"),
      (#"{"a":1,"b":2,"c":3}"#, "abc"), (#"{"a":1,"c":2}"#, "a"), (#"{"a":{"$gt":1},"c":1}"#, "a"),
      (#"{"a":{"$exists":true}}"#, "a"), (#"{"a":{"$exists":false}}"#, "_all_docs"),
      (#"{"a":{"$ne":1}}"#, "a"), (#"{"$or":[{"a":1},{"a":3}]}"#, "a"),
      (#"{"$or":[{"a":1},{"b":3}]}"#, "_all_docs"), (#"{"$and":[{"a":1},{"b":{"$lt":3}}]}"#, "ab"),
      ("{}", "_all_docs"), (#"{"type":"t"}"#, "type"), (#"{"type":{"$in":["t"]}}"#, "_all_docs"),
      (#"{"type":"t","a":{"$gt":1}}"#, "a"), (#"{"type":"t","a":{"$exists":true}}"#, "a"),
      (#"{"a":{"$exists":true},"b":{"$gt":1}}"#, "ab"),
      (#"{"a":{"$gt":1},"b":{"$regex":"x"}}"#, "a"),
      (#"{"a":{"$in":[1]},"c":{"$lt":1}}"#, "c"), (#"{"$or":[]}"#, "a"),
      (#"{"type":7}"#, "_all_docs"), (#"{"_id":"x","a":1}"#, "a"),
      (#"{"a.x":1}"#, "_all_docs"), (#"{"a":{"x":1}}"#, "_all_docs"),
    ])
  func bestIndexIsChosen(selector: String, index: String) async throws {
    let couch = try await couch(
      ("c", #"["c"]"#), ("abc", #"["a","b","c"]"#), ("ab", #"["a","b"]"#), ("a", #"["a"]"#))
    #expect(try await chosen(couch, #"{"selector":\#(selector)}"#) == index)
  }

  @Test func firstNameDecidesAtLast() async throws {
    let couch = try await couch(("z", #"["a"]"#), ("m", #"["a"]"#))
    #expect(try await chosen(couch, #"{"selector":{"a":1}}"#) == "m")
    try await couch.index(#"{"index":{"fields":["a"]},"ddoc":"m","name":"b"}"#)
    #expect(try await couch.explain(#"{"selector":{"a":1}}"#)["index"]?["name"] == "b")
  }

  @Test func idAndRevisionAreInEveryDocument() async throws {
    let couch = try await couch(("i", #"["a","_id"]"#), ("r", #"["b","_rev"]"#))
    #expect(try await chosen(couch, #"{"selector":{"a":1}}"#) == "i")
    #expect(try await chosen(couch, #"{"selector":{"b":1}}"#) == "r")
  }

  @Test(
    arguments: [
      (#"{"selector":{"a":{"$gt":1},"b":{"$exists":true}},"sort":["a"]}"#, "ab"),
      (#"{"selector":{"a":{"$gt":1}},"sort":["a"]}"#, "none"),
      (#"{"selector":{"a":1,"b":{"$gt":1}},"sort":["b"]}"#, "ab"),
      (#"{"selector":{"a":1},"sort":["a","b"]}"#, "ab"),
      (#"{"selector":{"a":1,"b":1},"sort":[{"a":"desc"},{"b":"desc"}]}"#, "ab"),
      (#"{"selector":{},"sort":["a","b"]}"#, "ab"),
      (#"{"selector":{},"sort":["_id"]}"#, "_all_docs"),
      (#"{"selector":{"type":"t"},"sort":["_id"]}"#, "type"),
      (#"{"selector":{"type":"t"},"sort":["type"]}"#, "type"),
      (#"{"selector":{"a":{"$gt":1},"b":{"$gt":1}},"sort":["b"]}"#, "none"),
      (#"{"selector":{"a":1},"sort":["b","a"]}"#, "none"),
      (#"{"selector":{"a":1,"b":1},"sort":["a","c"]}"#, "none"),
      (#"{"selector":{"a":1},"sort":["a"]}"#, "none"),
      (#"{"selector":{"type":{"$gt":"t"}},"sort":["type"]}"#, "none"),
    ])
  func sortNeedsAnIndexInItsOrder(request: String, index: String) async throws {
    let couch = try await couch(("ab", #"["a","b"]"#))
    #expect(try await chosen(couch, request) == index)
    let outcome = await refusal { try await couch.find(request) }
    #expect(outcome == (index == "none" ? "400 no_usable_index" : "none"))
  }

  @Test func missingOrderIsToldInCouchDBsWords() async throws {
    let couch = try await Couch()
    do {
      _ = try await couch.find(#"{"selector":{"a":1},"sort":["a"]}"#)
      Issue.record("The query was answered")
    } catch let error as ServiceError {
      #expect(
        error.reason == "No index exists for this sort, try indexing by the sort fields.")
    }
  }

  @Test func requestedIndexIsUsedWhereItCanBe() async throws {
    let couch = try await couch(("a", #"["a"]"#), ("ab", #"["a","b"]"#))
    for index in [
      #""a""#, #""_design/a""#, #"["a"]"#, #"["a","n"]"#, #""a/n""#, #"["_design/a","n"]"#,
    ] {
      let request = #"{"selector":{"a":1,"b":1},"use_index":\#(index)}"#
      #expect(try await chosen(couch, request) == "a")
      #expect(try await couch.find(request).json["warning"] == nil)
    }
    #expect(try await chosen(couch, #"{"selector":{"a":1,"b":1},"use_index":[]}"#) == "ab")
  }

  @Test func requestedIndexThatCannotBeUsedIsWarnedOf() async throws {
    let couch = try await couch(("a", #"["a"]"#), ("ab", #"["a","b"]"#))
    let one = try await couch.find(#"{"selector":{"a":1},"use_index":"_design/ab"}"#)
    #expect(
      one.json["warning"]
        == "_design/ab was not used because it does not contain a valid index for this query.")
    let two = try await couch.find(#"{"selector":{"a":1},"use_index":["ab","n"]}"#)
    #expect(
      two.json["warning"]
        == "_design/ab, n was not used because it is not a valid index for this query.")
    let both = try await couch.find(#"{"selector":{"c":1},"use_index":"none"}"#)
    #expect(both.json["warning"]?.string?.split(separator: "\n").count == 2)
  }

  @Test func queryThatMustNotFallBackIsRefused() async throws {
    let couch = try await couch(("a", #"["a"]"#))
    let strict = #""allow_fallback":false"#
    for (request, outcome) in [
      (#"{"selector":{"a":1},"use_index":"a",\#(strict)}"#, "none"),
      (#"{"selector":{"b":1},"use_index":"a",\#(strict)}"#, "400 invalid_index"),
      (#"{"selector":{"a":1},"use_index":["a","x"],\#(strict)}"#, "400 invalid_index"),
      (#"{"selector":{"a":1},\#(strict)}"#, "none"),
      (#"{"selector":{"type":"t"},\#(strict)}"#, "none"),
      (#"{"selector":{"b":1},\#(strict)}"#, "400 invalid_index"),
    ] {
      #expect(await refusal { try await couch.find(request) } == outcome, "\(request)")
      #expect(await refusal { try await chosen(couch, request) } == outcome, "\(request)")
    }
  }

  @Test func partialIndexIsUsedOnlyWhereItIsRequested() async throws {
    let couch = try await Couch()
    for (id, n) in [("a", 1), ("b", 2), ("c", 3)] { try await couch.put(id, #"{"n":\#(n)}"#) }
    try await couch.index(
      #"{"index":{"fields":["n"],"partial_filter_selector":{"n":{"$gte":2}}},"ddoc":"p"}"#)
    let selector = #""selector":{"n":{"$gt":0}}"#
    #expect(try await chosen(couch, "{\(selector)}") == "_all_docs")
    #expect(try await couch.found("{\(selector)}") == "a b c")
    #expect(try await chosen(couch, #"{\#(selector),"use_index":"p"}"#) == "p")
    #expect(try await couch.found(#"{\#(selector),"use_index":"p"}"#) == "b c")
  }
}
