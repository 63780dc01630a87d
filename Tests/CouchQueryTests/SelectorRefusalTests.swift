import CouchQuery
import Stores
import Testing

struct SelectorRefusalTests {
  private func refused(_ selector: String) -> String {
    refusal { try Selector(json(selector)) }
  }

  @Test(arguments: ["[]", "null", "1", #""a""#, "true", #"[{"a":1}]"#])
  func selectorIsAnObject(selector: String) {
    #expect(refused(selector) == "invalidSelectorJSON")
  }

  @Test(
    .bug(id: "J12"),
    arguments: [
      #"{"a":{"$foo":1}}"#, #"{"$foo":1}"#, #"{"a":{"$":1}}"#, #"{"a":{"b":{"$Eq":1}}}"#,
      #"{"$and":[{"a":{"$bar":1}}]}"#, #"{"a":{"$elemMatch":{"$bar":1}}}"#,
      #"{"$default":{"$text":1}}"#,
      #"{"a":{"$beginsWith":1}}"#, #"{"a":{"$beginsWith":null}}"#, #"{"$nor\u0000":[]}"#,
    ])
  func unknownOperatorIsRefused(selector: String) {
    #expect(refused(selector) == "invalidOperator")
  }

  @Test(
    .bug(id: "J12"),
    arguments: [
      #"{"$or":{"length":1,"0":{"a":1}}}"#, #"{"$and":{"a":1}}"#, #"{"$nor":"a"}"#,
      #"{"$or":null}"#,
      #"{"$not":[]}"#, #"{"$not":1}"#, #"{"a":{"$in":{"0":1,"length":1}}}"#, #"{"a":{"$in":1}}"#,
      #"{"a":{"$nin":"x"}}"#, #"{"a":{"$all":1}}"#, #"{"a":{"$exists":1}}"#,
      #"{"a":{"$exists":null}}"#,
      #"{"a":{"$type":1}}"#, #"{"a":{"$size":-1}}"#, #"{"a":{"$size":1.0}}"#,
      #"{"a":{"$size":"1"}}"#,
      #"{"a":{"$size":-99999999999999999999}}"#, #"{"a":{"$mod":[0,1]}}"#, #"{"a":{"$mod":[2]}}"#,
      #"{"a":{"$mod":[2,1,0]}}"#, #"{"a":{"$mod":[2.0,1]}}"#, #"{"a":{"$mod":[2,1e0]}}"#,
      #"{"a":{"$mod":2}}"#, #"{"a":{"$mod":["2",1]}}"#, #"{"a":{"$mod":[9223372036854775808,1]}}"#,
      #"{"a":{"$regex":1}}"#, #"{"a":{"$regex":"("}}"#, #"{"a":{"$regex":"[a"}}"#,
      #"{"a":{"$elemMatch":[]}}"#, #"{"a":{"$elemMatch":1}}"#, #"{"a":{"$allMatch":"x"}}"#,
      #"{"a":{"$keyMapMatch":null}}"#, #"{"a":{"$elemMatch":{"$or":{"b":1}}}}"#,
    ])
  func wrongArgumentIsRefused(selector: String) {
    #expect(refused(selector) == "invalidArgument")
  }

  @Test(arguments: ["$text", "$where", "$geoWithin", "$geoIntersects", "$near", "$nearSphere"])
  func operatorsThatCouchDBLacksAreRefusedByName(name: String) {
    #expect(refused(#"{"a":{"\#(name)":"x"}}"#) == "notSupported")
  }

  @Test(arguments: [
    #"{"$gt":1}"#, #"{"$not":{"$eq":1}}"#, #"{"":1}"#, #"{"$elemMatch":{"a":1}}"#, #"{"a":{"":1}}"#,
    #"{"$not":{}}"#, #"{"":{"$eq":1}}"#,
  ])
  func conditionNeedsAField(selector: String) {
    #expect(refused(selector) == "invalidSelector")
  }

  @Test(arguments: [#"{"a..b":1}"#, #"{"a.":1}"#, #"{".a":1}"#, #"{"a":{"b.":1}}"#, #"{"a\\":1}"#])
  func fieldNeedsItsNames(selector: String) {
    #expect(refused(selector) == "invalidFieldName")
  }

  @Test(
    arguments: [
      ("a(?=b)", "look-ahead"), ("(?<!a)b", "look-behind"), (#"(a)\\1"#, "a back-reference"),
      ("(?>a)b", "an atomic group"), ("a++b", "a possessive quantifier"), (#"a\\Z"#, #"\Z"#),
    ] as [(String, String)])
  func constructThatRE2LacksIsNamed(pattern: String, name: String) throws {
    let error = #expect(throws: ServiceError.self) {
      try Selector(json(#"{"a":{"$not":{"$regex":"\#(pattern)"}}}"#))
    }
    #expect(error?.code == .invalidSelector)
    #expect(error?.reason.contains("has \(name), which is not supported") == true)
  }

  @Test func expressionsShareTheirMemoryAndSize() async throws {
    #expect(refused(#"{"a":{"$regex":"(\\pL{9}){9}"}}"#) == "invalidSelector")
    #expect(refused(#"{"a":{"$regex":"[^a]{500}"}}"#) == "none")
    let many = [String](repeating: #"{"a":{"$regex":"[^a]{90}"}}"#, count: 10)
    #expect(refused(#"{"$nor":[\#(many.prefix(9).joined(separator: ","))]}"#) == "none")
    let more = many.joined(separator: ",")
    #expect(refused(#"{"$nor":[\#(more)]}"#) == "invalidSelector")
    let words = [String](repeating: #"{"a":{"$regex":"(?i)hotel .*bar$"}}"#, count: 30)
    #expect(refused(#"{"$nor":[\#(words.joined(separator: ","))]}"#) == "none")
  }

  @Test func reasonNamesTheOperatorAndItsArgument() throws {
    let long = String(repeating: "a", count: 10_000)
    for (selector, reason) in [
      (#"{"$or":{"a":1}}"#, #"Bad argument for operator $or: {"a":1}"#),
      (#"{"a":{"$foo":1}}"#, "Invalid operator: $foo"),
      (#"{"a":{"$where":1}}"#, "Unsupported operator: $where"),
      ("[1]", "Selector must be a JSON object, not: [1]"),
      (
        #"{"$or":"\#(long)"}"#,
        "Bad argument for operator $or: \"" + String(repeating: "a", count: 99) + "…"
      ),
    ] {
      let error = #expect(throws: ServiceError.self) { try Selector(json(selector)) }
      #expect(error?.reason == reason)
    }
  }

  @Test(.bug(id: "J12"), arguments: [(16, "none"), (17, "badRequest")] as [(Int, String)])
  func depthIsLimited(depth: Int, outcome: String) {
    func nested(_ start: String, _ end: String) -> String {
      String(repeating: start, count: depth - 1) + #"{"a":1}"#
        + String(repeating: end, count: depth - 1)
    }
    #expect(refused(nested(#"{"$not":"#, "}")) == outcome)
    #expect(refused(nested(#"{"$and":["#, "]}")) == outcome)
    #expect(refused(nested(#"{"a":"#, "}")) == outcome)
    #expect(
      refused(#"{"a":"# + nested(#"{"$elemMatch":"#, "}") + "}") == "badRequest")
  }

  @Test(.bug(id: "J12"), arguments: [(128, "none"), (129, "badRequest")] as [(Int, String)])
  func nodesAreLimited(count: Int, outcome: String) {
    let fields = (0..<count).map { #""f\#($0)":1"# }.joined(separator: ",")
    #expect(refused("{\(fields)}") == outcome)
    let clauses = (1..<count).map { #"{"f":\#($0)}"# }.joined(separator: ",")
    #expect(refused(#"{"$or":[\#(clauses)]}"#) == outcome)
    let values = (1..<count).map(String.init).joined(separator: ",")
    #expect(refused(#"{"$or":[\#(values)]}"#) == outcome)
    let empty = [String](repeating: "{}", count: count - 1).joined(separator: ",")
    #expect(refused(#"{"$or":[\#(empty)]}"#) == outcome)
  }

  @Test(arguments: [(0, "none"), (1, "badRequest")] as [(Int, String)])
  func listsAndPatternsAreLimited(more: Int, outcome: String) {
    let values = (0..<SelectorLimits.values + more - 1).map(String.init).joined(separator: ",")
    #expect(refused(#"{"a":{"$in":[\#(values)]},"b":{"$all":[1]}}"#) == outcome)
    let pattern = String(repeating: "a", count: SelectorLimits.patternUnits + more - 1)
    #expect(refused(#"{"a":{"$regex":"\#(pattern)"},"b":{"$regex":"x"}}"#) == outcome)
  }

  /// The selector, its member and the list are three of them.
  @Test(arguments: [(0, "none"), (1, "badRequest")] as [(Int, String)])
  func valuesInsideOfOperandsAreLimited(more: Int, outcome: String) {
    let count = SelectorLimits.allValues - 2 + more
    let values = [String](repeating: "1", count: count).joined(separator: ",")
    #expect(refused(#"{"a":[\#(values)]}"#) == outcome)
    #expect(refused(#"{"a":{"$gt":[\#(values.dropLast(2))]}}"#) == outcome)
  }
}
