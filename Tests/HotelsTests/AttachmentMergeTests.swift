import Documents
import Testing

@testable import Hotels

/// Attachments are drawn as names with a letter for their bytes: `"a1 b1"` are `a` and `b` with the same bytes.
@Suite struct AttachmentMergeTests {
  @Test(arguments: [
    // Both have added one.
    ("a1", "a1 b2", "a1 c3", "a1 b2 c3"),
    // One has added, the other has removed.
    ("a1", "", "a1 b2", "b2"), ("a1", "a1 b2", "", "b2"),
    // One has replaced it.
    ("a1", "a1", "a2", "a2"), ("a1", "a2", "a1", "a2"),
    // Both have: the first side's stays.
    ("a1", "a2", "a3", "a2"), ("", "a1", "a2", "a1"),
    // One has replaced it, the other has removed it.
    ("a1", "", "a2", "a2"), ("a1", "a2", "", "a2"),
    // Both have done the same.
    ("a1", "b2", "b2", "b2"), ("", "", "", ""), ("a1", "", "", ""),
  ])
  func eachSidesChangesStay(
    _ former: String, _ one: String, _ other: String, _ result: String
  ) throws {
    let body = try DocumentBody(parsing: Array(#"{"type":"hotel"}"#.utf8)).with(Self.stubs(one))
    let merged = try AttachmentMerge.merged(
      Self.stubs(other), into: body, former: Self.stubs(former), generation: 7)
    #expect(Self.drawn((merged ?? body).attachments) == result)
    #expect((merged == nil) == (one == result))
  }

  @Test func whatComesFromTheOtherSideCountsAsNew() throws {
    let body = try DocumentBody(parsing: Array("{}".utf8)).with(Self.stubs("a1"))
    let merged = try AttachmentMerge.merged(
      Self.stubs("b2"), into: body, former: [], generation: 7)
    #expect(merged?.attachments.map(\.generation) == [2, 7])
  }

  private static func stubs(_ drawing: String) throws -> [AttachmentStub] {
    try drawing.split(separator: " ").map { part in
      AttachmentStub(
        name: try AttachmentName(String(part.prefix(1))), contentType: "image/png", generation: 2,
        digest: "md5-\(part.dropFirst())", length: 1)
    }
  }

  private static func drawn(_ stubs: [AttachmentStub]) -> String {
    stubs.map { $0.name.text + $0.digest.dropFirst(4) }.joined(separator: " ")
  }
}
