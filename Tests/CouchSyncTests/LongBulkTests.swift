import Documents
import StoreTesting
import Stores
import Synchronization
import Testing

@testable import CouchSync

/// `_bulk_docs` with a body that is too long for memory.
@Suite struct LongBulkTests {
  private static let deep = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
  private static let docs = #"""
    [ {"_id":"a","_rev":"1-a","x":"}]\""} ,
    {"_id":"b","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]}},
    {"_id":"deep","_rev":"1-a","x":\#(deep)},
    {"_id":"_local/l","x":1}, {"_id":"gone","_rev":"1-a","_deleted":true},{"_id":"a","_rev":"1-c"},
    {"_id":"d","_rev":"1-a","_attachments":{"f":{"data":"","content_type":"text/plain"}}}]
    """#

  @Test(arguments: [true, false], [1, 60, 1 << 20])
  func requestInPartsIsAnsweredAsInMemory(isNewEdit: Bool, partBytes: Int) async throws {
    let docs = isNewEdit ? Self.docs.replacing(#""_rev":"1-a","#, with: "") : Self.docs
    for body in [
      #"{"docs":\#(docs),"new_edits":\#(isNewEdit)}"#,
      #"{"new_edits":\#(isNewEdit),"docs":\#(docs)}"#,
    ] {
      let (one, two) = (try await Couch(), try await Couch())
      let wanted = try await one.database.bulkDocuments(
        BulkRequest.read(Array(body.utf8), limits: .standard))
      let parts = Mutex(0)
      let answer = try await long(body, to: two, partBytes) { parts.withLock { $0 += 1 } }
      #expect(answer.text == wanted.text && answer.outcome == .created)
      let documents = try await two.all(("include_docs", "true"))
      #expect(documents.text == (try await one.all(("include_docs", "true"))).text)
      let local = try await two.database.local(LocalID(client: "_local/l"))
      #expect(local.json["x"] == 1)
      #expect(parts.withLock { $0 } >= (partBytes == 1 ? 15 : 3))
    }
  }

  /// Regression: the whole request was in memory, and its length was limited by that.
  @Test func malformedDocumentAtTheEndMeansThatNothingIsWritten() async throws {
    for bad in [
      #"{"_id":"b","x":}"#, #"{"_id":"_b"}"#, "7", #"{"_id":"b","_x":1}"#, #"{"_id":"b""#,
    ] {
      let couch = try await Couch()
      let refused = await refusal {
        try await long(#"{"docs":[{"_id":"a"},{"_id":"c"},\#(bad)]}"#, to: couch, 1)
      }
      #expect(refused.hasPrefix("400"), "\(bad)")
      #expect(try await couch.ids() == "")
    }
  }

  @Test(
    arguments: [
      ("[]", "400"), ("{}", "400"), (#"{"docs":{}}"#, "400"),
      (#"{"docs":[],"new_edits":1}"#, "400"),
      (#"{"docs":[],"docs":[]}"#, "400"), (#"{"docs":[{}{}]}"#, "400"),
      (#"{"docs":[],"x":"\#(String(repeating: "x", count: 70_000))"}"#, "413"),
      (#"{"docs":[\#(Array(repeating: "1", count: 10_001).joined(separator: ","))]}"#, "413"),
    ])
  func bodyThatIsNoRequestIsRefused(body: String, status: String) async throws {
    let couch = try await Couch()
    #expect(await refusal { try await long(body, to: couch, 100) }.hasPrefix(status))
  }

  @Test func noDocumentsAreAnsweredWithNone() async throws {
    #expect(try await long(#" { "docs" : [ ] } "#, to: Couch(), 100).text == "[]")
  }

  @Test func allOrNothingIsRefusedForEachDocument() async throws {
    let couch = try await Couch()
    let answer = try await long(
      #"{"docs":[{"_id":"a"},{"_id":"b"}],"all_or_nothing":true}"#, to: couch, 1)
    #expect(answer.outcome == .refused && answer.json.array?.map { $0["id"] } == ["a", "b"])
    #expect(try await couch.ids() == "")
  }

  @Test func whatExceedsTheQuotaIsRefusedAtTheEnd() async throws {
    var limits = StoreLimits.full
    limits.documents = 3
    let couch = try await Couch(limits: limits)
    let docs = ["a", "b", "c", "d", "e"].map { #"{"_id":"\#($0)","_rev":"1-a"}"# }
    let text = docs.joined(separator: ",")
    let refused = await refusal {
      try await long(#"{"docs":[\#(text)],"new_edits":false}"#, to: couch, 1)
    }
    #expect(refused == "507 quota_exceeded")
    #expect(try await couch.ids() == "a b c")
  }

  @Test func documentWithoutAnIDHasOneInItsAnswer() async throws {
    let couch = try await Couch()
    let answer = try await long(#"{"docs":[{"x":1},{"x":2}]}"#, to: couch, 1)
    let ids = try #require(answer.json.array?.compactMap { $0["id"]?.string })
    #expect(ids.count == 2)
    #expect(try await couch.ids() == ids.sorted().joined(separator: " "))
  }

  /// A replicator counts a document as done when an element names it.
  @Test func documentThatIsTooLongForAnyRequestIsForbiddenByItsID() async throws {
    let couch = try await Couch()
    let long = String(repeating: "y", count: CouchLimits.bulk.maximumBytes)
    let body = #"""
      {"docs":[{"_id":"a","_rev":"1-a"},{"x":"\#(long)","_id":"b","_rev":"1-a"},
      {"_id":"c","_rev":"1-a"}],"new_edits":false}
      """#
    let answer = try await self.long(body, to: couch, CouchLimits.bulkPartBytes)
    #expect(answer.json.array?.map { $0["id"] } == ["b"])
    #expect(answer.json.array?.first?["error"] == "forbidden")
    #expect(try await couch.ids() == "a c")
  }

  /// Sends a body as if it were in a file.
  private func long(
    _ body: String, to couch: Couch, _ partBytes: Int,
    progress: @Sendable () -> Void = {}
  ) async throws -> CouchAnswer {
    let bytes = Array(body.utf8)
    var scanner = LongBulkRequest.scanner
    for start in stride(from: 0, to: bytes.count, by: 1 << 16) {
      scanner.take(Array(bytes[start..<min(start + 1 << 16, bytes.count)]))
    }
    let request = try LongBulkRequest(scanner, partBytes: partBytes) { Array(bytes[$0]) }
    return try await couch.database.bulkDocuments(request, progress: progress)
  }
}
