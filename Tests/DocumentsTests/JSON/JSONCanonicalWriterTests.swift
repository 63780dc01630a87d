import Testing

@testable import Documents

struct JSONCanonicalWriterTests {
  private static let many = String(repeating: "[[0]],", count: 40_000)
  private static let long = String(repeating: #""\u0041","#, count: 9_000)

  @Test(arguments: [
    "{}", #"{"b":1,"a":[2, 3]}"#, #"{"v":[\#(many)1]}"#,
    #"{"z":[\#(long)1],"a":{"c":[\#(many)0],"b":[]}}"#,
    #"{"a":[[\#(many)2],[\#(many)3]],"b":{"d":{"e":[\#(many)4]},"c":5}}"#,
    #"{"n":"\#(String(repeating: "x", count: 200_000))","m":[]}"#,
  ])
  func partsTogetherAreTheCanonicalForm(text: String) throws {
    let root = try ParsedJSON(Array(text.utf8), limits: .request).root
    var writer = JSONCanonicalWriter(root, of: root.members.map(\.ranges))
    var parts: [[UInt8]] = []
    while let part = writer.next() { parts.append(part) }
    #expect(Array(parts.joined()) == root.canonical)
    #expect(
      parts.allSatisfy { $0.count < 2 * JSONCanonicalWriter.partBytes || text.contains("xxx") })
    #expect(writer.next() == nil)
  }
}
