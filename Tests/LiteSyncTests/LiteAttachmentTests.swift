import Documents
import JSON
import Testing

@testable import LiteSync

@Suite struct LiteAttachmentTests {
  private static let digest = "sha1-Kq5sNclPz7QV2+lfQIuc6R7oRu0="

  private static func blob(_ more: String = "") -> String {
    #"{"@type":"blob","digest":"\#(digest)","length":11\#(more)}"#
  }

  private static func names(in text: String) async throws -> [String] {
    let parsed = try ParsedJSON(Array(text.utf8), limits: .document)
    let document = try IncomingDocument(parsed.root)
    let found = try await LiteAttachment.all(in: document, parsed.root, Array(text.utf8))
    return found.map(\.name.text).sorted()
  }

  @Test func aBlobIsNamedByItsPlace() async throws {
    let text = """
      {"pic":\(Self.blob()),"a/b":{"~":[1,\(Self.blob()),{"x":\(Self.blob())}]},"no":{"@type":"blob"},
      "_attachments":{}}
      """
    #expect(
      try await Self.names(in: text) == ["blob_/a~1b/~0/1", "blob_/a~1b/~0/2/x", "blob_/pic"])
  }

  /// A pointer for each of these arrays would take gigabytes.
  @Test func aLongNameIsNotRepeatedForAllThatItContains() async throws {
    let arrays = String(repeating: "[],", count: 50_000)
    let name = String(repeating: "n", count: 400_000)
    let text = "{\"\(name)\":[\(arrays)\(Self.blob())]}"
    #expect(try await Self.names(in: text) == ["blob_" + Self.digest])
  }

  @Test func moreBlobsThanADocumentMayHaveAreRefused() async throws {
    let blobs = Array(repeating: Self.blob(), count: IncomingAttachment.most)
    #expect(
      try await Self.names(in: "{\"a\":[\(blobs.joined(separator: ","))]}").count == blobs.count)
    await #expect(throws: DocumentError.self) {
      try await Self.names(in: "{\"a\":[\((blobs + [Self.blob()]).joined(separator: ","))]}")
    }
  }
}
