import CouchQuery
import Documents
import TestSupport
import Testing

struct JSONCollationTests {
  /// The table in CouchDB, "Views collation", and further values from its text.
  private static let table = [
    "null", "false", "true", "-1e300", "-10", "-2.5", "-1", "-0.001", "0", "1e-300", "0.5", "1",
    "2",
    "3.0", "4", "9007199254740992", "9007199254740993", "1e300", #""""#, #""~""#, #""0""#, #""9""#,
    #""a""#, #""A""#, #""aa""#, #""b""#, #""B""#, #""ba""#, #""bb""#, "[]", "[null]",
    #"["a"]"#, #"["b"]"#, #"["b","c"]"#, #"["b","c","a"]"#, #"["b","d"]"#, #"["b","d","e"]"#,
    "[[]]", "[{}]", "{}", #"{"a":1}"#, #"{"a":2}"#, #"{"b":1}"#, #"{"b":2}"#, #"{"b":2,"a":1}"#,
    #"{"b":2,"c":2}"#, #"{"b":[]}"#,
  ]

  @Test func valuesStandInCouchDBsOrder() throws {
    let nodes = try Self.table.map { try json($0) }
    for (index, value) in nodes.enumerated() {
      #expect(JSONCollation.compare(value, value) == 0)
      for later in nodes[(index + 1)...] {
        #expect(JSONCollation.compare(value, later) < 0)
        #expect(JSONCollation.compare(later, value) > 0)
        let (key, next) = (JSONCollation.key([value]), JSONCollation.key([later]))
        #expect(key.lexicographicallyPrecedes(next), "\(index)")
      }
    }
  }

  @Test(arguments: [
    ["0", "-0", "0.0", "0e5", "-0.000e-3"], ["1", "1.0", "1e0", "10e-1", "0.01E+2", "100E-2"],
    ["-12.5", "-125e-1", "-0.125e2", "-12.50"], ["1e300", "1000e297", "0.1e301"],
    ["9007199254740993", "9007199254740993.0", "900719925474099.3e1"],
  ])
  func oneNumberWrittenInManyWaysIsEqual(texts: [String]) throws {
    let nodes = try texts.map { try json($0) }
    for node in nodes {
      #expect(JSONCollation.compare(node, nodes[0]) == 0)
      #expect(JSONCollation.key([node]) == JSONCollation.key([nodes[0]]))
    }
  }

  /// As doubles, these numbers would be equal.
  @Test(arguments: [
    ("9007199254740992", "9007199254740993"), ("0.1", "0.10000000000000000000001"),
    ("-0.10000000000000000000001", "-0.1"), ("1e-308", "1.0000000000000000000001e-308"),
    (
      "1234567890123456789012345678901234567890123456789012345678901233",
      "1234567890123456789012345678901234567890123456789012345678901234"
    ),
  ])
  func numbersCompareExactlyAsWritten(less: String, greater: String) throws {
    let (less, greater) = (try json(less), try json(greater))
    #expect(JSONCollation.compare(less, greater) < 0)
    let (key, next) = (JSONCollation.key([less]), JSONCollation.key([greater]))
    #expect(key.lexicographicallyPrecedes(next))
  }

  /// CouchDB treats these texts as equal.
  @Test(arguments: [("ab", "a\u{0}b"), ("caf\u{E9}", "cafe\u{301}"), ("", "\u{1}")])
  func textsThatTheCollationTakesAsOneAreToldApart(one: String, other: String) throws {
    let (one, other) = (try node(.string(one)), try node(.string(other)))
    let order = JSONCollation.compare(one, other)
    #expect(order != 0 && (order < 0) == (JSONCollation.compare(other, one) > 0))
    let (key, next) = (JSONCollation.key([one]), JSONCollation.key([other]))
    #expect(key != next && key.lexicographicallyPrecedes(next) == (order < 0))
  }

  @Test func successorIsTheLeastBehindAllThatStartsSo() {
    #expect(JSONCollation.successor([1, 2]) == [1, 3])
    #expect(JSONCollation.successor([1, 254, 255, 255]) == [1, 255])
    #expect(JSONCollation.successor([0]) == [1])
    #expect(JSONCollation.successor([255, 255]) == nil)
    #expect(JSONCollation.successor([]) == nil)
  }

  @Test func versionNamesTheLayoutAndICU() {
    #expect(JSONCollation.version.hasPrefix("1-"))
    #expect(JSONCollation.version.utf8.count < 64)
  }

  @Test func deepValuesAreCompared() throws {
    let deep = String(repeating: "[", count: 60) + "1" + String(repeating: "]", count: 60)
    let deeper = String(repeating: "[", count: 60) + "2" + String(repeating: "]", count: 60)
    #expect(try JSONCollation.compare(json(deep), json(deeper)) < 0)
  }
}
