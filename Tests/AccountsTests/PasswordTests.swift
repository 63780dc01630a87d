import IPAddresses
import Stores
import TestSupport
import Testing

@testable import Accounts

/// Log-ins.
struct PasswordTests {
  @Test func anUnknownUserGetsTheWordsAndTheWorkOfAWrongPassword() async throws {
    let fixture = try await AccountFixture.make()
    _ = try await fixture.signUp("demo")
    var errors: [ServiceError] = []
    var work: [Int] = []
    for name in ["demo", "nobody"] {
      let before = fixture.hashCount
      do {
        _ = try await fixture.service.logIn(
          username: name, password: Secret("wrong horse"), guestToken: nil,
          from: AccountFixture.home)
      } catch let error as ServiceError {
        errors.append(error)
      }
      work.append(fixture.hashCount - before)
    }
    #expect(errors.map(\.code) == [.badCredentials, .badCredentials])
    #expect(errors.map(\.reason) == Array(repeating: errors[0].reason, count: 2))
    #expect(work == [1, 1])
  }

  @Test(.bug(id: "S10")) func noPasswordThatCantBeAnybodysIsHashed() async throws {
    let fixture = try await AccountFixture.make()
    _ = try await fixture.signUp("demo")
    let before = fixture.hashCount
    for password in ["", "short", String(repeating: "p", count: 1 << 20)] {
      let result = try await failure {
        _ = try await fixture.service.authenticate(
          username: "demo", password: Secret(password), from: AccountFixture.home)
      }
      #expect(result == .badCredentials)
    }
    let badName = try await failure {
      _ = try await fixture.service.authenticate(
        username: "a/b", password: AccountFixture.password, from: AccountFixture.home)
    }
    #expect(badName == .badCredentials)
    #expect(fixture.hashCount == before)
  }

  @Test func aPasswordTypedInTheOtherNormalFormIsRight() async throws {
    let fixture = try await AccountFixture.make()
    _ = try await fixture.service.addUser(username: "demo", password: Secret("caf\u{E9}-caf\u{E9}"))
    let principal = try await fixture.service.authenticate(
      username: "demo", password: Secret("cafe\u{301}-cafe\u{301}"), from: AccountFixture.home)
    #expect(principal.username == "demo")
  }

  @Test func aRightPasswordIsBelievedForAMinute() async throws {
    let fixture = try await AccountFixture.make()
    let session = try await fixture.signUp("demo")
    let before = fixture.hashCount
    for _ in 0..<10 {
      let principal = try await fixture.service.authenticate(
        username: "demo", password: AccountFixture.password, from: AccountFixture.home)
      #expect(principal.id == session.principal.id)
    }
    #expect(fixture.hashCount == before + 1)
    let wrong = try await failure {
      _ = try await fixture.service.authenticate(
        username: "demo", password: Secret("wrong horse"), from: AccountFixture.home)
    }
    #expect(wrong == .badCredentials)
    fixture.clock.advance(seconds: 60)
    _ = try await fixture.service.authenticate(
      username: "demo", password: AccountFixture.password, from: AccountFixture.home)
    #expect(fixture.hashCount == before + 3)
  }

