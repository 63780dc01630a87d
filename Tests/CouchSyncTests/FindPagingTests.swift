import CouchQuery
import CouchSync
import Documents
import StoreTesting
import Stores
import TestSupport
import Testing

/// Random documents and queries, answered page by page and compared with a plain filter.
struct FindPagingTests {
  private static let values = [
    "null", "true", "-2", "1", "1.0", "2.5", #""""#, #""a""#, #""A""#, #""ä""#, #""e\u0301""#,
    "[1]", "[1,2]", #"{"x":1}"#,
  ]
  private static let types = [#""t""#, #""u""#, "7", #"["t"]"#]
  private static let indexes = [
    #"["a"]"#, #"["b"]"#, #"["a","b"]"#, #"["b","c.d"]"#, #"["c.d","a"]"#, #"["b","_id"]"#,
  ]
  private static let sorts = [
    "[]", "[]", #"["_id"]"#, #"["a"]"#, #"["b"]"#, #"["a","b"]"#, #"["b","c.d"]"#, #"["c.d"]"#,
    #"["type"]"#,
  ]

  private static func document(_ generator: inout SeededGenerator) -> String {
    var members: [String] = []
    for field in ["a", "b"] where Int.random(in: 0..<5, using: &generator) > 0 {
      members.append("\"\(field)\":\(values.randomElement(using: &generator) ?? "1")")
    }
    if Bool.random(using: &generator) {
      members.append(#""c":{"d":\#(values.randomElement(using: &generator) ?? "1")}"#)
    }
    if Bool.random(using: &generator) {
      members.append(#""type":\#(types.randomElement(using: &generator) ?? "1")"#)
    }
    return "{\(members.joined(separator: ","))}"
  }

  private static func condition(_ generator: inout SeededGenerator) -> String {
    let value = values.randomElement(using: &generator) ?? "1"
    let other = values.randomElement(using: &generator) ?? "1"
    let all = [
      value, "{\"$eq\":\(value)}", "{\"$gt\":\(value)}", "{\"$gte\":\(value)}",
      "{\"$lt\":\(value)}", "{\"$lte\":\(value)}", "{\"$gte\":\(value),\"$lt\":\(other)}",
      "{\"$ne\":\(value)}", "{\"$in\":[\(value),\(other)]}", "{\"$exists\":true}",
      "{\"$exists\":false}", "{\"$not\":{\"$gt\":\(value)}}", #"{"$gt":null}"#,
      #"{"$type":"string"}"#, #"{"$beginsWith":"a"}"#,
    ]
    return all.randomElement(using: &generator) ?? "1"
  }

  private static func selector(_ generator: inout SeededGenerator) -> String {
    var members: [String] = []
    for field in ["a", "b", "c.d"] where Int.random(in: 0..<3, using: &generator) > 0 {
      members.append("\"\(field)\":\(condition(&generator))")
    }
    switch Int.random(in: 0..<8, using: &generator) {
    case 0: members.append(#""type":"t""#)
    case 1: members.append(#""type":{"$in":["t","u"]}"#)
    case 2: members.append(#""_id":{"$gt":"d20","$lte":"d50"}"#)
    case 3: members.append(#""_id":{"$in":["d30","D41","d12","x"]}"#)
    case 4:
      members.append(
        "\"$or\":[{\"a\":\(condition(&generator))},{\"b\":\(condition(&generator))}]")
    default: break
    }
    return "{\(members.joined(separator: ","))}"
  }

  /// The ids that a plain filter finds among a store's documents: those that match and have all sort fields.
  private static func expected(
    _ documents: [(id: String, node: JSONNode)], _ selector: String, _ sort: [FieldPath]
  ) throws -> Set<String> {
    let selector = try Selector(json(selector))
    var budget = SelectorBudget()
    var ids: Set<String> = []
    for (id, node) in documents where sort.allSatisfy({ $0.value(in: node) != nil }) {
      if selector.matches(node, &budget) { ids.insert(id) }
    }
    #expect(!budget.isSpent)
    return ids
  }

  /// Reads all pages of a query; nil if there is no index for its order.
  private static func walk(_ couch: Couch, _ query: String, _ limit: Int) async throws
    -> [JSONValue]?
  {
    var all: [JSONValue] = []
    var mark = "nil"
    while true {
      let body = #"{\#(query),"limit":\#(limit),"bookmark":"\#(mark)"}"#
      do {
        let answer = try await couch.find(body).json
        let page = try #require(answer["docs"]?.array)
        let next = try #require(answer["bookmark"]?.string)
        if page.isEmpty { return all }
        all += page
        mark = next
      } catch let error as ServiceError where error.code == .noUsableIndex { return nil }
      try #require(all.count <= 10_000)
    }
  }

  @Test(arguments: 0..<5)
  func walkFindsEveryMatchingDocumentOnceInOrder(seed: Int) async throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let couch = try await Couch()
    var documents: [(id: String, node: JSONNode)] = []
    for number in 10..<60 {
      let id = (number.isMultiple(of: 7) ? "D" : "d") + "\(number)"
      let body = Self.document(&generator)
      let revision = try await couch.put(id, body)
      let rest = body == "{}" ? "}" : "," + body.dropFirst()
      documents.append((id, try json(#"{"_id":"\#(id)","_rev":"\#(revision)"\#(rest)"#)))
    }
    for index in Self.indexes.shuffled(using: &generator).prefix(seed * 2) {
      try await couch.index(#"{"index":{"fields":\#(index)}}"#)
    }
    var (walks, indexed) = (0, 0)
    for _ in 0..<100 {
      let selector = Self.selector(&generator)
      let sort = Self.sorts.randomElement(using: &generator) ?? "[]"
      let isDescending = Bool.random(using: &generator)
      let names = try json(sort).elements.compactMap(\.string)
      let fields = try names.map { try FieldPath($0) }
      let directed = names.map { #"{"\#($0)":"\#(isDescending ? "desc" : "asc")"}"# }
      let query = #""selector":\#(selector),"sort":[\#(directed.joined(separator: ","))]"#
      let limit = Int.random(in: 1...9, using: &generator)
      guard let found = try await Self.walk(couch, query, limit) else { continue }
      walks += 1
      if try await couch.explain("{\(query)}")["index"]?["type"] == "json" { indexed += 1 }
      let ids = found.compactMap { $0["_id"]?.string }
      let wanted = try Self.expected(documents, selector, fields)
      #expect(ids.count == wanted.count, "\(query)")
      #expect(Set(ids) == wanted, "\(query)")
      let whole = try await Self.walk(couch, query, 1_000) ?? []
      #expect(whole.compactMap { $0["_id"]?.string } == ids, "\(query)")
      try Self.expectOrder(found, fields, isDescending, query)
    }
    #expect(walks > 30)
    #expect(seed < 2 || indexed > 25)
  }

  @Test(arguments: ["asc", "desc"])
  func manyDocumentsWithOneKeyAreWalkedOnce(direction: String) async throws {
    let couch = try await Couch()
    try await couch.index(#"{"index":{"fields":["n"]}}"#)
    let ids = (10_000..<10_000 + QueryLimits.pageEntries + 300).map { "d\($0)" }
    let documents = ids.map { #"{"_id":"\#($0)","n":1}"# }.joined(separator: ",")
    _ = try await couch.bulk(#"{"docs":[\#(documents)]}"#)
    let query = #""selector":{"n":1},"sort":[{"n":"\#(direction)"}],"fields":["_id"]"#
    for limit in [900, 10_000] {
      let found = try await Self.walk(couch, query, limit) ?? []
      let walked = found.compactMap { $0["_id"]?.string }
      #expect(walked == (direction == "asc" ? ids : ids.reversed()))
    }
  }

  private static func expectOrder(
    _ found: [JSONValue], _ fields: [FieldPath], _ isDescending: Bool, _ query: String
  ) throws {
    let nodes = try found.map { try CouchBody.object($0.bytes) }
    for (left, right) in zip(nodes, nodes.dropFirst()) {
      for field in fields {
        let one = try #require(field.value(in: left))
        let other = try #require(field.value(in: right))
        let order = field.text == "_id" ? byBytes(one, other) : JSONCollation.compare(one, other)
        #expect(isDescending ? order >= 0 : order <= 0, "\(query)")
        if order != 0 { break }
      }
    }
  }

  private static func byBytes(_ left: JSONNode, _ right: JSONNode) -> Int {
    let (left, right) = (left.string ?? "", right.string ?? "")
    return left.equalsBytes(of: right) ? 0 : left.precedesBytes(of: right) ? -1 : 1
  }
}
