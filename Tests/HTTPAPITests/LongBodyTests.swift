import Documents
import HTTPServer
import HTTPTypes
import NIOCore
import Testing

@testable import HTTPAPI

/// Requests and answers of the sync protocol that are longer than memory should hold.
@Suite struct LongBodyTests {
  @Test func batchOfLongDocumentsIsPushedThroughAFileAndPulledInParts() async throws {
    try await APIFixture.open { api in
      let (token, path) = try await database(api)
      let pushed = try await api.send(
        .post, path + "/_bulk_docs", token: token, body: ByteBuffer(string: Self.batch(100)))
      #expect(pushed.status == 201 && pushed.text == "[]")
      while api.bodyFiles.byteCount > 0 { await Task.yield() }
      let ids = (0..<100).map { #"{"id":"d\#($0)","rev":"1-a"}"# }.joined(separator: ",")
      for pulled in [
        try await api.call(
          .post, path + "/_bulk_get?revs=true", token: token, body: #"{"docs":[\#(ids)]}"#),
        try await api.call(.get, path + "/_all_docs?include_docs=true", token: token),
      ] {
        #expect(pulled.status == 200 && pulled.headers[.contentLength] == nil)
        #expect(pulled.bytes.last == UInt8(ascii: "\n") && pulled.bytes.count > 10_000_000)
        let limits = JSONLimits(maximumBytes: 32 << 20)
        let whole = try ParsedJSON(Array(pulled.bytes.dropLast()), limits: limits).root
        #expect((whole["results"] ?? whole["rows"])?.count == 100)
      }
      let short = try await api.call(
        .get, path + "/_all_docs?include_docs=true&limit=2", token: token)
      #expect(short.headers[.contentLength] == "\(short.bytes.count)")
    }
  }

  @Test func packedBatchGoesThroughAFileToo() async throws {
    try await APIFixture.open { api in
      let (token, path) = try await database(api)
      let body = try GzipWriter.deflate(Array(Self.batch(60, random: true).utf8))
      let pushed = try await api.send(
        .post, path + "/_bulk_docs", token: token, body: ByteBuffer(bytes: body),
        headers: [.contentEncoding: "gzip"])
      #expect(pushed.status == 201)
      let all = try await api.call(.get, path + "/_all_docs", token: token)
      #expect(all.json["rows"]?.array?.count == 60)
    }
  }

  @Test func malformedEndOfALongBodyMeansThatNothingIsWritten() async throws {
    try await APIFixture.open { api in
      let (token, path) = try await database(api)
      for end in [#","x":"}"#, "}]", ",7"] {
        let body = Self.batch(60).replacing(
          #"],"new_edits""#, with: #",{"_id":"z"\#(end)],"new_edits""#)
        let refused = try await api.send(
          .post, path + "/_bulk_docs", token: token, body: ByteBuffer(string: body))
        #expect(refused.status == 400)
      }
      let all = try await api.call(.get, path + "/_all_docs", token: token)
      #expect(all.json["rows"]?.array?.count == 0)
    }
  }

  /// The bound is what the store may have and a tenth, but 16 MiB at least.
  @Test func bodyThatNoGuestCouldStoreIsTooLarge() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let name = try #require(try await api.call(.get, "/v1/me", token: token)["store"])
      let spaces = String(repeating: " ", count: (16 << 20) - #"{"docs":[]}"#.utf8.count)
      for (more, status) in [("", 201), (" ", 413)] {
        let reply = try await api.call(
          .post, "/couch/\(name)/_bulk_docs", token: token,
          body: #"{"docs":[\#(spaces)\#(more)]}"#)
        #expect(reply.status == status)
      }
    }
  }

  @Test func bodyThatThereIsNoRoomForIsRefusedForNow() async throws {
    let files = BodyFiles(in: "/tmp", bytes: 5_000_000)
    try await APIFixture.open(bodyFiles: files) { api in
      let (token, path) = try await database(api)
      let body = ByteBuffer(string: Self.batch(60))
      let reply = try await api.send(.post, path + "/_bulk_docs", token: token, body: body)
      #expect(reply.status == 503 && reply.headers[.retryAfter] != nil)
      while files.byteCount > 0 { await Task.yield() }
      let all = try await api.call(.get, path + "/_all_docs", token: token)
      #expect(all.json["rows"]?.array?.count == 0)
    }
    let nowhere = BodyFiles(in: "/nowhere")
    try await APIFixture.open(bodyFiles: nowhere) { api in
      let (token, path) = try await database(api)
      let body = ByteBuffer(string: Self.batch(60))
      let reply = try await api.send(.post, path + "/_bulk_docs", token: token, body: body)
      #expect(reply.status == 503)
    }
  }

  /// A user's own database.
  private func database(_ api: APIFixture) async throws -> (token: String, path: String) {
    let token = try await api.user("anna")
    let name = try #require(try await api.call(.get, "/v1/me", token: token)["store"])
    return (token, "/couch/" + name)
  }

  /// A replicator's request with documents of 100 KB.
  /// - Parameter random: whether the documents can't be packed well.
  private static func batch(_ count: Int, random: Bool = false) -> String {
    var generator = SystemRandomNumberGenerator()
    let docs = (0..<count).map { number -> String in
      let text =
        random
        ? (0..<3_125).map { _ in Hex.string(generator.next(), generator.next()) }.joined()
        : String(repeating: "y", count: 100_000)
      return #"{"_id":"d\#(number)","_rev":"1-a","x":"\#(text)"}"#
    }
    return #"{"docs":[\#(docs.joined(separator: ","))],"new_edits":false}"#
  }
}
