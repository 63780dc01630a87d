import Accounts
import CouchSync
import Documents
import HTTPTypes
import StoreTesting
import Stores
import Testing

@testable import HTTPAPI

/// A database with the rights of one caller.
@Suite struct CouchStoreTests {
  @Test(.bug(id: "Y05")) func writeIsNotAnsweredAsAllowedToWhoLostTheRightMeanwhile() async throws {
    let service = try await APIFixture.service()
    let stores = service.stores
    let access = CouchDatabaseAccess(
      stores: stores, accounts: service.accounts, lists: service.lists,
      replications: ScriptedReplications())
    try await access.make("plans")
    let id = try #require(AccountID(String(repeating: "a", count: 32)))
    let member = Principal(kind: .user, id: id, username: "member", store: .user(id))
    try await say(#"{"members":{"names":["member"]}}"#, in: stores)
    let store = try await access.store("plans", for: member, as: .server)
    let error = await #expect(throws: ServiceError.self) {
      try await store.write { _ in
        do { try await say("{}", in: stores) } catch { Issue.record(error) }
      }
    }
    #expect(error?.code == .absent)
  }

  /// The right ends with the commit: before the answer, and after the first look at the role.
  @Test(.bug(id: "Y05"), arguments: ["DELETE", "COPY", "COPY _local"])
  func whoLosesTheRightDuringADeletionOrACopyIsNotAnsweredAsAllowed(request: String) async throws {
    let ended = CommitFollower(
      concerns: { $0.id.text == "b" || $0.tree[$0.revision]?.isDeleted == true },
      follow: { store, _, _ in try await Self.say("{}", in: store) })
    try await APIFixture.open(follower: ended) { api in
      let token = try await api.user("member")
      try await api.stores.withStore(.named(try #require(DatabaseName("plans")))) { store in
        try await Self.say(#"{"members":{"names":["member"]}}"#, in: store)
      }
      let made = try await api.call(.put, "/couch/plans/a", token: token, body: "{}")
      let local = try await api.call(.put, "/couch/plans/_local/l", token: token, body: "{}")
      let revision = try #require(made["rev"])
      #expect(local.status == 201)
      let words = request.split(separator: " ").map(String.init)
      let method = try #require(HTTPRequest.Method(words[0]))
      let target = words.count > 1 ? "_local/l" : "a?rev=\(revision)"
      let reply = try await api.call(
        method, "/couch/plans/" + target, token: token, headers: [.destination: "b"])
      #expect(reply.status == 404, "\(reply.text)")
    }
  }

  @Test func serverHasItsIDBeforeTheFirstAccount() async throws {
    try await APIFixture.open { api in
      let first = try #require(try await api.call(.get, "/couch")["uuid"])
      _ = try await api.user("anna")
      #expect(try await api.call(.get, "/couch")["uuid"] == first)
    }
  }

  @Test func serverKeepsItsIDWhenADatabaseServerTakesOver() async throws {
    try await APIFixture.open { api in
      _ = try await api.user("anna")
      let known = try #require(try await api.call(.get, "/couch")["uuid"])
      api.engine.takeOver(.system)
      #expect(try await api.call(.get, "/couch")["uuid"] == known)
    }
  }

  private func say(_ security: String, in stores: DatabaseManager) async throws {
    let name = StoreName.named(try #require(DatabaseName("plans")))
    try await stores.withStore(name) { store in try await Self.say(security, in: store) }
  }

  private static func say(_ security: String, in store: DocumentStore) async throws {
    let parsed = try ParsedJSON(Array(security.utf8), limits: .small).root
    _ = try await CouchDatabase(
      name: "plans", store: store, as: .server, saying: ErrorTable.couchWord
    )
    .setSecurity(
      SecurityDocument(parsed))
  }
}
