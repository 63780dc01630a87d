import Foundation
import HTTPTypes
import Hotels
import JSON
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
}
