import HTTPTypes
import Testing

@testable import HTTPAPI

@Suite struct CrossOriginTests {
  private static let app = "https://app.example"

  @Test func allowedOriginIsEchoedWithCredentials() async throws {
    try await APIFixture.open(origins: [Self.app]) { api in
      for path in ["/v1/limits", "/v1/bookmarks", "/nothing"] {
        let reply = try await api.call(.get, path, headers: [.origin: Self.app])
        #expect(reply.headers[.accessControlAllowOrigin] == Self.app)
        #expect(reply.headers[.accessControlAllowCredentials] == "true")
        let exposed = reply.headers[.accessControlExposeHeaders]?.split(separator: ", ") ?? []
        let wanted: Set = [
          "accept-ranges", "age", "cache-status", "content-disposition", "content-range", "etag",
          "renewed-token", "x-couch-request-id", "x-couchdb-body-time",
        ]
        #expect(wanted.isSubset(of: exposed.map(String.init)))
        #expect(reply.headers[.vary]?.contains("Origin") == true)
      }
    }
  }

  @Test(
    .bug(id: "H20"),
    arguments: [
      "https://evil.example", "null", "https://app.example.evil", "http://app.example",
      "https://app.example:8443", "HTTPS://APP.EXAMPLE", "https://evil-app.example",
      "https://app.example.", "https://app.example/",
    ])
  func otherOriginsGetNothing(origin: String) async throws {
    try await APIFixture.open(origins: [Self.app]) { api in
      let reply = try await api.call(.get, "/v1/limits", headers: [.origin: origin])
      #expect(reply.status == 200)
      #expect(reply.headers[.accessControlAllowOrigin] == nil)
      #expect(reply.headers[.accessControlAllowCredentials] == nil)
      let preflight = try await api.call(
        .options, "/v1/bookmarks",
        headers: [.origin: origin, .accessControlRequestMethod: "PUT"])
      #expect(preflight.status == 204)
      #expect(preflight.headers[.accessControlAllowOrigin] == nil)
      #expect(preflight.headers[.accessControlAllowMethods] == nil)
    }
  }

  @Test(.bug(id: "H20")) func starAllowsAnyOriginButNullAndNoCookies() async throws {
    try await APIFixture.open(origins: ["*"]) { api in
      let some = try await api.call(.get, "/v1/limits", headers: [.origin: "https://a.example"])
      #expect(some.headers[.accessControlAllowOrigin] == "*")
      #expect(some.headers[.accessControlAllowCredentials] == nil)
      let preflight = try await api.call(
        .options, "/v1/bookmarks",
        headers: [.origin: "https://a.example", .accessControlRequestMethod: "PUT"])
      #expect(preflight.headers[.accessControlAllowOrigin] == "*")
      #expect(preflight.headers[.accessControlAllowCredentials] == nil)
      let login = try await api.signUp("ann")
      let cookie = try #require(login.headers[.setCookie]?.split(separator: ";").first)
      let write = try await api.call(
        .put, "/v1/bookmarks/a", body: "{}",
        headers: [
          .origin: "https://a.example", .cookie: String(cookie), .contentType: "application/json",
        ])
      #expect(write.status == 403)
      let null = try await api.call(.get, "/v1/limits", headers: [.origin: "null"])
      #expect(null.headers[.accessControlAllowOrigin] == nil)
    }
  }

  @Test(.bug(id: "H20")) func listedOriginHasCredentialsBesideAStar() async throws {
    try await APIFixture.open(origins: ["*", Self.app, "null"]) { api in
      let listed = try await api.call(.get, "/v1/limits", headers: [.origin: Self.app])
      #expect(listed.headers[.accessControlAllowOrigin] == Self.app)
      #expect(listed.headers[.accessControlAllowCredentials] == "true")
      let null = try await api.call(.get, "/v1/limits", headers: [.origin: "null"])
      #expect(null.headers[.accessControlAllowOrigin] == nil)
    }
  }

  @Test func noOriginIsAllowedByDefault() async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(.get, "/v1/limits", headers: [.origin: Self.app])
      #expect(reply.headers[.accessControlAllowOrigin] == nil)
      #expect(reply.headers[.vary] == nil)
    }
  }

  @Test(.bug(id: "H20")) func preflightNamesMethodsAndHeadersAndIsKept() async throws {
    try await APIFixture.open(origins: [Self.app]) { api in
      let reply = try await api.call(
        .options, "/v1/bookmarks/a",
        headers: [
          .origin: Self.app, .accessControlRequestMethod: "PUT",
          .accessControlRequestHeaders: "authorization,if-match,x-full-commit,x-anything",
        ])
      #expect(reply.status == 204)
      #expect(reply.headers[.accessControlAllowOrigin] == Self.app)
      #expect(reply.headers[.accessControlAllowCredentials] == "true")
      #expect(reply.headers[.accessControlAllowMethods]?.contains("PUT") == true)
      #expect(reply.headers[.accessControlAllowMethods]?.contains("COPY") == true)
      #expect(reply.headers[.accessControlMaxAge] == "600" && reply.headers[.vary] == "Origin")
      #expect(
        reply.headers[.accessControlAllowHeaders]
          == "authorization,if-match,x-full-commit,x-anything")
    }
  }

  /// Regression: behind a proxy that passes its own `Host` on, every write of the page was 403, and `http` was taken for
  /// the `https` of the URL.
  @Test(
    arguments: [
      ("https://hotels.example", 201), ("https://app.example", 201), ("http://hotels.example", 403),
      ("https://hotels.example:8443", 403), ("http://localhost", 403), ("https://localhost", 403),
      ("null", 403), ("http://app.example", 403),
    ])
  func publicURLIsTheOwnOriginWhateverTheHost(origin: String, status: Int) async throws {
    let url = "https://hotels.example/base"
    try await APIFixture.open(origins: [Self.app], publicURL: url) { api in
      let login = try await api.signUp("ann")
      let cookie = try #require(login.headers[.setCookie]?.split(separator: ";").first)
      let write = try await api.call(
        .put, "/v1/bookmarks/a", body: "{}",
        headers: [
          .origin: origin, .cookie: String(cookie), .contentType: "application/json",
        ])
      #expect(write.status == status)
      let form = try await api.call(
        .post, "/couch/_session", body: "name=ann&password=wrong:horse",
        headers: [.origin: origin, .contentType: "application/x-www-form-urlencoded"])
      #expect(form.status == (status == 403 ? 403 : 401))
    }
  }
}
