import Accounts
import Documents
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite struct AuthenticationTests {
  private static func basic(_ text: String) -> HTTPFields {
    [.authorization: "Basic " + Data(text.utf8).base64EncodedString()]
  }

  @Test(arguments: [
    "Bearer", "Bearer ", "Bearer x", "Bearer a.b.c", "Basic", "Basic !", "Basic YW5uYQ==",
    "Digest x", "nonsense", "Bearer " + String(repeating: "x", count: 9_000),
  ])
  func badAuthorizationIsChallenged(field: String) async throws {
    try await APIFixture.open { api in
      for path in ["/v1/me", "/couch/bookmarks"] {
        let reply = try await api.call(.get, path, headers: [.authorization: field])
        #expect(reply.status == 401)
        #expect(reply.error == "unauthorized")
        // With `Basic` beside it, a browser would ask for a password, and `URLSession` on Linux would never end the
        // request.
        #expect(reply.headers[.wwwAuthenticate] == #"Bearer realm="hotel-bookmarks""#)
      }
    }
  }

  @Test func schemeHasNoCase() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      for scheme in ["bearer ", "BEARER ", "Bearer  "] {
        let reply = try await api.call(
          .get, "/v1/me", headers: [.authorization: scheme + token])
        #expect(reply.status == 200)
      }
    }
  }

  @Test func basicIsNameAndPasswordWithColons() async throws {
    try await APIFixture.open { api in
      _ = try await api.signUp("anna")
      let me = try await api.call(
        .get, "/v1/me", headers: Self.basic("anna:" + APIFixture.password))
      #expect(me["username"] == "anna")
      #expect(me["expiresAt"] == nil)
      for wrong in ["anna:wrong password", "bert:" + APIFixture.password, "anna", ":", "anna:"] {
        let reply = try await api.call(.get, "/v1/me", headers: Self.basic(wrong))
        #expect(reply.status == 401, "\(wrong)")
      }
    }
  }

  @Test func cookieReadsAndWritesOnlyFromAnAllowedOrigin() async throws {
    try await APIFixture.open(origins: ["https://app.example"]) { api in
      let set = try #require(try await api.signUp("anna").headers[.setCookie])
      #expect(set.contains("; HttpOnly") && set.contains("; SameSite=Strict"))
      #expect(set.contains("; Max-Age=1209600"))
      let cookie = "theme=dark; " + set.prefix { $0 != ";" }
      let me = try await api.call(.get, "/v1/me", headers: [.cookie: cookie])
      #expect(me["username"] == "anna")
      let origins: [(String?, Int)] = [
        (nil, 403), ("null", 403), ("https://evil.example", 403), ("http://localhost", 201),
        ("https://localhost", 200), ("https://app.example", 200), ("http://localhost:81", 403),
      ]
      for (origin, status) in origins {
        var headers: HTTPFields = [.cookie: cookie, .contentType: "application/json"]
        headers[.origin] = origin
        let reply = try await api.call(.put, "/v1/bookmarks/a", body: "{}", headers: headers)
        #expect(reply.status == status, "\(origin ?? "none")")
        if status == 403 { #expect(reply.error == "forbidden") }
      }
    }
  }

  @Test(.bug(id: "35/39")) func answersForOneCallerArePrivate() async throws {
    try await APIFixture.open { api in
      let token = try await api.user("anna")
      let tag = try await api.bookmark("a", token)
      let couch = try #require(try await api.call(.get, "/v1/me", token: token)["store"])
      for path in [
        "/v1/me", "/v1/bookmarks", "/v1/bookmarks/a", "/v1/hotels", "/v1/mirror",
        "/v1/lists", "/couch/\(couch)", "/couch/\(couch)/a", "/couch/\(couch)/_changes",
        "/v1/me/export",
      ] {
        let reply = try await api.call(.get, path, token: token)
        #expect(reply.status == 200)
        #expect(reply.headers[.cacheControl]?.hasPrefix("private, ") == true, "\(path)")
      }
      let known = try await api.call(
        .get, "/v1/bookmarks/a", token: token, headers: [.ifNoneMatch: tag])
      #expect(known.status == 304 && known.headers[.cacheControl] == "private, no-cache")
      let written = try await api.call(.put, "/v1/bookmarks/b", token: token, body: "{}")
      #expect(written.headers[.cacheControl] == "private, no-cache")
      let anybodys = try await api.call(.get, "/v1/hotels")
      #expect(anybodys.headers[.cacheControl] == "no-cache")
    }
  }

  @Test(.bug(id: "35/39")) func blankBehindANameIsNoOtherName() async throws {
    try await APIFixture.open { api in
      #expect(try await api.signUp("anna b").status == 201)
      for name in ["anna b ", " anna b", "ANNA B\u{3000}"] {
        let session = try await api.call(
          .post, "/v1/sessions", body: APIFixture.credentials(name))
        #expect(session.status == 200 && session["username"] == "anna b", "\(name)")
        let me = try await api.call(
          .get, "/v1/me", headers: Self.basic(name + ":" + APIFixture.password))
        #expect(me["username"] == "anna b")
      }
      // Guesses of all spellings count together.
      var last = 0
      for number in 0..<12 {
        let name = "anna b" + String(repeating: " ", count: number % 4)
        last = try await api.call(
          .post, "/v1/sessions", body: APIFixture.credentials(name, "wrong password \(number)")
        ).status
      }
      #expect(last == 429)
    }
  }

  @Test func authorizationGoesBeforeTheCookie() async throws {
    try await APIFixture.open { api in
      let anna = try await api.user("anna")
      let cookie = "AuthSession=" + (try await api.user("bert"))
      let reply = try await api.call(
        .put, "/v1/bookmarks/a", token: anna, body: "{}", headers: [.cookie: cookie])
      #expect(reply.status == 201)
    }
  }

  @Test func guestsTokenIsRenewedWhileItIsUsed() async throws {
    try await APIFixture.open { api in
      var token = try await api.guest()
      try await api.bookmark("a", token)
      let early = try await api.call(.get, "/v1/me", token: token)
      #expect(early.headers[.renewedToken] == nil)
      for _ in 0..<3 {
        api.clock.advance(seconds: AccountSettings.guestSeconds - 86_400)
        let me = try await api.call(.get, "/v1/me", token: token)
        token = try #require(me.headers[.renewedToken])
        // The answer says until when the token works that came with it.
        let end = api.clock.now.adding(seconds: AccountSettings.guestSeconds)
        #expect(me["expiresAt"] == end.rfc3339)
        #expect(token.isEmpty == false)
      }
      #expect(try await api.call(.get, "/v1/bookmarks", token: token).ids == ["a"])
      api.clock.advance(seconds: AccountSettings.guestSeconds + 86_400)
      let late = try await api.call(.get, "/v1/me", token: token)
      #expect(late.status == 401)
      #expect(late["reason"]?.contains("expired") == true)
    }
  }
}
