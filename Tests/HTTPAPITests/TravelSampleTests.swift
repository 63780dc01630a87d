import Documents
import Foundation
import HTTPTypes
import Hotels
import Testing

@testable import HTTPAPI

/// The routes that the travel-sample apps call, with the responses of their own back ends.
@Suite struct TravelSampleTests {
  private static func filled(_ api: APIFixture) throws {
    try api.search.add(
      #"{"id":1,"name":"One","address":"1 A St","city":"Paris","state":null,"country":"France","#
        + #""description":"Nice","extra":1}"#,
      #"{"id":2,"name":"Two","address":"","country":"Peru"}"#,
      #"{"id":3,"name":"Three","address":7}"#)
  }

  @Test func firstGenerationHasDataAlone() async throws {
    try await APIFixture.open { api in
      try Self.filled(api)
      let reply = try await api.call(.get, "/api/hotel/nice/Paris%20France/")
      #expect(
        reply.text
          == #"{"data":[{"id":"hotel_1","address":"1 A St, Paris, France","city":"Paris","#
          + #""country":"France","description":"Nice","name":"One","state":null},"#
          + #"{"id":"hotel_2","address":"Peru","city":null,"country":"Peru","description":null,"#
          + #""name":"Two","state":null},"#
          + #"{"id":"hotel_3","address":"","city":null,"country":null,"description":null,"#
          + #""name":"Three","state":null}]}"#)
      #expect(
        api.search.queries == [
          HotelQuery(
            description: "nice", location: "Paris France", matching: .phrase, limit: 100)
        ])
    }
  }

