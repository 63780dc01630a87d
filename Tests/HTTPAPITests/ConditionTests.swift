import HTTPTypes
import Testing

@testable import HTTPAPI

/// Entity tags and conditions (RFC 9110, section 13), through the routes. `R` stands for the current
/// revision's tag.
@Suite struct ConditionTests {
  @Test(arguments: [
    (#""R""#, 304), (#"W/"R""#, 304), ("*", 304), (#""x", "R""#, 304), (#" "R" "#, 304),
    (#""x",W/"R""#, 304), (#""x""#, 200), (#""r""#, 200), (#""""#, 200), ("R", 400), (#""R"#, 400),
    (#"R""#, 400), ("\"", 400), (#""R" "x""#, 400), (#""x",,"R""#, 400), (#"w/"R""#, 400),
  ])
  func ifNoneMatchOnRead(field: String, status: Int) async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let tag = try await api.bookmark("one", token)
      let headers: HTTPFields = [.ifNoneMatch: Self.filled(field, tag)]
      let reply = try await api.call(.get, "/v1/bookmarks/one", token: token, headers: headers)
      #expect(reply.status == status)
      if status != 400 { #expect(reply.headers[.eTag] == tag) }
      if status == 400 { #expect(reply.error == "invalid_header") }
    }
  }

  @Test(arguments: [
    (#""R""#, 200), ("*", 200), (#""1-a", "R""#, 200), (#"W/"R""#, 412), (#""1-a""#, 412),
    (#""nonsense""#, 412), ("R", 400), ("", 400),
  ])
  func ifMatchOnWrite(field: String, status: Int) async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let tag = try await api.bookmark("one", token)
      let reply = try await api.call(
        .put, "/v1/bookmarks/one", token: token, body: #"{"name":"new"}"#,
        headers: [.ifMatch: Self.filled(field, tag)])
      #expect(reply.status == status)
      let kept = try await api.call(.get, "/v1/bookmarks/one", token: token)
      #expect((kept.headers[.eTag] == tag) == (status != 200))
    }
  }

  @Test func staleTagIsAFailedPrecondition() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let stale = try await api.bookmark("one", token)
      try await api.call(.put, "/v1/bookmarks/one", token: token, body: #"{"name":"new"}"#)
      for method in [HTTPRequest.Method.put, .delete] {
        let reply = try await api.call(
          method, "/v1/bookmarks/one", token: token, body: method == .put ? "{}" : nil,
          headers: [.ifMatch: stale])
        #expect(reply.status == 412)
        #expect(reply.error == "precondition_failed")
      }
    }
  }

  @Test func ifNoneMatchAnyMakesOnly() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      func put(_ field: String) async throws -> Int {
        try await api.call(
          .put, "/v1/bookmarks/one", token: token, body: "{}", headers: [.ifNoneMatch: field]
        ).status
      }
      #expect(try await put("*") == 201)
      #expect(try await put("*") == 412)
      #expect(try await put(#""1-a""#) == 400)
    }
  }

  @Test func ifMatchAnyNeedsABookmark() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      for method in [HTTPRequest.Method.put, .delete] {
        let reply = try await api.call(
          method, "/v1/bookmarks/none", token: token, body: method == .put ? "{}" : nil,
          headers: [.ifMatch: "*"])
        #expect(reply.status == 412)
      }
      #expect(try await api.call(.get, "/v1/bookmarks", token: token).ids == [])
    }
  }

  @Test func listIsNotModifiedUntilAnythingIs() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      var tags: [String] = []
      for id in ["", "one", "two"] {
        if !id.isEmpty { try await api.bookmark(id, token) }
        let list = try await api.call(.get, "/v1/bookmarks", token: token)
        let tag = try #require(list.headers[.eTag])
        let again = try await api.call(
          .get, "/v1/bookmarks", token: token, headers: [.ifNoneMatch: tag])
        #expect(again.status == 304)
        #expect(again.headers[.eTag] == tag)
        tags.append(tag)
      }
      #expect(Set(tags).count == 3)
      let stale = try await api.call(
        .get, "/v1/bookmarks", token: token, headers: [.ifNoneMatch: tags[1]])
      #expect(stale.ids == ["two", "one"])
    }
  }

  private static func filled(_ field: String, _ tag: String) -> String {
    field.replacing("R", with: tag.dropFirst().dropLast())
  }
}
