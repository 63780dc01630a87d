import Documents
import Testing

@testable import Hotels

struct AttachmentMergeTests {
  /// Attachments as `name=bytes name=bytes`.
  private func stubs(_ text: String) -> [AttachmentStub] {
    text.split(separator: " ").map { word in
      let parts = word.split(separator: "=")
      return AttachmentStub(
        name: AttachmentName(stored: String(parts[0]).replacing("_", with: " ")),
        contentType: "image/png", generation: 1, digest: "md5-\(parts[1])", length: 1)
    }
  }

  private func text(_ stubs: [AttachmentStub]) -> String {
    stubs.map { "\($0.name.text.replacing(" ", with: "_"))=\($0.digest.dropFirst(4))" }
      .joined(separator: " ")
  }

  @Test(arguments: [
    // own, former, other, merged
    ("a=1", "a=1", "a=1 b=2", "a=1 b=2"),
    ("a=1 b=2", "a=1", "a=1", "a=1 b=2"),
    ("a=1", "a=1", "a=2", "a=2"),
    ("a=2", "a=1", "a=1", "a=2"),
    ("a=1", "a=1", "", ""),
    ("a=2", "a=1", "", "a=2"),
    ("", "a=1", "a=1", ""),
    ("", "a=1", "a=2", "a=2"),
    ("a=2", "a=1", "a=3", "a=2 a_(2)=3"),
    ("a.b.png=2", "", "a.b.png=3", "a.b.png=2 a.b_(2).png=3"),
    ("a.png=2 a_(2).png=3", "", "a.png=3", "a.png=2 a_(2).png=3"),
    ("a.png=2 a_(2).png=4", "", "a.png=3", "a.png=2 a_(2).png=4 a_(3).png=3"),
    (".x=2", "", ".x=3", ".x=2 _(2).x=3"),
    ("v.1/photo=2", "", "v.1/photo=3", "v.1/photo=2 v.1/photo_(2)=3"),
    ("a=2", "", "a=2", "a=2"),
  ])
  func nothingThatEitherSideAddedIsLost(
    own: String, former: String, other: String, merged: String
  ) {
    let merge = AttachmentMerge(
      into: stubs(own), former: stubs(former), other: stubs(other), generation: 7)
    #expect(text(merge.stubs) == merged)
    for stub in merge.stubs {
      #expect((stub.generation == 7) == (merge.taken[stub.name] != nil))
    }
    #expect(merge.isUnchanged(from: stubs(own)) == (own == merged))
  }

  @Test func secondNameOfALongNameIsCut() throws {
    let name = String(repeating: "\u{e9}", count: 254) + ".png"
    let merge = AttachmentMerge(
      into: stubs("\(name)=1"), former: [], other: stubs("\(name)=2"), generation: 2)
    let second = try #require(merge.stubs.last?.name)
    #expect(try AttachmentName(second.text).text.hasSuffix("\u{e9} (2).png"))
    #expect(second.text.utf8.count > 500)
  }
}
