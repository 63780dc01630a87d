import Documents
import Stores
import Testing

@testable import Accounts

/// Guests who become users.
struct AdoptionTests {
  @Test func signingUpMakesTheGuestTheUsers() async throws {
    let rig = try await Rig.make()
    let guest = try await rig.guest()
    let session = try await rig.signUp("demo", guest: guest.principal)
    #expect(
      rig.adoptions.done == [
        Adoptions.Adoption(guest: guest.principal.id, user: session.principal.id)
      ])
    let spent = try await failure { _ = try await rig.service.authenticate(bearer: guest.token) }
    #expect(spent == .guestSpent)
    #expect(try await !rig.service.isStillGood(guest.principal))
  }

  @Test func loggingInTwiceWithAGuestIsOneAdoption() async throws {
    let rig = try await Rig.make()
    let id = try await rig.service.addUser(username: "demo", password: Rig.password)
    let guest = try await rig.guest()
    _ = try await rig.logIn("demo", guestToken: guest.token)
    _ = try await rig.logIn("demo", guestToken: guest.token)
    #expect(Set(rig.adoptions.done) == [Adoptions.Adoption(guest: guest.principal.id, user: id)])
  }

  @Test func s07AGuestBecomesOneUserOnly() async throws {
    let rig = try await Rig.make()
    let guest = try await rig.guest()
    _ = try await rig.service.addUser(username: "first", password: Rig.password)
    _ = try await rig.service.addUser(username: "second", password: Rig.password)
    _ = try await rig.logIn("first", guestToken: guest.token)
    let log = try await failure { _ = try await rig.logIn("second", guestToken: guest.token) }
    #expect(log == .guestSpent)
    let sign = try await failure { _ = try await rig.signUp("third", guest: guest.principal) }
    #expect(sign == .guestSpent)
    #expect(try await rig.service.accountID(ofUser: "third") == nil)
    #expect(Set(rig.adoptions.done.map(\.user)).count == 1)
  }

  @Test func s07OfManyUsersAtOnceOneGetsTheGuest() async throws {
    let rig = try await Rig.make()
    let guest = try await rig.guest()
    let names = (0..<8).map { "user\($0)" }
    for name in names {
      _ = try await rig.service.addUser(username: name, password: Rig.password)
    }
    let codes = try await withThrowingTaskGroup(of: AccountError.Code?.self) { group in
      for name in names + names {
        group.addTask {
          try await failure { _ = try await rig.logIn(name, guestToken: guest.token) }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes.count { $0 == nil } == 2)
    #expect(codes.count { $0 == .guestSpent } == 14)
    #expect(Set(rig.adoptions.done.map(\.user)).count == 1)
  }

  @Test func s07AdoptionNeedsBothProofs() async throws {
    let rig = try await Rig.make()
    let guest = try await rig.guest()
    let session = try await rig.signUp("demo")
    let wrongPassword = try await failure {
      _ = try await rig.service.logIn(
        username: "demo", password: Secret("wrong horse"), guestToken: guest.token, from: Rig.home)
    }
    #expect(wrongPassword == .badCredentials)
    for token in ["", "x", guest.token + "A", session.token.token.exposed] {
      let wrongToken = try await failure { _ = try await rig.logIn("demo", guestToken: token) }
      #expect(wrongToken == .invalidToken)
    }
    #expect(rig.adoptions.done.isEmpty)
    #expect(try await rig.service.authenticate(bearer: guest.token) == guest.principal)
  }

  @Test func aGuestWhoLoggedOutIsNotAdopted() async throws {
    let rig = try await Rig.make()
    _ = try await rig.signUp("demo")
    let guest = try await rig.guest()
    try await rig.service.logOut(guest.principal)
    let result = try await failure { _ = try await rig.logIn("demo", guestToken: guest.token) }
    #expect(result == .invalidToken)
    #expect(rig.adoptions.done.isEmpty)
  }

  @Test func f04AnInterruptedAdoptionIsDoneAtTheNextLogIn() async throws {
    let rig = try await Rig.make()
    let guest = try await rig.guest()
    rig.adoptions.fail(with: StoreError(.unavailable, "Not now"))
    // The account and the claim are made: what can't be done yet keeps nobody out.
    _ = try await rig.signUp("demo", guest: guest.principal)
    #expect(rig.adoptions.done.isEmpty)
    _ = try await rig.logIn("demo")
    let after = try await rig.restarted()
    let session = try await after.logIn("demo")
    let adoption = Adoptions.Adoption(guest: guest.principal.id, user: session.principal.id)
    #expect(after.adoptions.done == [adoption])
    _ = try await after.logIn("demo")
    #expect(after.adoptions.done == [adoption])
  }

  @Test func whatHasToWaitIsTriedAtEachLogIn() async throws {
    let rig = try await Rig.make()
    let guest = try await rig.guest()
    rig.adoptions.leaveSomething(true)
    let session = try await rig.signUp("demo", guest: guest.principal)
    let adoption = Adoptions.Adoption(guest: guest.principal.id, user: session.principal.id)
    #expect(rig.adoptions.done == [adoption])
    // The guest is the user's all the same.
    let spent = try await failure { _ = try await rig.service.authenticate(bearer: guest.token) }
    #expect(spent == .guestSpent)
    _ = try await rig.logIn("demo")
    #expect(rig.adoptions.done == [adoption, adoption])
    rig.adoptions.leaveSomething(false)
    _ = try await rig.logIn("demo")
    _ = try await rig.logIn("demo")
    #expect(rig.adoptions.done == [adoption, adoption, adoption])
  }

  @Test func f04AnInterruptedAdoptionIsRepeatedWithTheGuestsToken() async throws {
    let rig = try await Rig.make()
    let id = try await rig.service.addUser(username: "demo", password: Rig.password)
    let guest = try await rig.guest()
    rig.adoptions.fail(with: StoreError(.unavailable, "Not now"))
    let interrupted = try await failure { _ = try await rig.logIn("demo", guestToken: guest.token) }
    #expect(interrupted == .store)
    rig.adoptions.fail(with: nil)
    _ = try await rig.logIn("demo", guestToken: guest.token)
    #expect(rig.adoptions.done == [Adoptions.Adoption(guest: guest.principal.id, user: id)])
  }

  @Test func aSpentGuestStaysSpentAfterARestart() async throws {
    let rig = try await Rig.make()
    let guest = try await rig.guest()
    _ = try await rig.signUp("demo", guest: guest.principal)
    let after = try await rig.restarted()
    let spent = try await failure { _ = try await after.service.authenticate(bearer: guest.token) }
    #expect(spent == .guestSpent)
  }
}
