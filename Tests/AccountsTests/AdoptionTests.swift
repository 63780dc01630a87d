import Stores
import TestSupport
import Testing

@testable import Accounts

/// Guests who become users.
struct AdoptionTests {
  @Test func signingUpMakesTheGuestTheUsers() async throws {
    let fixture = try await AccountFixture.make()
    let guest = try await fixture.guest()
    let session = try await fixture.signUp("demo", guest: guest.principal)
    #expect(
      fixture.adoptions.done == [
        Adoptions.Adoption(guest: guest.principal.id, user: session.principal.id)
      ])
    let spent = try await failure {
      _ = try await fixture.service.authenticate(bearer: guest.token)
    }
    #expect(spent == .guestSpent)
    #expect(try await !fixture.service.isStillValid(guest.principal))
  }

  @Test func loggingInTwiceWithAGuestIsOneAdoption() async throws {
    let fixture = try await AccountFixture.make()
    let id = try await fixture.service.addUser(username: "demo", password: AccountFixture.password)
    let guest = try await fixture.guest()
    _ = try await fixture.logIn("demo", guestToken: guest.token)
    _ = try await fixture.logIn("demo", guestToken: guest.token)
    #expect(
      Set(fixture.adoptions.done) == [Adoptions.Adoption(guest: guest.principal.id, user: id)])
  }

  @Test(.bug(id: "S07")) func aGuestBecomesOneUserOnly() async throws {
    let fixture = try await AccountFixture.make()
    let guest = try await fixture.guest()
    _ = try await fixture.service.addUser(username: "first", password: AccountFixture.password)
    _ = try await fixture.service.addUser(username: "second", password: AccountFixture.password)
    _ = try await fixture.logIn("first", guestToken: guest.token)
    let log = try await failure { _ = try await fixture.logIn("second", guestToken: guest.token) }
    #expect(log == .guestSpent)
    let sign = try await failure { _ = try await fixture.signUp("third", guest: guest.principal) }
    #expect(sign == .guestSpent)
    #expect(try await fixture.service.accountID(ofUser: "third") == nil)
    #expect(Set(fixture.adoptions.done.map(\.user)).count == 1)
  }

  @Test(.bug(id: "S07")) func ofManyUsersAtOnceOneGetsTheGuest() async throws {
    let fixture = try await AccountFixture.make()
    let guest = try await fixture.guest()
    let names = (0..<8).map { "user\($0)" }
    for name in names {
      _ = try await fixture.service.addUser(username: name, password: AccountFixture.password)
    }
    let codes = try await withThrowingTaskGroup(of: ServiceError.Code?.self) { group in
      for name in names + names {
        group.addTask {
          try await failure { _ = try await fixture.logIn(name, guestToken: guest.token) }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes.count { $0 == nil } == 2)
    #expect(codes.count { $0 == .guestSpent } == 14)
    #expect(Set(fixture.adoptions.done.map(\.user)).count == 1)
  }

  @Test(.bug(id: "S07")) func adoptionNeedsBothProofs() async throws {
    let fixture = try await AccountFixture.make()
    let guest = try await fixture.guest()
    let session = try await fixture.signUp("demo")
    let wrongPassword = try await failure {
      _ = try await fixture.service.logIn(
        username: "demo", password: Secret("wrong horse"), guestToken: guest.token,
        from: AccountFixture.home)
    }
    #expect(wrongPassword == .badCredentials)
    for token in ["", "x", guest.token + "A", session.token.token.exposed] {
      let wrongToken = try await failure { _ = try await fixture.logIn("demo", guestToken: token) }
      #expect(wrongToken == .invalidToken)
    }
    #expect(fixture.adoptions.done.isEmpty)
    #expect(try await fixture.service.authenticate(bearer: guest.token) == guest.principal)
  }

  /// The token of a guest that expired in a drawer does not make a right password wrong, also if its key has ended
  /// meanwhile.
  @Test(.bug(id: "35/39"), arguments: [false, true])
  func expiredGuestsTokenPreventsNoLogIn(isKeyReplaced: Bool) async throws {
    let fixture = try await AccountFixture.make()
    let guest = try await fixture.guest()
    if isKeyReplaced { try await fixture.keys.rotate(now: fixture.clock.now) }
    _ = try await fixture.signUp("demo")
    fixture.clock.advance(seconds: AccountSettings.guestSeconds + 86_400)
    let session = try await fixture.logIn("demo", guestToken: guest.token)
    #expect(session.adopted == nil && session.principal.username == "demo")
    #expect(fixture.adoptions.done.isEmpty)
  }

  @Test func aGuestWhoLoggedOutIsNotAdopted() async throws {
    let fixture = try await AccountFixture.make()
    _ = try await fixture.signUp("demo")
    let guest = try await fixture.guest()
    try await fixture.service.logOut(guest.principal)
    let session = try await fixture.logIn("demo", guestToken: guest.token)
    #expect(session.adopted == nil && session.principal.username == "demo")
    #expect(fixture.adoptions.done.isEmpty)
  }

  @Test(.bug(id: "F04")) func anInterruptedAdoptionIsDoneAtTheNextLogIn() async throws {
    let fixture = try await AccountFixture.make()
    let guest = try await fixture.guest()
    fixture.adoptions.fail(with: ServiceError(.unavailable, "Not now"))
    // The account is made and the adoption is recorded. A failed copy of the bookmarks does not prevent the sign-up.
    _ = try await fixture.signUp("demo", guest: guest.principal)
    #expect(fixture.adoptions.done.isEmpty)
    _ = try await fixture.logIn("demo")
    let after = try await fixture.restarted()
    let session = try await after.logIn("demo")
    let adoption = Adoptions.Adoption(guest: guest.principal.id, user: session.principal.id)
    #expect(after.adoptions.done == [adoption])
    _ = try await after.logIn("demo")
    #expect(after.adoptions.done == [adoption])
  }

  @Test func whatHasToWaitIsTriedAtEachLogIn() async throws {
    let fixture = try await AccountFixture.make()
    let guest = try await fixture.guest()
    fixture.adoptions.leaveSomething(true)
    let session = try await fixture.signUp("demo", guest: guest.principal)
    let adoption = Adoptions.Adoption(guest: guest.principal.id, user: session.principal.id)
    #expect(fixture.adoptions.done == [adoption])
    // The guest is adopted although not everything was copied.
    let spent = try await failure {
      _ = try await fixture.service.authenticate(bearer: guest.token)
    }
    #expect(spent == .guestSpent)
    _ = try await fixture.logIn("demo")
    #expect(fixture.adoptions.done == [adoption, adoption])
    fixture.adoptions.leaveSomething(false)
    _ = try await fixture.logIn("demo")
    _ = try await fixture.logIn("demo")
    #expect(fixture.adoptions.done == [adoption, adoption, adoption])
  }

  @Test(.bug(id: "F04")) func anInterruptedAdoptionIsRepeatedWithTheGuestsToken() async throws {
    let fixture = try await AccountFixture.make()
    let id = try await fixture.service.addUser(username: "demo", password: AccountFixture.password)
    let guest = try await fixture.guest()
    fixture.adoptions.fail(with: ServiceError(.unavailable, "Not now"))
    let interrupted = try await failure {
      _ = try await fixture.logIn("demo", guestToken: guest.token)
    }
    #expect(interrupted == .unavailable)
    // A log-in that ends with the server's stop is answered so, and the log names the type of an unknown error.
    fixture.adoptions.fail(with: CancellationError())
    await #expect(throws: CancellationError.self) {
      _ = try await fixture.logIn("demo", guestToken: guest.token)
    }
    fixture.adoptions.fail(with: nil)
    _ = try await fixture.logIn("demo", guestToken: guest.token)
    #expect(fixture.adoptions.done == [Adoptions.Adoption(guest: guest.principal.id, user: id)])
  }

  /// Regression: whoever was a guest in a browser could not log in there any more while the account was full, or the
  /// guest's store was damaged.
  @Test(arguments: [ServiceError.Code.quotaExceeded, .storageFull, .damaged, .integrity])
  func whatTakesLongerKeepsNobodyOutAndTheGuestsDataWait(_ code: ServiceError.Code) async throws {
    let fixture = try await AccountFixture.make()
    let id = try await fixture.service.addUser(username: "demo", password: AccountFixture.password)
    let guest = try await fixture.guest()
    fixture.adoptions.fail(with: ServiceError(code, "Not yet"))
    for token in [guest.token, guest.token, nil] {
      let session = try await fixture.logIn("demo", guestToken: token)
      #expect(session.principal.id == id && session.waiting == ServiceError(code, "Not yet"))
    }
    #expect(fixture.adoptions.done.isEmpty)
    fixture.adoptions.fail(with: nil)
    #expect(try await fixture.logIn("demo").waiting == nil)
    #expect(fixture.adoptions.done == [Adoptions.Adoption(guest: guest.principal.id, user: id)])
  }

  @Test func aSpentGuestStaysSpentAfterARestart() async throws {
    let fixture = try await AccountFixture.make()
    let guest = try await fixture.guest()
    _ = try await fixture.signUp("demo", guest: guest.principal)
    let after = try await fixture.restarted()
    let spent = try await failure { _ = try await after.service.authenticate(bearer: guest.token) }
    #expect(spent == .guestSpent)
  }
}
