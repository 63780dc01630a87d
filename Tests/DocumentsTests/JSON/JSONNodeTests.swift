import Documents
import Testing

/// The properties of a node.
@Suite struct JSONNodeTests {
  @Test func kindsAreToldApart() throws {
    let root = try JSONReading.root("[null,true,false,1,\"s\",[],{}]")
    #expect(root.elements.map(\.kind) == [.null, .bool, .bool, .number, .string, .array, .object])
    #expect(root.elements.map(\.isNull) == [true, false, false, false, false, false, false])
    #expect(root.elements.map(\.bool) == [nil, true, false, nil, nil, nil, nil])
    #expect(root.elements.map(\.string) == [nil, nil, nil, nil, "s", nil, nil])
    #expect(root.elements.map(\.count) == [0, 0, 0, 0, 0, 0, 0])
    #expect(root.count == 7)
  }

  @Test func elementsAreFoundWithinBoundsOnly() throws {
    let root = try JSONReading.root("[[1,2],{\"a\":[3]},4]")
    #expect(root[2]?.int == 4)
    #expect(root[0]?[1]?.int == 2)
    #expect(root[3] == nil)
    #expect(root[-1] == nil)
    #expect(root[1]?[0] == nil)
    #expect(root[2]?[0] == nil)
  }

  @Test func membersAreFoundByTheBytesOfTheirNames() throws {
    let root = try JSONReading.root(
      "{\"x\":{\"n\":0},\"\u{e9}\":1,\"a\\u0062c\":2,\"n\":[9],\"\":3}")
    #expect(root["\u{e9}"]?.int == 1)
    #expect(root["e\u{301}"] == nil)
    #expect(root["abc"]?.int == 2)
    #expect(root["n"]?[0]?.int == 9)
    #expect(root[""]?.int == 3)
    #expect(root["m"] == nil)
    #expect(root["x"]?["n"]?.int == 0)
    #expect(root["n"]?["n"] == nil)
    #expect(root.members.map(\.name) == ["x", "\u{e9}", "abc", "n", ""])
    #expect(root.count == 5)
  }

  @Test func underscoreIsSeenThroughItsEscape() throws {
    let root = try JSONReading.root(
      "{\"_id\":0,\"\\u005frev\":0,\"id_\":0,\"\\u0061_\":0,\"\":0,\"b\\u005f\":0}")
    let names = root.members.map(\.nameStartsWithUnderscore)
    #expect(names == [true, true, false, false, false, false])
    let raw = root.members.map { String(decoding: $0.rawName, as: UTF8.self) }
    #expect(raw.prefix(2) == ["\"_id\"", "\"\\u005frev\""])
    #expect(
      root.members.map { $0.nameEquals("_rev") } == [false, true, false, false, false, false])
  }

  @Test func aNodeOutlivesTheTextItCameFrom() throws {
    func name() throws -> JSONNode? {
      try ParsedJSON(Array("{\"a\":{\"name\":\"Ritz\"}}".utf8), limits: .small).root["a"]?["name"]
    }
    #expect(try name()?.string == "Ritz")
  }
}
