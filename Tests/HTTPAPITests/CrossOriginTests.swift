import HTTPTypes
import Testing

@testable import HTTPAPI

@Suite struct CrossOriginTests {
  private static let app = "https://app.example"

  @Test func allowedOriginIsEchoedWithCredentials() async throws {
    try await Desk.open(origins: [Self.app]) { desk in
      for path in ["/v1/limits", "/v1/bookmarks", "/nothing"] {
        let reply = try await desk.call(.get, path, headers: [.origin: Self.app])
        #expect(reply.headers[.accessControlAllowOrigin] == Self.app)
        #expect(reply.headers[.accessControlAllowCredentials] == "true")
        #expect(reply.headers[.accessControlExposeHeaders]?.contains("etag") == true)
        #expect(reply.headers[.vary]?.contains("Origin") == true)
      }
    }
  }

  @Test(arguments: [
    "https://evil.example", "null", "https://app.example.evil", "http://app.example",
    "https://app.example:8443", "HTTPS://APP.EXAMPLE",
  ])
  func otherOriginsGetNothing(origin: String) async throws {
    try await Desk.open(origins: [Self.app]) { desk in
      let reply = try await desk.call(.get, "/v1/limits", headers: [.origin: origin])
      #expect(reply.status == 200)
      #expect(reply.headers[.accessControlAllowOrigin] == nil)
      #expect(reply.headers[.accessControlAllowCredentials] == nil)
      let preflight = try await desk.call(
        .options, "/v1/bookmarks",
        headers: [.origin: origin, .accessControlRequestMethod: "PUT"])
      #expect(preflight.status == 204)
      #expect(preflight.headers[.accessControlAllowOrigin] == nil)
      #expect(preflight.headers[.accessControlAllowMethods] == nil)
    }
  }

  @Test func anyOriginButNullIsAllowedByAStar() async throws {
    try await Desk.open(origins: ["*"]) { desk in
      let some = try await desk.call(.get, "/v1/limits", headers: [.origin: "https://a.example"])
      #expect(some.headers[.accessControlAllowOrigin] == "https://a.example")
      let null = try await desk.call(.get, "/v1/limits", headers: [.origin: "null"])
      #expect(null.headers[.accessControlAllowOrigin] == nil)
    }
  }

  @Test func noOriginIsAllowedByDefault() async throws {
    try await Desk.open { desk in
      let reply = try await desk.call(.get, "/v1/limits", headers: [.origin: Self.app])
      #expect(reply.headers[.accessControlAllowOrigin] == nil)
      #expect(reply.headers[.vary] == nil)
    }
  }

  @Test func preflightNamesMethodsAndHeaders() async throws {
    try await Desk.open(origins: [Self.app]) { desk in
      let reply = try await desk.call(
        .options, "/v1/bookmarks/a",
        headers: [.origin: Self.app, .accessControlRequestMethod: "PUT"])
      #expect(reply.status == 204)
      #expect(reply.headers[.accessControlAllowOrigin] == Self.app)
      #expect(reply.headers[.accessControlAllowCredentials] == "true")
      #expect(reply.headers[.accessControlAllowMethods]?.contains("PUT") == true)
      let allowed = reply.headers[.accessControlAllowHeaders] ?? ""
      for name in ["authorization", "content-type", "if-match", "idempotency-key"] {
        #expect(allowed.contains(name))
      }
    }
  }
}
