import Documents
import HTTPTypes
import Testing

@testable import HTTPAPI

/// Which pages can put a session into a browser.
@Suite(.bug(id: "35/33")) struct CookieOriginTests {
  private static let evil = "https://evil.example"
  private static let json: HTTPFields = [.contentType: "application/json"]

  /// The requests that set the cookie, for the user `ann`.
  private static let entries: [(path: String, body: String, type: String)] = [
    ("/v1/users", APIFixture.credentials("new"), "application/json"),
    ("/v1/sessions", APIFixture.credentials("ann"), "application/json"),
    ("/v1/guests", #"{"cookie":true}"#, "application/json"),
    (
      "/couch/_session", #"{"name":"ann","password":"\#(APIFixture.password)"}"#, "application/json"
    ),
    (
      "/couch/_session", "name=ann&password=\(APIFixture.password)",
      "application/x-www-form-urlencoded"
    ),
  ]

  @Test func otherOriginSetsNoCookieAndMakesNothing() async throws {
    try await APIFixture.open { api in
      _ = try await api.signUp("ann")
      for (path, body, type) in Self.entries {
        for origin in [Self.evil, "null"] {
          let reply = try await api.call(
            .post, path, body: body, headers: [.origin: origin, .contentType: type])
          #expect(reply.status == 403 && reply.headers[.setCookie] == nil, "\(path) \(type)")
          #expect(reply.error == "forbidden")
        }
        let own = try await api.call(
          .post, path, body: body, headers: [.origin: "http://localhost", .contentType: type])
        #expect(own.status < 300 && own.headers[.setCookie] != nil, "\(path) \(type)")
      }
    }
  }

  @Test func idTokenOfAnotherOriginIsNotExchanged() async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(
        .post, "/v1/sessions", body: #"{"idToken":"a.b.c"}"#,
        headers: Self.json.with([.origin: Self.evil]))
      #expect(reply.status == 403 && reply.error == "forbidden")
    }
  }

  @Test func pageSaysThatItsBodyIsJSON() async throws {
    try await APIFixture.open { api in
      let token = try await api.user("ann")
      let own: HTTPFields = [.origin: "http://localhost"]
      for path in ["/v1/users", "/v1/sessions", "/couch/_session"] {
        let body = APIFixture.credentials(path == "/v1/users" ? "new" : "ann")
        let reply = try await api.call(.post, path, body: body, headers: own)
        #expect(reply.status == 415 && reply.headers[.setCookie] == nil, "\(path)")
        #expect(reply.error == "bad_content_type")
      }
      // A body that is absent needs no type.
      let empty = try await api.call(.put, "/v1/bookmarks/a", token: token, headers: own)
      #expect(empty.status == 404)
      let typed = try await api.call(
        .put, "/v1/bookmarks/a", token: token, body: "{}", headers: own.with(Self.json))
      #expect(typed.status == 201)
    }
  }

  /// A client that keeps cookies without knowing of them, such as a session of an HTTP library.
  @Test func clientThatIsNoBrowserEntersAgainWithItsCookie() async throws {
    try await APIFixture.open { api in
      let first = try await api.signUp("ann")
      let set = try #require(first.headers[.setCookie])
      let jar: HTTPFields = [.cookie: String(set.prefix { $0 != ";" })]
      for (path, body, type) in Self.entries {
        let reply = try await api.call(
          .post, path, body: body, headers: jar.with([.contentType: type]))
        #expect(reply.status < 300 && reply.headers[.setCookie] != nil, "\(path) \(type)")
      }
      let cookieOnly = #"{"username":"ann","password":"\#(APIFixture.password)","cookie":true}"#
      let again = try await api.call(.post, "/v1/sessions", body: cookieOnly, headers: jar)
      #expect(again.status == 200)
      // Other writes by cookie still need an Origin.
      let write = try await api.call(.put, "/v1/bookmarks/a", body: "{}", headers: jar)
      #expect(write.status == 403)
    }
  }

  /// The cookie that a user's session replaces is the only credential that the guest has.
  @Test func guestOfTheReplacedCookieIsTakenOver() async throws {
    try await APIFixture.open { api in
      _ = try await api.signUp("ann")
      let own = Self.json.with([.origin: "http://localhost"])
      let made = try await api.call(.post, "/v1/guests", body: #"{"cookie":true}"#, headers: own)
      let guest = String(try #require(made.headers[.setCookie]).prefix { $0 != ";" })
      let written = try await api.call(
        .put, "/v1/bookmarks/a", body: #"{"myNote":"quiet"}"#, headers: own.with([.cookie: guest]))
      #expect(written.status == 201)
      let entered = try await api.call(
        .post, "/couch/_session", body: #"{"name":"ann","password":"\#(APIFixture.password)"}"#,
        headers: own.with([.cookie: guest]))
      let user = String(try #require(entered.headers[.setCookie]).prefix { $0 != ";" })
      let kept = try await api.call(.get, "/v1/bookmarks/a", headers: own.with([.cookie: user]))
      #expect(kept.status == 200, "\(kept.text)")
      #expect(kept.json["hotel"]?["myNote"]?.string == "quiet")
    }
  }

  @Test func pageOfAnyOriginGetsATokenAndNoCookie() async throws {
    try await APIFixture.open(origins: ["*"]) { api in
      let fields = Self.json.with([.origin: Self.evil])
      let made = try await api.call(
        .post, "/v1/users", body: APIFixture.credentials("ann"), headers: fields)
      #expect(made.status == 201 && made["token"] != nil && made.headers[.setCookie] == nil)
      let only = #"{"username":"ann","password":"\#(APIFixture.password)","cookie":true}"#
      let refused = try await api.call(.post, "/v1/sessions", body: only, headers: fields)
      #expect(refused.status == 403)
      let token = try #require(made["token"])
      let changed = try await api.call(
        .put, "/v1/me/password", token: token,
        body: #"{"currentPassword":"\#(APIFixture.password)","password":"another good one"}"#,
        headers: fields)
      #expect(changed.status == 204 && changed.headers[.setCookie] == nil)
      let renewed = try #require(changed.headers[.renewedToken])
      #expect(try await api.call(.get, "/v1/me", token: renewed).status == 200)
    }
  }
}

extension HTTPFields {
  fileprivate func with(_ others: HTTPFields) -> HTTPFields {
    var fields = self
    for field in others { fields.append(field) }
    return fields
  }
}
