import Documents
import HTTPTypes
import Hummingbird
import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPAPI

/// The router behind the control socket, whose clients count as the administrator.
@Suite struct ControlSocketTests {
  /// Sends a request as a connection of the control socket does.
  private static func call(
    _ api: APIFixture, _ method: HTTPRequest.Method, _ path: String, _ body: String = "",
    headers: HTTPFields = [:]
  ) async throws -> (status: Int, json: JSONValue?) {
    let head = HTTPRequest(
      method: method, scheme: nil, authority: "localhost", path: path, headerFields: headers)
    let response = try await api.router.forControlSocket().answer(
      Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body))),
      on: EmbeddedChannel(), reservation: nil, logger: APIFixture.quiet)
    let bytes = try await response.body.bytes()
    let last = bytes.split(separator: UInt8(ascii: "\n")).last.map(Array.init) ?? []
    return (response.status.code, try? JSONValue(parsing: last, limits: .request))
  }

  @Test func operationsOfTheAdministratorNeedNoCredentials() async throws {
    try await APIFixture.open { api in
      for name in ["stores", "users", "lists", "sessions", "jobs"] {
        let reply = try await Self.call(api, .get, "/v1/admin/" + name)
        #expect(reply.status == 200, "\(name)")
      }
      // Nor are wrong ones looked at.
      let fields: HTTPFields = [.authorization: "Bearer no.good"]
      let reply = try await Self.call(api, .get, "/v1/admin/users", headers: fields)
      #expect(reply.status == 200)
    }
  }

  @Test func everythingElseIsForWhoeverTheCredentialsSay() async throws {
    try await APIFixture.open { api in
      for path in ["/v1/me", "/v1/bookmarks", "/couch/_all_dbs", "/v1/lists"] {
        #expect(try await Self.call(api, .get, path).status == 401, "\(path)")
      }
      let fields: HTTPFields = [.authorization: "Bearer " + (try await api.guest())]
      #expect(try await Self.call(api, .get, "/v1/me", headers: fields).status == 200)
      #expect(try await Self.call(api, .put, "/couch/plans", headers: fields).status == 403)
    }
  }

  @Test func passwordsAreSetAndResetForPeople() async throws {
    try await APIFixture.open { api in
      _ = try await api.user("ada")
      let body = #"{"password":"another password"}"#
      #expect(try await Self.call(api, .put, "/v1/admin/users/ada/password", body).status == 204)
      let session = APIFixture.credentials("ada", "another password")
      #expect(try await api.call(.post, "/v1/sessions", body: session).status == 200)
      let reset = try await Self.call(api, .post, "/v1/admin/users/Ada/password-resets")
      let token = try #require(reset.json?["token"]?.string)
      #expect(reset.status == 201)
      #expect(reset.json?["url"]?.string == "/reset#\(token)")
      let chosen = #"{"token":"\#(token)","password":"a third password"}"#
      #expect(try await api.call(.post, "/v1/password-resets", body: chosen).status == 204)
      #expect(try await Self.call(api, .put, "/v1/admin/users/bob/password", body).status == 404)
    }
  }

  @Test func pathsAndPlacesAreTaken() async throws {
    let follow: HTTPFields = [.accept: "application/x-ndjson"]
    try await APIFixture.open { api in
      let replaced = try await Self.call(
        api, .post, "/v1/admin/replacements", #"{"store":"user/a","backup":"/b"}"#, headers: follow)
      #expect(replaced.json?["result"] == "user/a from /b")
      let moved = try await Self.call(
        api, .post, "/v1/admin/moves", #"{"database":"postgres://d","password":"p"}"#,
        headers: follow)
      #expect(moved.json?["result"] == "postgres://d p" && moved.json?["kind"] == "move")
      for (name, body) in [
        ("backups", #"{"path":"b"}"#), ("backups", #"{"path":1}"#), ("moves", "{}"),
        ("replacements", #"{"store":"a","backup":"b"}"#), ("moves?x=1", #"{"database":"d"}"#),
      ] {
        #expect(try await Self.call(api, .post, "/v1/admin/" + name, body).status == 400, "\(body)")
      }
      let backup = try await Self.call(api, .post, "/v1/admin/backups", #"{"path":"/b"}"#)
      #expect(backup.status == 202)
      await api.jobs.stop()
    }
  }
}

extension ResponseBody {
  /// All bytes of a body.
  fileprivate consuming func bytes() async throws -> [UInt8] {
    let collector = Collector()
    try await write(CollectingWriter(collector: collector))
    return await collector.bytes
  }
}

private actor Collector {
  private(set) var bytes: [UInt8] = []

  func add(_ buffer: ByteBuffer) { bytes += buffer.readableBytesView }
}

private struct CollectingWriter: ResponseBodyWriter {
  let collector: Collector

  mutating func write(_ buffer: ByteBuffer) async throws { await collector.add(buffer) }

  consuming func finish(_ trailers: HTTPFields?) async throws {}
}
