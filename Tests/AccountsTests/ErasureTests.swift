import Documents
import StoreTesting
import Stores
import Testing

@testable import Accounts

/// Erasing somebody.
struct ErasureTests {
  @Test func anErasedUserLeavesNothing() async throws {
    let rig = try await Rig.make()
    let session = try await rig.signUp("canary-name")
    try await write(rig, session.principal.store)
    _ = try await rig.service.authenticate(
      username: "canary-name", password: Rig.password, from: Rig.home)
    try await rig.service.erase(session.principal)
    #expect(try await stores(rig, "user").isEmpty)
    let name = try UserName("canary-name")
    let left = try await rig.manager.withExisting(.system) { store throws(StoreError) in
      try await store.read { view throws(StoreError) in
        let document = try view.document(AccountKeys.user(name))
        return (document?.isDeleted, document?.body, try view.local(AccountKeys.credentials(name)))
      }
    }
    #expect(left.0 == true)
    #expect(left.1 == Array("{}".utf8))
    #expect(left.2 == nil)
  }

  @Test func anErasedUsersProofsEnd() async throws {
    let rig = try await Rig.make()
    let session = try await rig.signUp("demo")
    let token = session.token.token.exposed
    let principal = try await rig.service.authenticate(bearer: token)
    let byPassword = try await rig.service.authenticate(
      username: "demo", password: Rig.password, from: Rig.home)
    try await rig.service.erase(principal)
    let one = try await failure { _ = try await rig.service.authenticate(bearer: token) }
    #expect(one == .invalidToken)
    let other = try await failure {
      _ = try await rig.service.authenticate(
        username: "demo", password: Rig.password, from: Rig.home)
    }
    #expect(other == .badCredentials)
    #expect(try await !rig.service.isStillGood(principal))
    #expect(try await !rig.service.isStillGood(byPassword))
  }

  @Test func anErasedNameCanBeTakenBySomebodyElse() async throws {
    let rig = try await Rig.make()
    let first = try await rig.signUp("demo")
    try await rig.service.erase(first.principal)
    let second = try await rig.signUp("demo")
    #expect(second.principal.id != first.principal.id)
    let old = try await failure {
      _ = try await rig.service.authenticate(bearer: first.token.token.exposed)
    }
    #expect(old == .invalidToken)
    // The first one's principal, still in some request's hands, must not erase the second.
    try await rig.service.erase(first.principal)
    #expect(try await rig.service.accountID(ofUser: "demo") == second.principal.id)
  }

  @Test func anErasedGuestsTokenIsSpent() async throws {
    let rig = try await Rig.make()
    let guest = try await rig.guest()
    try await write(rig, guest.principal.store)
    try await rig.service.erase(guest.principal)
    #expect(try await stores(rig, "guest").isEmpty)
    let spent = try await failure { _ = try await rig.service.authenticate(bearer: guest.token) }
    #expect(spent == .guestSpent)
    let adopted = try await failure { _ = try await rig.signUp("demo", guest: guest.principal) }
    #expect(adopted == .guestSpent)
  }

  @Test func aGuestWhoBecameAUserErasesNothing() async throws {
    let rig = try await Rig.make()
    let guest = try await rig.guest()
    try await write(rig, guest.principal.store)
    _ = try await rig.signUp("demo", guest: guest.principal)
    let result = try await failure { try await rig.service.erase(guest.principal) }
    #expect(result == .guestSpent)
    #expect(try await stores(rig, "guest") == [guest.principal.store])
  }

  @Test func f04AnInterruptedErasureIsFinishedAtTheNextStart() async throws {
    let rig = try await Rig.make()
    let session = try await rig.signUp("demo")
    try await write(rig, session.principal.store)
    let name = try UserName("demo")
    // What a crash after the first of the two steps leaves behind.
    _ = try await rig.service.accounts.endUser(name, id: session.principal.id)
    let after = try await rig.restarted()
    #expect(try await stores(after, "user") == [session.principal.store])
    #expect(try await after.service.finishErasures().isEmpty)
    #expect(try await stores(after, "user").isEmpty)
    #expect(try await after.service.accounts.pendingErasures().isEmpty)
  }

  @Test func nothingIsPendingWhereThereIsNothing() async throws {
    let rig = try await Rig.make()
    #expect(try await rig.service.finishErasures().isEmpty)
    #expect(rig.engine.tally.created == 0)
  }

  private func write(_ rig: Rig, _ name: StoreName) async throws {
    let body = try DocumentBody(["type": "hotel"])
    _ = try await rig.manager.withStore(name) { store throws(StoreError) in
      try await store.put(DocumentID(stored: "hotel"), base: nil, body: body)
    }
  }

  private func stores(_ rig: Rig, _ namespace: String) async throws -> [StoreName] {
    try await rig.engine.names(in: namespace, after: nil, limit: 10)
  }
}