  @Test func secondGenerationHasAContext() async throws {
    try await APIFixture.open { api in
      try Self.filled(api)
      let reply = try await api.call(.get, "/api/hotels/nice/Paris")
      #expect(
        reply.text.hasPrefix(
          #"{"context":["FTS search - scoped to: inventory.hotel within fields "#
            + #"address,city,state,country,name,description"],"data":[{"id":"hotel_1","#
            + #""address":"1 A St, Paris, France","description":"Nice","name":"One"},"#))
      #expect(reply.ids == ["hotel_1", "hotel_2", "hotel_3"])
      #expect(reply["source"] == "upstream")
    }
  }

  @Test func answerThatWasKeptSaysHowOldItIs() async throws {
    try await APIFixture.open { api in
      try Self.filled(api)
      api.search.answer(from: .stale, age: 7, note: "hit; ttl=-3")
      for path in ["/api/hotel/a/b", "/api/hotels/a/b", "/v1/hotels"] {
        let reply = try await api.call(.get, path)
        #expect(reply["source"] == (path == "/api/hotel/a/b" ? nil : "stale"))
        #expect(reply.headers[.age] == "7")
        #expect(reply.headers[.cacheStatus] == "hotel-bookmarks; hit; ttl=-3")
      }
    }
  }

  /// The apps of the first generation read `failure`, those of the second read `message`.
  @Test func errorSaysItsReasonAsTheAppsReadIt() async throws {
    try await APIFixture.open { api in
      let body = #"{"user":"nobody","password":"no password"}"#
      let wrong = try await api.call(.post, "/api/user/login", body: body)
      #expect(wrong.status == 401)
      #expect(wrong["failure"] == wrong["reason"] && wrong["message"] == wrong["reason"])
      let unknown = try await api.call(.get, "/api/nothing")
      #expect(unknown.status == 404 && unknown["failure"] == "There is nothing here")
      #expect(try await api.call(.get, "/v1/nothing").json["failure"] == nil)
    }
  }

  @Test(
    arguments: [
      (.get, "/api/airports?search=SFO"), (.get, "/api/flightPaths/SFO/LHR?leave=1"),
      (.get, "/api/user/anna/flights"), (.post, "/api/user/anna/flights"),
      (.get, "/api/tenants/t/user/anna/flights"), (.put, "/api/tenants/t/user/anna/flights"),
    ] as [(HTTPRequest.Method, String)])
  func whatIsNotOfferedSaysSo(method: HTTPRequest.Method, path: String) async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(method, path)
      #expect(reply.status == 501 && reply.error == "not_implemented")
      #expect(reply["message"]?.hasSuffix("airports, flights and bookings are not") == true)
    }
  }

  @Test(
    arguments: [
      ("/api/hotel/*/*", nil, nil), ("/api/hotel/%2A/London", nil, "London"),
      ("/api/hotel/pool/*/", "pool", nil), ("/api/hotel/pool/", "pool", nil),
      ("/api/hotels/pool/*", "pool", nil),
      ("/api/hotels/*/London/", nil, "London"), ("/api/hotels/pool/", "pool", nil),
      ("/api/hotels/a+b", "a+b", nil), ("/api/hotels/a%2Fb/c*", "a/b", "c*"),
    ] as [(String, String?, String?)])
  func starMeansAny(path: String, description: String?, location: String?) async throws {
    try await APIFixture.open { api in
      #expect(try await api.call(.get, path).status == 200)
      let query = try #require(api.search.queries.first)
      #expect(query.description == description)
      #expect(query.location == location)
      #expect(query.matching == .phrase)
    }
  }

  @Test(arguments: ["/api/hotels", "/api/hotels/", "/api/hotels/*", "/api/hotels/*/*"])
  func secondGenerationRejectsNothing(path: String) async throws {
    try await APIFixture.open { api in
      try Self.filled(api)
      let reply = try await api.call(.get, path)
      #expect(reply.status == 200)
      #expect(
        reply.text
          == #"{"context":["FTS search rejected - no search terms were provided"],"data":[]}"#)
      #expect(api.search.queries.isEmpty)
    }
  }

  @Test func longPhraseIsRefused() async throws {
    try await APIFixture.open { api in
      let long = String(repeating: "x", count: 513)
      for path in ["/api/hotel/\(long)/a", "/api/hotel/a/\(long)", "/api/hotels/\(long)"] {
        let reply = try await api.call(.get, path)
        #expect(reply.status == 400)
        #expect(reply.error == "invalid_parameter")
      }
    }
  }

  /// The claims that the apps read from a token. The signature is not checked.
  private static func claims(of token: String) throws -> JSONNode {
    var text = String(try #require(token.split(separator: ".").dropFirst().first))
    text = text.replacing("-", with: "+").replacing("_", with: "/")
    text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    return try ParsedJSON(Array(#require(Data(base64Encoded: text))), limits: .small).root
  }

  @Test(arguments: [
    ("/api/user", "users"), ("/api/tenants/tenant_agent_00/user", "tenant_agent_00.users"),
  ])
  func accountsSayWhereTheyWere(path: String, scope: String) async throws {
    try await APIFixture.open { api in
      let body = #"{"user":"anna","password":"\#(APIFixture.password)"}"#
      let made = try await api.call(.post, path + "/signup", body: body)
      #expect(made.status == 201)
      #expect(made.json["context"] == [.string("KV insert - scoped to \(scope): document anna")])
      let found = try await api.call(.post, path + "/login", body: body)
      #expect(found.status == 200)
      #expect(
        found.json["context"] == [
          .string("KV get - scoped to \(scope): for password field in document anna")
        ])
      let token = try #require(found.json["data"]?["token"]?.string)
      #expect(try await api.call(.get, "/v1/me", token: token)["username"] == "anna")
      #expect(try Self.claims(of: token)["user"]?.string == "anna")
      #expect(try await api.call(.post, path + "/signup", body: body).status == 409)
      let wrong = body.replacing(APIFixture.password, with: "wrong password")
      #expect(try await api.call(.post, path + "/login", body: wrong).status == 401)
      #expect(try await api.call(.post, path + "/login", body: "{}").status == 400)
    }
  }

  /// The web app of the mobile tutorial sends both at a sign-up, and at a log-in the MD5.
  @Test func passwordAndItsDigestLogInWhoeverSignedUpWithBoth() async throws {
    try await APIFixture.open { api in
      let digest = "0e5c9ae2fc9a8cb8f3a8a7f9d9b3d4ba"
      let raw = #""rawpassword":"\#(APIFixture.password)""#
      let wrong = #"{"user":"anna","password":"\#(digest)",\#(raw)}"#
      let refused = try await api.call(.post, "/api/user/signup", body: wrong)
      #expect(refused.status == 400 && refused.error == "invalid_password")
      let numbers = #"{"user":"anna","password":"\#(Self.digest)","rawpassword":1}"#
      #expect(try await api.call(.post, "/api/user/signup", body: numbers).status == 400)
      let body = #"{"user":"anna","password":"\#(Self.digest)",\#(raw)}"#
      #expect(try await api.call(.post, "/api/user/signup", body: body).status == 201)
      for password in [Self.digest, APIFixture.password] {
        let travel = #"{"user":"anna","password":"\#(password)"}"#
        #expect(try await api.call(.post, "/api/user/login", body: travel).status == 200)
        let session = #"{"username":"anna","password":"\#(password)"}"#
        #expect(try await api.call(.post, "/v1/sessions", body: session).status == 200)
      }
      let upper = #"{"user":"anna","password":"\#(Self.digest.uppercased())"}"#
      #expect(try await api.call(.post, "/api/user/login", body: upper).status == 401)
    }
  }

  /// MD5 of ``APIFixture/password``.
  private static let digest = "6ca5a946bc0ba5cb1824bd99f84379d9"

  @Test func nextPasswordLogsInThereToo() async throws {
    try await APIFixture.open { api in
      let body =
        #"{"user":"anna","password":"\#(Self.digest)","rawpassword":"\#(APIFixture.password)"}"#
      let made = try await api.call(.post, "/api/user/signup", body: body)
      let token = try #require(made.json["data"]?["token"]?.string)
      let change = #"{"currentPassword":"\#(APIFixture.password)","password":"a good password"}"#
      #expect(try await api.call(.put, "/v1/me/password", token: token, body: change).status == 204)
      // MD5 of "a good password".
      for password in ["a good password", "265d0ad99e158c3068551a57fde7568d"] {
        let next = #"{"user":"anna","password":"\#(password)"}"#
        #expect(try await api.call(.post, "/api/user/login", body: next).status == 200)
      }
      let former = #"{"user":"anna","password":"\#(Self.digest)"}"#
      #expect(try await api.call(.post, "/api/user/login", body: former).status == 401)
    }
  }

  /// The MD5 of somebody who signed up with the password alone is a wrong password.
  @Test func digestAloneProvesNothingOfOthers() async throws {
    try await APIFixture.open { api in
      let body = #"{"user":"anna","password":"\#(APIFixture.password)"}"#
      let made = try await api.call(.post, "/api/user/signup", body: body)
      #expect(made.status == 201)
      let digest = #"{"user":"anna","password":"\#(Self.digest)"}"#
      #expect(try await api.call(.post, "/api/user/login", body: digest).status == 401)
    }
  }
}
