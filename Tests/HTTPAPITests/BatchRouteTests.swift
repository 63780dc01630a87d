import Documents
import HTTPTypes
import Hotels
import StoreTesting
import TestSupport
import Testing

@testable import HTTPAPI

@Suite struct BatchRouteTests {
  private static let pair = #"{"add":[{"id":"a","name":"A"},{"id":"b","name":"B"}]}"#

  @Test func batchAnswersEachItemAndHowToUndoIt() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let made = try await api.call(.post, "/v1/bookmarks", token: token, body: Self.pair)
      #expect(made.status == 200)
      #expect(made.ids == ["a", "b"])
      #expect(Self.statuses(made) == [201, 201])
      let changed = try await api.call(
        .post, "/v1/bookmarks", token: token,
        body: #"{"add":[{"id":"a","name":"New"}],"remove":["b","none"]}"#)
      #expect(Self.statuses(changed) == [200, 204, 404])
      let undo = try #require(changed.json["undo"])
      let undone = try await api.call(
        .post, "/v1/bookmarks", token: token, body: String(decoding: undo.bytes, as: UTF8.self))
      #expect(undone.status == 200)
      let list = try await api.call(.get, "/v1/bookmarks", token: token)
      #expect(list.ids == ["b", "a"])
      #expect(list.text.contains(#""name":"A""#) && !list.text.contains("New"))
    }
  }

  @Test func idAloneIsWhatTheUpstreamKnows() async throws {
    try await APIFixture.open { api in
      try api.search.add(#"{"id":"a","name":"A"}"#, #"{"id":"b","name":"B"}"#)
      let token = try await api.guest()
      let body = #"{"add":[{"id":"a"},{"id":"b"}]}"#
      let made = try await api.call(.post, "/v1/bookmarks", token: token, body: body)
      #expect(Self.statuses(made) == [201, 201])
      let list = try await api.call(.get, "/v1/bookmarks", token: token)
      #expect(list.text.contains(#""name":"B""#))
      let unknown = #"{"add":[{"id":"a"},{"id":"none"}],"remove":["b"]}"#
      let refused = try await api.call(.post, "/v1/bookmarks", token: token, body: unknown)
      #expect(refused.status == 404)
      #expect(refused["reason"] == "No hotel of the id none is known; send its facts in the body")
      api.search.fail(with: .unavailable)
      let down = try await api.call(.post, "/v1/bookmarks", token: token, body: unknown)
      #expect(down.status == 503 && down.error == "search_unavailable")
      #expect(
        Self.statuses(try await api.call(.post, "/v1/bookmarks", token: token, body: body)) == [
          200, 200,
        ])
      #expect(try await api.call(.get, "/v1/bookmarks", token: token).bytes == list.bytes)
    }
  }

  @Test func retryWithTheSameKeyGetsTheSameAnswer() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let key: HTTPFields = [.idempotencyKey: "once"]
      let first = try await api.call(
        .post, "/v1/bookmarks", token: token, body: Self.pair, headers: key)
      let tag = try await api.call(.get, "/v1/bookmarks", token: token).headers[.eTag]
      let second = try await api.call(
        .post, "/v1/bookmarks", token: token, body: Self.pair, headers: key)
      #expect(second.bytes == first.bytes)
      #expect(try await api.call(.get, "/v1/bookmarks", token: token).headers[.eTag] == tag)
      let other = try await api.call(
        .post, "/v1/bookmarks", token: token, body: #"{"remove":["a"]}"#, headers: key)
      #expect(other.status == 422)
      #expect(other.error == "idempotency_key_reused")
      api.clock.advance(seconds: 86_401)
      let later = try await api.call(
        .post, "/v1/bookmarks", token: token, body: #"{"remove":["a"]}"#, headers: key)
      #expect(Self.statuses(later) == [204])
    }
  }

  @Test func anotherPersonsKeyIsAnotherKey() async throws {
    try await APIFixture.open { api in
      let key: HTTPFields = [.idempotencyKey: "once"]
      for body in [Self.pair, #"{"remove":["a"]}"#] {
        let reply = try await api.call(
          .post, "/v1/bookmarks", token: try await api.guest(), body: body, headers: key)
        #expect(reply.status == 200)
      }
    }
  }

  @Test(arguments: [("", 400), (String(repeating: "k", count: 256), 400), ("k", 200)])
  func keyHasALength(key: String, status: Int) async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(
        .post, "/v1/bookmarks", token: try await api.guest(), body: Self.pair,
        headers: [.idempotencyKey: key])
      #expect(reply.status == status)
      if status == 400 { #expect(reply.error == "invalid_header") }
    }
  }

  @Test(arguments: [
    #"{"add":[{"id":"x"},{"id":"x"}]}"#, #"{"add":[{"id":"x"}],"remove":["x"]}"#,
    #"{"add":[{"id":"x"},7]}"#, #"{"add":{"id":"x"}}"#, #"{"remove":[true]}"#, "[]",
    #"{"add":[{"id":"x"}],"replace":[]}"#, #"{"add":[{"id":"x"},{"id":"y","type":"motel"}]}"#,
  ])
  func batchIsAllOrNothing(body: String) async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let reply = try await api.call(.post, "/v1/bookmarks", token: token, body: body)
      #expect(reply.status == 400)
      #expect(reply.error == "doc_validation")
      #expect(try await api.call(.get, "/v1/bookmarks", token: token).ids == [])
    }
  }

  @Test func removingFromNothingMakesNoStore() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let reply = try await api.call(
        .post, "/v1/bookmarks", token: token, body: #"{"remove":["a",7]}"#)
      #expect(Self.statuses(reply) == [404, 404])
      #expect(api.engine.tally.created <= 1, "at most the system store")
    }
  }

  private static func statuses(_ reply: Reply) -> [Int] {
    reply.json["results"]?.array?.compactMap { $0["status"]?.int } ?? []
  }
}
