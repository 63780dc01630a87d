import Documents
import HTTPTypes
import Hotels
import StoreTesting
import Stores
import Testing

@testable import HTTPAPI

@Suite struct IdempotencyRouteTests {
  private static let key: HTTPFields = [.idempotencyKey: "once"]

  @Test func repeatedPutGetsTheFirstAnswerWhateverHasHappenedSince() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let body = #"{ "name": "A", "n": 1.50 }"#
      let first = try await api.call(
        .put, "/v1/bookmarks/a", token: token, body: body, headers: Self.key)
      #expect(first.status == 201)
      try await api.call(.delete, "/v1/bookmarks/a", token: token)
      let again = try await api.call(
        .put, "/v1/bookmarks/a", token: token, body: body, headers: Self.key)
      #expect(again.status == 201 && again.bytes == first.bytes)
      for name in [HTTPField.Name.eTag, .location, .contentType, .cacheControl] {
        #expect(again.headers[name] == first.headers[name], "\(name)")
      }
      #expect(try await api.call(.get, "/v1/bookmarks", token: token).ids == [])
    }
  }

  @Test func repeatedDeleteIsNoContentAgainAndRemovesNothing() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      try await api.bookmark("a", token)
      let first = try await api.call(.delete, "/v1/bookmarks/a", token: token, headers: Self.key)
      #expect(first.status == 204)
      try await api.bookmark("a", token)
      let again = try await api.call(.delete, "/v1/bookmarks/a", token: token, headers: Self.key)
      #expect(again.status == 204 && again.bytes.isEmpty)
      #expect(try await api.call(.get, "/v1/bookmarks", token: token).ids == ["a"])
    }
  }

  @Test func putThatChangesNothingIsAnsweredAgainToo() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      try await api.bookmark("a", token)
      let first = try await api.call(.put, "/v1/bookmarks/a", token: token, headers: Self.key)
      #expect(first.status == 200)
      try await api.call(.delete, "/v1/bookmarks/a", token: token)
      let again = try await api.call(.put, "/v1/bookmarks/a", token: token, headers: Self.key)
      #expect(again.status == 200 && again.bytes == first.bytes)
      #expect(try await api.call(.get, "/v1/bookmarks", token: token).ids == [])
    }
  }

  private static let others: [(HTTPRequest.Method, String, String?, HTTPFields)] = [
    (.put, "/v1/bookmarks/b", #"{"name":"A"}"#, [:]),
    (.put, "/v1/bookmarks/a", #"{"name":"B"}"#, [:]),
    (.put, "/v1/bookmarks/a?x=1", #"{"name":"A"}"#, [:]),
    (.put, "/v1/bookmarks/a", #"{"name":"A"}"#, [.ifMatch: "*"]),
    (.delete, "/v1/bookmarks/a", nil, [:]),
    (.post, "/v1/bookmarks", #"{"add":[]}"#, [:]),
  ]

  @Test func anotherRequestWithTheKeyIsRefused() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      try await api.call(
        .put, "/v1/bookmarks/a", token: token, body: #"{"name":"A"}"#, headers: Self.key)
      for (method, target, body, headers) in Self.others {
        let other = try await api.call(
          method, target, token: token, body: body, headers: headers + Self.key)
        #expect(other.status == 422 && other.error == "idempotency_key_reused")
      }
      #expect(try await api.call(.get, "/v1/bookmarks", token: token).ids == ["a"])
    }
  }

  @Test func refusalIsNotKeptSoThatTheSameRequestMaySucceedLater() async throws {
    try await APIFixture.open { api in
      let token = try await api.guest()
      let refused = try await api.call(.delete, "/v1/bookmarks/a", token: token, headers: Self.key)
      #expect(refused.status == 404)
      try await api.bookmark("a", token)
      let done = try await api.call(.delete, "/v1/bookmarks/a", token: token, headers: Self.key)
      #expect(done.status == 204)
    }
  }

  @Test func everyWriteButThoseThatAnswerSecretsKeepsItsAnswers() async throws {
    let service = try await APIFixture.service()
    let unkept = service.routes.filter { $0.template.hasPrefix("/v1/") && $0.answer != .kept }
      .filter { ![.get, .head].contains($0.method) }.map { "\($0.method) \($0.template)" }
    #expect(
      Set(unkept) == [
        "POST /v1/guests", "POST /v1/users", "POST /v1/sessions", "DELETE /v1/sessions",
        "POST /v1/lists/{listID}/invitations", "POST /v1/lists/{listID}/links", "DELETE /v1/me",
        "PUT /v1/me/password", "PUT /v1/sync", "DELETE /v1/sync", "POST /v1/sync/now",
        "POST /v1/password-resets",
        "POST /v1/admin/backups", "POST /v1/admin/backups/{backup}/verifications",
        "DELETE /v1/admin/backups/{backup}", "DELETE /v1/admin/users/{user}/sessions",
        "POST /v1/admin/verifications", "POST /v1/admin/catalogue",
        "POST /v1/admin/catalogue/undo", "POST /v1/admin/repairs", "POST /v1/admin/replacements",
        "POST /v1/admin/moves", "POST /v1/admin/users", "DELETE /v1/admin/users/{user}",
        "PUT /v1/admin/users/{user}/password", "POST /v1/admin/users/{user}/password-resets",
        "DELETE /v1/admin/jobs/{jobID}",
      ])
    // The contract names both header fields and 202 for every route that supports them.
    let contract = try Contract.shared.get()
    for route in service.routes {
      guard let operation = contract.operation(route.method, route.template) else { continue }
      let names = operation["parameters"]?.array?.map { contract.resolve($0)["name"]?.string } ?? []
      #expect(names.contains("Idempotency-Key") == route.answer.isKept, "\(route.template)")
      #expect(names.contains("Prefer") == (route.answer == .kept), "\(route.template)")
      for (status, isThere) in [
        ("202", route.answer == .kept), ("409", route.answer.isKept),
      ] where isThere {
        #expect(operation["responses"]?[status] != nil, "\(route.template)")
      }
    }
  }

  @Test(.bug(id: "34/10"), arguments: [Self.key, Self.key + [.prefer: "respond-async"]])
  func tokenOfAnInvitationIsKeptNowhereAndTheRepeatNamesIt(fields: HTTPFields) async throws {
    try await ListFixture.open { list in
      let body = #"{"role":"reader"}"#
      let made = try await list.call(.owner, .post, "/invitations", body: body, headers: fields)
      // It is not accepted before it is done either: its receipt would have the token.
      #expect(made.status == 201)
      let token = try #require(made["token"])
      let again = try await list.call(.owner, .post, "/invitations", body: body, headers: fields)
      #expect(again.status == 409 && again.error == "answer_gone")
      #expect(again["location"] == made.headers[.location])
      #expect(again.json["answered"]?.int == 201)
      let open = try await list.call(.owner, .get, "/invitations")
      #expect(open.json["invitations"]?.array?.count == 2)
      let texts = try await Self.localTexts(list.api)
      #expect(texts.count > 10 && !texts.contains { $0.contains(token) })
    }
  }

  /// The bodies of all local documents of all stores.
  private static func localTexts(_ api: APIFixture) async throws -> [String] {
    var texts: [String] = []
    for namespace in ["system", "user", "list", "guest"] {
      for name in try await api.engine.names(in: namespace, after: nil, limit: 100) {
        texts += try await api.stores.withExisting(name) { store in
          try await store.read { view in
            var found: [String] = []
            try view.locals(DocumentRange()) { _, document in
              found.append(String(decoding: document.body, as: UTF8.self))
              return true
            }
            return found
          }
        }
      }
    }
    return texts
  }

  @Test func retryWaitsForTheWriteThatIsBeingCarriedOut() async throws {
    let latch = Latch()
    try await APIFixture.open(pause: { _ in await latch.wait() }) { api in
      let token = try await api.guest()
      api.search.fail(with: .unavailable)
      let fields = Self.key + [.prefer: "respond-async"]
      let accepted = try await api.call(.put, "/v1/bookmarks/a", token: token, headers: fields)
      #expect(accepted.status == 202)
      async let second = api.call(.put, "/v1/bookmarks/a", token: token, headers: Self.key)
      let third = try await api.call(.put, "/v1/bookmarks/a", token: token, headers: fields)
      #expect(third.status == 202 && third["id"] == accepted["id"])
      let other = try await api.call(.put, "/v1/bookmarks/b", token: token, headers: fields)
      #expect(other.status == 422)
      try api.search.add(#"{"id":"a","name":"A"}"#)
      api.search.fail(with: nil)
      latch.open()
      let receipt = try await api.settled(accepted, token)
      #expect(receipt["status"] == "committed")
      let waited = try await second
      #expect(waited.status == 201 && waited.json == receipt.json["answer"]?["body"])
      let replay = try await api.call(.put, "/v1/bookmarks/a", token: token, headers: fields)
      #expect(replay.status == 201)
      #expect(replay.json == receipt.json["answer"]?["body"])
    }
  }
}

/// The fields of both.
func + (left: HTTPFields, right: HTTPFields) -> HTTPFields {
  var fields = left
  fields.append(contentsOf: right)
  return fields
}
