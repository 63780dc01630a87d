import Documents
import HTTPServer
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import HTTPAPI

/// Export and import of a person's data as a stream.
@Suite struct PortabilityRouteTests {
  @Test func whatIsExportedIsTheSameInAnotherAccount() async throws {
    try await APIFixture.open { api in
      let (anna, bert) = (try await api.user("anna"), try await api.user("bert"))
      for number in 0..<5 { try await api.bookmark("h\(number)", anna) }
      api.clock.advance(seconds: 3_600)
      try await api.call(.delete, "/v1/bookmarks/h1", token: anna)
      let export = try await api.export(anna)
      #expect(export.first?.contains(#""username":"anna""#) == true)
      #expect(export.last?.hasPrefix(#"{"manifest":{"documents":5,"tombstones":1"#) == true)
      let answer = try await api.read(export, bert)
      #expect(answer.status == 200)
      #expect(answer.json["documents"]?.int == 5 && answer.json["tombstones"]?.int == 1)
      #expect(Self.told(try await api.export(bert)) == Self.told(export))
      let lists = [
        try await api.call(.get, "/v1/bookmarks", token: anna),
        try await api.call(.get, "/v1/bookmarks", token: bert),
      ]
      #expect(lists[0].text == lists[1].text && lists[0].ids == ["h4", "h3", "h2", "h0"])
      #expect(try await api.read(export, bert).error == "account_not_empty")
    }
  }

  @Test func aGuestExportsAndIsToldToSignUpForAnImport() async throws {
    try await APIFixture.open { api in
      let guest = try await api.guest()
      let empty = try await api.export(guest)
      #expect(empty.count == 4)
      try await api.bookmark("h1", guest)
      let export = try await api.export(guest)
      #expect(export.first?.contains(#""kind":"guest""#) == true)
      let refused = try await api.read(export, try await api.guest())
      #expect(refused.status == 403 && refused.error == "account_needed")
      let user = try await api.user("anna")
      #expect(try await api.read(export, user).status == 200)
      #expect(try await api.call(.get, "/v1/bookmarks", token: user).ids == ["h1"])
    }
  }

  @Test func exportIsPackedForThoseWhoTakeThat() async throws {
    try await APIFixture.open { api in
      let token = try await api.user("anna")
      for number in 0..<20 { try await api.bookmark("h\(number)", token) }
      let plain = try await api.send(.get, "/v1/me/export", token: token, body: nil)
      let packed = try await api.send(
        .get, "/v1/me/export", token: token, body: nil, headers: [.acceptEncoding: "gzip"])
      #expect(packed.headers[.contentEncoding] == "gzip")
      #expect(packed.bytes == plain.bytes && packed.sentCount < plain.sentCount)
      #expect(plain.headers[.contentType] == "application/x-ndjson")
      #expect(plain.headers[.cacheControl] == "private, no-store")
    }
  }

  @Test func aBadImportNamesItsLineAndLeavesNothing() async throws {
    try await APIFixture.open { api in
      let (anna, bert) = (try await api.user("anna"), try await api.user("bert"))
      try await api.bookmark("h1", anna)
      let export = try await api.export(anna)
      for index in export.indices {
        var lines = export
        lines[index] = "{}"
        let refused = try await api.read(lines, bert)
        #expect(refused.status == 422 && refused.error == "invalid_export")
        #expect(refused["reason"]?.hasPrefix("Line \(index + 1): ") == true)
        let short = try await api.read(Array(export[..<index]), bert)
        #expect(short.status == 422)
        #expect(short["reason"]?.hasPrefix("Line \(index + 1): it is missing") == true)
      }
      #expect(try await api.export(bert).count == 4)
      let me = try await api.call(.get, "/v1/me", token: bert)
      #expect(me.json["usage"]?["documents"]?.int == 0)
      #expect(try await api.read(export, bert).status == 200)
    }
  }

  @Test func packedImportIsUnpackedAsItComes() async throws {
    try await APIFixture.open { api in
      let (anna, bert) = (try await api.user("anna"), try await api.user("bert"))
      try await api.bookmark("h1", anna)
      let export = try await api.export(anna)
      let packed = try GzipWriter.deflate(Array(export.joined(separator: "\n").utf8) + [0x0A])
      func send(_ body: [UInt8], as coding: String) async throws -> Reply {
        try await api.send(
          .post, "/v1/me/import", token: bert, body: ByteBuffer(bytes: body),
          headers: [.contentEncoding: coding])
      }
      let cut = try await send(packed.dropLast(), as: "gzip")
      #expect(cut.status == 400)
      let zeros = try await send(
        try GzipWriter.deflate([UInt8](repeating: 0x20, count: 20 << 20)), as: "gzip")
      #expect(zeros.status == 413)
      let other = try await send(packed, as: "br")
      #expect(other.status == 415 && other.headers[.acceptEncoding] == "gzip")
      #expect(try await send(packed, as: "gzip").status == 200)
      #expect(Self.told(try await api.export(bert)) == Self.told(export))
    }
  }

  @Test func aReplicaOfTheEmptyAccountBeginsAnew() async throws {
    try await APIFixture.open { api in
      let (anna, bert) = (try await api.user("anna"), try await api.user("bert"))
      try await api.bookmark("h1", anna)
      let mirror = try await api.call(.get, "/v1/mirror", token: bert)
      let since = try #require(mirror["token"])
      #expect(try await api.read(try await api.export(anna), bert).status == 200)
      let page = try await api.call(.get, "/v1/mirror?since=" + since, token: bert)
      #expect(page.status == 410 || page.json["hotels"]?.array?.count == 1)
    }
  }

  /// The lines about documents.
  private static func told(_ export: [String]) -> [String] {
    export.filter {
      $0.hasPrefix(#"{"id""#) || $0.hasPrefix(#"{"rev""#) || $0.hasPrefix(#"{"note""#)
    }
  }
}

extension APIFixture {
  /// The lines of an export.
  fileprivate func export(_ token: String) async throws -> [String] {
    let reply = try await send(.get, "/v1/me/export", token: token, body: nil)
    #expect(reply.status == 200)
    return reply.bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Imports lines into an account.
  fileprivate func read(_ lines: [String], _ token: String) async throws -> Reply {
    let text = lines.map { $0 + "\n" }.joined()
    return try await call(
      .post, "/v1/me/import", token: token, body: text,
      headers: [.contentType: "application/x-ndjson"])
  }
}