  @Test func manyConnectionsWithTheRightPasswordLockNobodyOut() async throws {
    let fixture = try await AccountFixture.make()
    _ = try await fixture.signUp("demo")
    let codes = try await withThrowingTaskGroup(of: ServiceError.Code?.self) { group in
      for _ in 0..<50 {
        group.addTask {
          try await failure {
            _ = try await fixture.service.authenticate(
              username: "demo", password: AccountFixture.password, from: AccountFixture.home)
          }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes.allSatisfy { $0 == nil })
  }

  @Test(.bug(id: "S10")) func lockingOutTouchesOneNameFromOneAddress() async throws {
    let fixture = try await AccountFixture.make()
    _ = try await fixture.service.addUser(username: "demo", password: AccountFixture.password)
    _ = try await fixture.signUp("other")
    for number in 0..<5 {
      #expect(try await attempt(fixture, "demo", number) == .badCredentials)
    }
    let before = fixture.hashCount
    #expect(try await attempt(fixture, "demo", 5) == .lockedOut)
    let right = try await failure { _ = try await fixture.logIn("demo") }
    #expect(right == .lockedOut)
    #expect(fixture.hashCount == before)
    #expect(try await fixture.logIn("other").principal.username == "other")
    let abroad = try await fixture.service.logIn(
      username: "demo", password: AccountFixture.password, guestToken: nil,
      from: AccountFixture.abroad)
    #expect(abroad.principal.username == "demo")
    fixture.clock.advance(seconds: 5)
    #expect(try await fixture.logIn("demo").principal.username == "demo")
  }

  @Test(.bug(id: "S10")) func oneAddressGetsOnlySoManyHashes() async throws {
    let fixture = try await AccountFixture.make { $0.passwordsPerMinute = 10 }
    for index in 0..<5 {
      #expect(
        try await attempt(fixture, "name\(index)", from: AccountFixture.home) == .badCredentials)
    }
    #expect(try await attempt(fixture, "name5", from: AccountFixture.home) == .tooMany)
    #expect(try await attempt(fixture, "name5", from: AccountFixture.abroad) == .badCredentials)
    #expect(fixture.hashCount == 6)
  }

  /// Regression: the limits used the wall clock, so one jump forward ended every lockout.
  @Test(.bug(id: "S18"), arguments: [60, 3_600, 315_360_000, -3_600, -315_360_000] as [Int64])
  func noStepOfTheWallClockGivesAGuess(seconds: Int64) async throws {
    let fixture = try await AccountFixture.make { $0.passwordsPerMinute = 20 }
    func codes() async throws -> [ServiceError.Code?] {
      [
        try await attempt(fixture, "demo", from: AccountFixture.home),
        try await attempt(fixture, "other", from: AccountFixture.abroad),
      ]
    }
    for number in 1...5 { _ = try await attempt(fixture, "demo", number) }
    for index in 0..<10 {
      _ = try await attempt(fixture, "name\(index)", from: AccountFixture.abroad)
    }
    #expect(try await codes() == [.lockedOut, .tooMany])
    let before = fixture.hashCount
    fixture.clock.step(seconds: seconds)
    #expect(try await codes() == [.lockedOut, .tooMany])
    #expect(fixture.hashCount == before)
    fixture.clock.advance(seconds: 6)
    #expect(try await codes() == [.badCredentials, .badCredentials])
  }

  /// Regression: an old password on a forgotten device locked its owner's other devices at the same router out.
  @Test func anOldPasswordThatIsTriedAgainAndAgainLocksNobodyOut() async throws {
    let fixture = try await AccountFixture.make { $0.passwordsPerMinute = 10 }
    _ = try await fixture.service.addUser(username: "demo", password: AccountFixture.password)
    for _ in 0..<100 { #expect(try await attempt(fixture, "demo") == .badCredentials) }
    #expect(fixture.hashCount == 2, "one for the user, one for the wrong password")
    #expect(try await fixture.logIn("demo").principal.username == "demo")
    #expect(try await attempt(fixture, "demo") == .badCredentials)
  }

  @Test func aPasswordThatWasWrongIsRightOnceItIsSet() async throws {
    let fixture = try await AccountFixture.make()
    _ = try await fixture.service.addUser(username: "demo", password: AccountFixture.password)
    for name in ["demo", "new"] {
      for _ in 0..<2 { #expect(try await attempt(fixture, name) == .badCredentials) }
    }
    let password = Secret("wrong horse 0")
    try await fixture.service.changePassword(username: "demo", password: password)
    _ = try await fixture.service.addUser(username: "new", password: password)
    for name in ["demo", "new"] { #expect(try await attempt(fixture, name) == nil) }
  }

  /// Regression: whoever was at the same address could lock an owner out, and use all of the address's hashes up.
  @Test func noGuesserAtTheSameAddressLocksOutWhoHasLoggedInThere() async throws {
    let fixture = try await AccountFixture.make { $0.passwordsPerMinute = 40 }
    _ = try await fixture.service.addUser(username: "old", password: AccountFixture.password)
    _ = try await fixture.signUp("new")
    let session = try await fixture.logIn("old")
    for number in 0..<50 {
      for name in ["old", "new"] { _ = try await attempt(fixture, name, number) }
      _ = try await attempt(fixture, "name\(number)", number)
    }
    #expect(try await attempt(fixture, "another") == .tooMany)
    for name in ["old", "new"] {
      #expect(try await fixture.logIn(name).principal.username == name)
      #expect(try await attempt(fixture, name, 50) == .lockedOut, "the guesser has no more tries")
    }
    let principal = try await fixture.service.authenticate(bearer: session.token.token.exposed)
    #expect(principal.username == "old")
  }

  @Test func aChangedPasswordIsProvenWhereItWasChanged() async throws {
    let fixture = try await AccountFixture.make()
    let person = try await fixture.signUp("demo").principal
    let password = Secret("another horse")
    _ = try await fixture.service.changePassword(
      of: person, from: AccountFixture.password, to: password, at: AccountFixture.home)
    for number in 0..<6 { _ = try await attempt(fixture, "demo", number) }
    let session = try await fixture.service.logIn(
      username: "demo", password: password, guestToken: nil, from: AccountFixture.home)
    #expect(session.principal.username == "demo")
  }

  /// Tries a wrong password, another one for each number.
  private func attempt(
    _ fixture: AccountFixture, _ name: String, _ number: Int = 0,
    from address: ClientAddress = AccountFixture.home
  ) async throws -> ServiceError.Code? {
    try await failure {
      _ = try await fixture.service.logIn(
        username: name, password: Secret("wrong horse \(number)"), guestToken: nil, from: address)
    }
  }
}
