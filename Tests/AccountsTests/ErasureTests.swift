import Documents
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import Accounts

/// Erasure of users and guests.
struct ErasureTests {
  @Test func anErasedUserLeavesNothing() async throws {
    let fixture = try await AccountFixture.make()
    let session = try await fixture.signUp("canary-name")
    try await write(fixture, session.principal.store)
    _ = try await fixture.service.authenticate(
      username: "canary-name", password: AccountFixture.password, from: AccountFixture.home)
    try await fixture.service.erase(session.principal)
    #expect(try await stores(fixture, "user").isEmpty)
    let name = try UserName("canary-name")
    let left = try await fixture.manager.withExisting(.system) { store in
      try await store.read { view in
        let document = try view.document(AccountKeys.user(name))
        return (document?.isDeleted, document?.body, try view.local(AccountKeys.credentials(name)))
      }
    }
    #expect(left.0 == true)
    #expect(left.1 == Array("{}".utf8))
    #expect(left.2 == nil)
  }

  @Test func anErasedUsersProofsEnd() async throws {
    let fixture = try await AccountFixture.make()
    let session = try await fixture.signUp("demo")
    let token = session.token.token.exposed
    let principal = try await fixture.service.authenticate(bearer: token)
    let byPassword = try await fixture.service.authenticate(
      username: "demo", password: AccountFixture.password, from: AccountFixture.home)
    try await fixture.service.erase(principal)
    let one = try await failure { _ = try await fixture.service.authenticate(bearer: token) }
    #expect(one == .invalidToken)
    let other = try await failure {
      _ = try await fixture.service.authenticate(
        username: "demo", password: AccountFixture.password, from: AccountFixture.home)
    }
    #expect(other == .badCredentials)
    #expect(try await !fixture.service.isStillValid(principal))
    #expect(try await !fixture.service.isStillValid(byPassword))
  }

  @Test func anErasedNameCanBeTakenBySomebodyElse() async throws {
    let fixture = try await AccountFixture.make()
    let first = try await fixture.signUp("demo")
    try await fixture.service.erase(first.principal)
    let second = try await fixture.signUp("demo")
    #expect(second.principal.id != first.principal.id)
    let old = try await failure {
      _ = try await fixture.service.authenticate(bearer: first.token.token.exposed)
    }
    #expect(old == .invalidToken)
    // A late request with the first user's principal must not erase the second user.
    try await fixture.service.erase(first.principal)
    #expect(try await fixture.service.accountID(ofUser: "demo") == second.principal.id)
  }

  @Test func aGuestThatWasTakenOverIsGivenBackByThatUserAlone() async throws {
    let fixture = try await AccountFixture.make()
    let (guest, guestToken) = try await fixture.guest()
    try await write(fixture, guest.store)
    // Something has to be left behind, so that each log-in repeats the adoption.
    fixture.adoptions.leaveSomething(true)
    let user = try await fixture.signUp("demo", guest: guest).principal
    let other = try await fixture.signUp("other").principal
    try await fixture.service.undoAdoption(of: guest.id, by: other, as: .server) {}
    let spent = try await failure { _ = try await fixture.service.authenticate(bearer: guestToken) }
    #expect(spent == .guestSpent)
    for _ in 0..<2 {
      try await fixture.service.undoAdoption(of: guest.id, by: user, as: .server) {}
    }
    #expect(try await stores(fixture, "guest").count == 1)
    #expect(try await fixture.service.accounts.pendingErasures().found.isEmpty)
    #expect(try await fixture.service.authenticate(bearer: guestToken) == guest)
    // Nothing is left to be copied.
    let carried = fixture.adoptions.done.count
    _ = try await fixture.logIn("demo")
    #expect(fixture.adoptions.done.count == carried)
    // The account's end is not the guest's any more.
    try await fixture.service.erase(user)
    #expect(try await fixture.service.authenticate(bearer: guestToken) == guest)
    #expect(try await stores(fixture, "guest").count == 1)
    // Another user can take the guest over.
    fixture.adoptions.leaveSomething(false)
    _ = try await fixture.logIn("other", guestToken: guestToken)
    #expect(fixture.adoptions.done.last == Adoptions.Adoption(guest: guest.id, user: other.id))
  }

