import CouchSync
import Documents
import HTTPServer
import HTTPTypes
import NIOCore
import Testing

@testable import HTTPAPI

@Suite struct CouchGzipTests {
  private let packed: HTTPFields = [.contentEncoding: "gzip"]

  private func gzip(_ text: String) throws -> ByteBuffer {
    ByteBuffer(bytes: try GzipWriter.deflate(Array(text.utf8)))
  }

  /// A guest's own database.
  private func database(_ api: APIFixture) async throws -> (token: String, path: String) {
    let token = try await api.guest()
    let name = try #require(try await api.call(.get, "/v1/me", token: token)["store"])
    return (token, "/couch/" + name)
  }

  @Test(arguments: ["gzip", "GZIP", " x-gzip "])
  func packedBodyIsUnpacked(coding: String) async throws {
    try await APIFixture.open { api in
      let (token, path) = try await database(api)
      let written = try await api.send(
        .put, path + "/a", token: token, body: try gzip(#"{"n":1.0}"#),
        headers: [.contentEncoding: coding])
      #expect(written.status == 201)
      #expect(try await api.call(.get, path + "/a", token: token).text.hasSuffix(#""n":1.0}"#))
      let bulk = try await api.send(
        .post, path + "/_bulk_docs", token: token,
        body: try gzip(#"{"docs":[{"_id":"b"}]}"#), headers: packed)
      #expect(bulk.status == 201)
    }
  }

  @Test func packedBodyIsUnpackedEverywhere() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let marked = try await api.send(
        .put, "/v1/bookmarks/one", token: token, body: try gzip(#"{"name":"One"}"#),
        headers: packed)
      #expect(marked.status == 201)
      let signUp = try await api.send(
        .post, "/v1/users", body: try gzip(APIFixture.credentials("anna")), headers: packed)
      #expect(signUp.status == 201)
      let form = try await api.send(
        .post, "/couch/_session", body: try gzip("name=anna&password=correct%3Ahorse"),
        headers: [
          .contentEncoding: "gzip", .contentType: "application/x-www-form-urlencoded",
        ])
      #expect(form.status == 200)
    }
  }

  @Test(arguments: ["identity", "Identity"])
  func identityIsNoCoding(coding: String) async throws {
    try await APIFixture.open { api in
      let (token, path) = try await database(api)
      let written = try await api.call(
        .put, path + "/a", token: token, body: "{}", headers: [.contentEncoding: coding])
      #expect(written.status == 201)
    }
  }

  @Test(
    .bug(id: "H08"),
    arguments: ["deflate", "br", "zstd", "gzip, gzip", "identity, gzip", "gzip;q=1", "none"])
  func unknownAndNestedCodingsAreRefused(coding: String) async throws {
    try await APIFixture.open { api in
      let (token, path) = try await database(api)
      let reply = try await api.send(
        .put, path + "/a", token: token, body: try gzip("{}"), headers: [.contentEncoding: coding])
      #expect(reply.status == 415)
      #expect(reply.error == "bad_content_type")
      #expect(reply.headers[.acceptEncoding] == "gzip")
      let hotel = try await api.send(
        .put, "/v1/bookmarks/a", token: token, body: try gzip("{}"),
        headers: [.contentEncoding: coding])
      #expect(hotel.status == 415)
    }
  }

  /// 32 MiB of spaces, packed into 32 KiB. One byte more than a document may have is refused, too.
  @Test(.bug(id: "H08")) func bombIsRefusedAtTheLimit() async throws {
    try await APIFixture.open { api in
      let (token, path) = try await database(api)
      let bomb = try gzip(String(repeating: " ", count: 32 << 20))
      #expect(bomb.readableBytes < 64 << 10)
      for (method, target) in [(HTTPRequest.Method.put, "/a"), (.post, "/_bulk_docs")] {
        let reply = try await api.send(
          method, path + target, token: token, body: bomb, headers: packed)
        #expect(reply.status == 413)
        #expect(reply.error == "too_large")
      }
      let fits = Self.document(of: DocumentLimits.standard.document.maximumBytes)
      let written = try await api.send(
        .put, path + "/b", token: token, body: try gzip(fits), headers: packed)
      #expect(written.status == 201)
      let over = try await api.send(
        .put, path + "/c", token: token, body: try gzip(fits + " "), headers: packed)
      #expect(over.status == 413)
    }
  }

  /// An object of `bytes` bytes that compresses to a fraction of that.
  private static func document(of bytes: Int) -> String {
    var (text, state) = ("{\"text\":\"", UInt32(1))
    while text.utf8.count < min(bytes, 500_000) {
      state = state &* 1_664_525 &+ 1_013_904_223
      text += String(state, radix: 36)
    }
    text += "\"}"
    return text + String(repeating: " ", count: bytes - text.utf8.count)
  }

  /// Regression: 15 KB unpacked to 15 MiB of keys, for any number of clients at the same time.
  @Test(.bug(id: "H08")) func packedBodyMayUnpackAHundredfoldAndNoMore() async throws {
    try await APIFixture.open { api in
      let (token, path) = try await database(api)
      let few = try gzip(#"{"keys":["# + String(repeating: " ", count: 200_000) + "]}")
      #expect(few.readableBytes < 2_000)
      let refused = try await api.send(
        .post, path + "/_all_docs", token: token, body: few, headers: packed)
      #expect(refused.status == 413)
      #expect(refused.error == "too_large")
      // The ratio is not checked for bodies of up to 64 KiB.
      let small = try gzip(#"{"keys":["# + String(repeating: " ", count: 60_000) + "]}")
      let answered = try await api.send(
        .post, path + "/_all_docs", token: token, body: small, headers: packed)
      #expect(answered.status == 200)
    }
  }

  @Test func truncatedAndForeignBytesAreRefused() async throws {
    try await APIFixture.open { api in
      let (token, path) = try await database(api)
      let whole = try gzip(#"{"n":1}"#)
      for count in [0, 1, 10, whole.readableBytes - 1] {
        let reply = try await api.send(
          .put, path + "/a", token: token, body: whole.getSlice(at: 0, length: count),
          headers: packed)
        #expect(reply.status == 400, "\(count) bytes")
        #expect(reply.error == "bad_request")
      }
      let plain = try await api.call(
        .put, path + "/a", token: token, body: "{}", headers: packed)
      #expect(plain.status == 400)
      #expect(try await api.call(.get, path + "/a", token: token).status == 404)
    }
  }
}
