import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

/// Use renews a session: once a day, whatever is asked.
@Suite struct SessionRenewalTests {
  private static let day: Int64 = 86_400

  @Test func theFirstAnswerOfADayOfAnyFamilyRenewsTheToken() async throws {
    try await APIFixture.open { api in
      var token = try await api.user("anna")
      try await api.bookmark("a", token)
      let couch = try #require(try await api.call(.get, "/v1/me", token: token)["store"])
      let requests: [(HTTPRequest.Method, String, String?)] = [
        (.get, "/v1/bookmarks", nil), (.get, "/v1/hotels?description=pool", nil),
        (.put, "/v1/bookmarks/b", #"{"name":"b"}"#), (.get, "/couch/_session", nil),
        (.get, "/couch/\(couch)", nil), (.get, "/couch/\(couch)/_changes", nil),
        (.post, "/couch/\(couch)/_bulk_get", #"{"docs":[{"id":"a"}]}"#), (.get, "/v1/me", nil),
        (.get, "/v1/mirror", nil),
      ]
      for (method, target, body) in requests {
        #expect(
          try await api.call(method, target, token: token, body: body).headers[.renewedToken]
            == nil, "\(target)")
        api.clock.advance(seconds: Self.day)
        let missing = try await api.call(.get, "/v1/bookmarks/nothing", token: token)
        #expect(missing.headers[.renewedToken] == nil)
        let reply = try await api.call(method, target, token: token, body: body)
        let next = try #require(reply.headers[.renewedToken], "\(target)")
        #expect(reply.headers[.cacheControl] == "private, no-store", "\(target)")
        #expect(reply.headers[.setCookie] == nil && reply.headers[.eTag] == nil, "\(target)")
        // A client that does not take the new token has the usual answers for the rest of the day.
        #expect(
          try await api.call(.get, "/v1/bookmarks", token: token).headers[.renewedToken] == nil
            || target == "/v1/me")
        token = next
      }
    }
  }

  @Test func aRenewingAnswerIsNever304AndTheNextOneIs() async throws {
    try await APIFixture.open { api in
      let token = try await api.user("anna")
      let tag = try await api.bookmark("a", token)
      let known: HTTPFields = [.ifNoneMatch: tag]
      let target = "/v1/bookmarks/a"
      #expect(try await api.call(.get, target, token: token, headers: known).status == 304)
      api.clock.advance(seconds: Self.day)
      // Clients of CouchDB ask with HEAD for the tag alone.
      let head = try await api.call(.head, target, token: token)
      #expect(head.headers[.eTag] == tag && head.headers[.renewedToken] == nil)
      let reply = try await api.call(.get, target, token: token, headers: known)
      #expect(reply.status == 200 && reply["id"] == "a")
      #expect(reply.headers[.renewedToken] != nil && reply.headers[.eTag] == nil)
      #expect(try await api.call(.get, target, token: token, headers: known).status == 304)
    }
  }

  @Test(arguments: [SentCredentials.cookieName, SentCredentials.liteCookieName])
  func aCookieIsRenewedAsACookieAndNoScriptGetsTheToken(name: String) async throws {
    try await APIFixture.open(origins: ["https://app.example"]) { api in
      let set = try #require(try await api.signUp("anna").headers[.setCookie])
      let token = set.prefix { $0 != ";" }.drop { $0 != "=" }
      let headers: HTTPFields = [.cookie: name + token, .origin: "https://app.example"]
      api.clock.advance(seconds: Self.day)
      let reply = try await api.call(.get, "/v1/bookmarks", headers: headers)
      let renewed = try #require(reply.headers[.setCookie])
      #expect(renewed.hasPrefix(name + "="))
      #expect(renewed.contains("; HttpOnly") && renewed.contains("; Max-Age=1209600"))
      #expect(reply.headers[.renewedToken] == nil)
      #expect(reply.headers[.cacheControl] == "private, no-store")
      #expect(
        try await api.call(.get, "/v1/bookmarks", headers: headers).headers[.setCookie] == nil)
    }
  }

  @Test(arguments: [["https://app.example"], ["*"]])
  func aPageOfAnotherOriginReadsTheNextTokenOfTheOneItSends(origins: [String]) async throws {
    try await APIFixture.open(origins: origins) { api in
      let token = try await api.guest()
      api.clock.advance(seconds: Self.day)
      let reply = try await api.call(
        .get, "/v1/bookmarks", token: token, headers: [.origin: "https://app.example"])
      #expect(reply.headers[.renewedToken] != nil)
      #expect(
        reply.headers[.accessControlExposeHeaders]?.contains("renewed-token") == true)
    }
  }

  @Test(arguments: [true, false])
  func fortyDaysOfDailyUseEndNoSession(isGuest: Bool) async throws {
    try await APIFixture.open { api in
      let made =
        if isGuest {
          try await api.call(
            .post, "/v1/guests", body: #"{"cookie":true}"#,
            headers: [.contentType: "application/json"])
        } else {
          try await api.signUp("anna")
        }
      var cookie = try #require(made.headers[.setCookie])
      var days = 0
      for day in 0..<40 {
        let headers: HTTPFields = [
          .cookie: String(cookie.prefix { $0 != ";" }), .origin: "http://localhost",
          .contentType: "application/json",
        ]
        let reply = try await api.call(
          .put, "/v1/bookmarks/h\(day)", body: #"{"name":"h"}"#, headers: headers)
        #expect(reply.status == 201)
        if let next = reply.headers[.setCookie] {
          cookie = next
          days += 1
        }
        api.clock.advance(seconds: Self.day)
      }
      #expect(days == 39)
    }
  }

  @Test func endingASessionDoesNotRenewIt() async throws {
    try await APIFixture.open { api in
      let token = try await api.user("anna")
      api.clock.advance(seconds: Self.day)
      let reply = try await api.call(.delete, "/v1/sessions", token: token)
      #expect(reply.status == 204 && reply.headers[.renewedToken] == nil)
      #expect(reply.headers[.setCookie]?.contains("Max-Age=0") == true)
    }
  }

  @Test func allSessionsEndAtOnceAndTheOwnToo() async throws {
    try await APIFixture.open { api in
      let first = try await api.user("anna")
      let login = APIFixture.credentials("anna")
      let second = try #require(try await api.call(.post, "/v1/sessions", body: login)["token"])
      let wrong = try await api.call(.delete, "/v1/sessions?all=yes", token: first)
      #expect(wrong.status == 400 && wrong.error == "invalid_parameter")
      #expect(try await api.call(.delete, "/v1/sessions?all=true", token: first).status == 204)
      for token in [first, second] {
        #expect(try await api.call(.get, "/v1/me", token: token).status == 401)
      }
      #expect(try await api.call(.post, "/v1/sessions", body: login).status == 200)
    }
  }
}
