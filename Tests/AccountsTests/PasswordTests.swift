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

  @Test func aHashWithOldParametersIsReplacedAtLogIn() async throws {
    let fixture = try await AccountFixture.make()
    _ = try await fixture.signUp("demo")
    let new = try #require(ScryptParameters(rounds: 4, blockSize: 2, parallelism: 1))
    let after = try await fixture.restarted { $0.scrypt = new }
    _ = try await after.logIn("demo")
    #expect(after.hashCount == 2)
    let stored = try #require(try await after.service.accounts.user(UserName("demo")))
    #expect(stored.credentials.password.parameters == new)
    _ = try await after.logIn("demo")
    #expect(after.hashCount == 3)
  }

  @Test(.bug(id: "S10")) func lockingOutTouchesOneNameFromOneAddress() async throws {
    let fixture = try await AccountFixture.make()
    _ = try await fixture.signUp("demo")
    _ = try await fixture.signUp("other")
    for _ in 0..<5 {
      #expect(try await attempt(fixture, "demo", from: AccountFixture.home) == .badCredentials)
    }
    let before = fixture.hashCount
    #expect(try await attempt(fixture, "demo", from: AccountFixture.home) == .lockedOut)
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
    for _ in 0..<5 { _ = try await attempt(fixture, "demo", from: AccountFixture.home) }
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

  private func attempt(
    _ fixture: AccountFixture, _ name: String, from address: ClientAddress
  ) async throws -> ServiceError.Code? {
    try await failure {
      _ = try await fixture.service.logIn(
        username: name, password: Secret("wrong horse"), guestToken: nil, from: address)
    }
  }
}