  @Test func anUndoThatIsCutOffIsFinishedAtTheNextStart() async throws {
    var fixture = try await AccountFixture.make()
    let guest = try await fixture.guest().principal
    try await write(fixture, guest.store)
    let user = try await fixture.signUp("demo", guest: guest).principal
    struct Cut: Error {}
    await #expect(throws: Cut.self) {
      try await fixture.service.undoAdoption(of: guest.id, by: user, as: .server) { throw Cut() }
    }
    fixture = try await fixture.restarted()
    var taken: [AccountID] = []
    let failures = try await fixture.service.finishUndos { guest, user in
      taken += [guest, user]
    }
    #expect(failures.isEmpty)
    #expect(taken == [guest.id, user.id])
    #expect(try await fixture.service.isStillValid(guest))
    // The undo is complete and is not repeated.
    _ = try await fixture.service.finishUndos { _, _ in taken = [] }
    #expect(taken.count == 2)
  }

  @Test func anUndoThatIsRefusedIsForgotten() async throws {
    let fixture = try await AccountFixture.make()
    let guest = try await fixture.guest().principal
    try await write(fixture, guest.store)
    let user = try await fixture.signUp("demo", guest: guest).principal
    await #expect(throws: ServiceError.self) {
      try await fixture.service.undoAdoption(of: guest.id, by: user, as: .server) {
        throw ServiceError(.undoOver, "Too late")
      }
    }
    var calls = 0
    _ = try await fixture.service.finishUndos { _, _ in calls += 1 }
    #expect(calls == 0)
    #expect(try await stores(fixture, "guest").count == 1)
  }

  @Test func anErasedGuestsTokenIsSpent() async throws {
    let fixture = try await AccountFixture.make()
    let guest = try await fixture.guest()
    try await write(fixture, guest.principal.store)
    try await fixture.service.erase(guest.principal)
    #expect(try await stores(fixture, "guest").isEmpty)
    let spent = try await failure {
      _ = try await fixture.service.authenticate(bearer: guest.token)
    }
    #expect(spent == .guestSpent)
    let adopted = try await failure { _ = try await fixture.signUp("demo", guest: guest.principal) }
    #expect(adopted == .guestSpent)
  }

  @Test func aGuestWhoBecameAUserErasesNothing() async throws {
    let fixture = try await AccountFixture.make()
    let guest = try await fixture.guest()
    try await write(fixture, guest.principal.store)
    _ = try await fixture.signUp("demo", guest: guest.principal)
    let result = try await failure { try await fixture.service.erase(guest.principal) }
    #expect(result == .guestSpent)
    #expect(try await stores(fixture, "guest") == [guest.principal.store])
  }

  @Test(.bug(id: "F04")) func anInterruptedErasureIsFinishedAtTheNextStart() async throws {
    let fixture = try await AccountFixture.make()
    let session = try await fixture.signUp("demo")
    try await write(fixture, session.principal.store)
    // The state after a crash between the two steps.
    _ = try await fixture.service.accounts.endUser(
      AccountKeys.user(UserName("demo")), id: session.principal.id)
    let after = try await fixture.restarted()
    #expect(try await stores(after, "user") == [session.principal.store])
    #expect(try await after.service.finishErasures().isEmpty)
    #expect(try await stores(after, "user").isEmpty)
    #expect(try await after.service.accounts.pendingErasures().found.isEmpty)
  }

  @Test func anErasureThatAnotherProcessHasJustBegunIsLeftAlone() async throws {
    let fixture = try await AccountFixture.make()
    let session = try await fixture.signUp("demo")
    try await write(fixture, session.principal.store)
    let begun = fixture.clock.now
    _ = try await fixture.service.accounts.endUser(
      AccountKeys.user(UserName("demo")), id: session.principal.id)
    #expect(try await fixture.service.finishErasures(begunBefore: begun).isEmpty)
    #expect(try await stores(fixture, "user") == [session.principal.store])
    let later = begun.adding(seconds: 1)
    #expect(try await fixture.service.finishErasures(begunBefore: later).isEmpty)
    #expect(try await stores(fixture, "user").isEmpty)
  }

  @Test func nothingIsPendingWhereThereIsNothing() async throws {
    let fixture = try await AccountFixture.make()
    #expect(try await fixture.service.finishErasures().isEmpty)
    #expect(fixture.engine.tally.created == 0)
  }

  /// The unreadable record may be of another guest of the user.
  @Test func unreadableGuestKeepsOnlyTheRecordOfAUsersErasure() async throws {
    let fixture = try await AccountFixture.make()
    let (one, two) = (try await fixture.guest(), try await fixture.guest())
    let user = try await fixture.signUp("demo", guest: one.principal).principal
    _ = try await fixture.logIn("demo", guestToken: two.token)
    for store in [user.store, one.principal.store, two.principal.store] {
      try await write(fixture, store)
    }
    let damaged = try await fixture.restarted(
      without: [AccountKeys.guest(two.principal.id).text])
    try await damaged.service.erase(user)
    #expect(try await stores(damaged, "user").isEmpty)
    #expect(try await stores(damaged, "guest") == [two.principal.store])
    #expect(try await damaged.service.finishErasures().count == 1)
    let pending = try await damaged.service.accounts.pendingErasures().found
    #expect(pending.map(\.store) == [user.store] && pending.map(\.isRest) == [true])
    let mended = try await damaged.restarted()
    #expect(try await mended.service.finishErasures().isEmpty)
    #expect(try await stores(mended, "guest").isEmpty)
    #expect(try await mended.service.accounts.pendingErasures().found.isEmpty)
  }

  @Test func unreadableRecordStopsNoOtherErasureAndNoOtherUndo() async throws {
    let fixture = try await AccountFixture.make()
    var (users, guests): ([Principal], [Principal]) = ([], [])
    for name in ["one", "two", "three"] {
      guests.append(try await fixture.guest().principal)
      users.append(try await fixture.signUp(name, guest: guests.last).principal)
      try await write(fixture, try #require(users.last).store)
    }
    let list = StoreName.list(users[0].id)
    try await write(fixture, list)
    for store in [list, users[0].store, users[1].store] {
      try await fixture.service.accounts.noteErasure(of: store)
    }
    struct Cut: Error {}
    for (user, guest) in zip(users, guests).dropFirst() {
      await #expect(throws: Cut.self) {
        try await fixture.service.undoAdoption(of: guest.id, by: user, as: .server) { throw Cut() }
      }
    }
    let damaged = try await fixture.restarted(
      without: [
        AccountKeys.erasure(users[1].store).text, UndoNote.id(of: guests[1].id).text,
      ])
    var undone: [AccountID] = []
    #expect(
      try await damaged.service.finishUndos { guest, _ in undone.append(guest) }.count == 1)
    #expect(undone == [guests[2].id])
    #expect(try await damaged.service.finishErasures(keepingLists: true).count == 1)
    #expect(Set(try await stores(damaged, "user")) == [users[1].store, users[2].store])
    #expect(try await stores(damaged, "list") == [list])
  }

  private func write(_ fixture: AccountFixture, _ name: StoreName) async throws {
    let body = try DocumentBody(["type": "hotel"])
    _ = try await fixture.manager.withStore(name) { store in
      try await store.put(DocumentID(stored: "hotel"), base: nil, body: body)
    }
  }

  private func stores(_ fixture: AccountFixture, _ namespace: String) async throws -> [StoreName] {
    try await fixture.engine.names(in: namespace, after: nil, limit: 10)
  }
}
