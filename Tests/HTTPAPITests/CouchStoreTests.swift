import Accounts
import CouchSync
import Documents
import HTTPTypes
import JSON
import StoreTesting
import Stores
import Testing

@testable import HTTPAPI

/// A database with the rights of one caller.
@Suite struct CouchStoreTests {
  @Test(.bug(id: "Y05")) func writeIsNotAnsweredAsAllowedToWhoLostTheRightMeanwhile() async throws {
    let service = try await APIFixture.service()
    let (stores, access) = (service.stores, service.databases)
    try await access.make("plans")
    let id = try #require(AccountID(String(repeating: "a", count: 32)))
    let member = Principal(kind: .user, id: id, username: "member", store: .user(id))
    try await say(#"{"members":{"names":["member"]}}"#, in: stores)
    let store = try await access.store("plans", for: member)
    let error = await #expect(throws: ServiceError.self) {
      try await store.writing { _ in
        do { try await say("{}", in: stores) } catch { Issue.record(error) }
      }
    }
    #expect(error?.code == .absent)
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
    let parsed = try ParsedJSON(Array(security.utf8), limits: .small).root
    try await stores.withStore(name) { store in
      _ = try await CouchDatabase(name: "plans", store: store).setSecurity(SecurityDocument(parsed))
    }
  }
}
