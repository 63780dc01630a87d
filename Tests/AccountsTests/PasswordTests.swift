import Documents
import Stores
import Testing

@testable import Accounts

/// Logging in.
struct PasswordTests {
  @Test func anUnknownUserGetsTheWordsAndTheWorkOfAWrongPassword() async throws {
    let rig = try await Rig.make()
    _ = try await rig.signUp("demo")
    var errors: [AccountError] = []
    var work: [Int] = []
    for name in ["demo", "nobody"] {
      let before = rig.hashCount
      do throws(AccountError) {
        _ = try await rig.service.logIn(
          username: name, password: Secret("wrong horse"), guestToken: nil, from: Rig.home)
      } catch {
        errors.append(error)
      }
      work.append(rig.hashCount - before)
    }
    #expect(errors.map(\.code) == [.badCredentials, .badCredentials])
    #expect(errors.map(\.reason) == Array(repeating: errors[0].reason, count: 2))
    #expect(work == [1, 1])
  }

  @Test func s10NoPasswordThatCantBeAnybodysIsHashed() async throws {
    let rig = try await Rig.make()
    _ = try await rig.signUp("demo")
    let before = rig.hashCount
    for password in ["", "short", String(repeating: "p", count: 1 << 20)] {
      let result = try await failure {
        _ = try await rig.service.authenticate(
          username: "demo", password: Secret(password), from: Rig.home)
      }
      #expect(result == .badCredentials)
    }
    let badName = try await failure {
      _ = try await rig.service.authenticate(
        username: "a/b", password: Rig.password, from: Rig.home)
    }
    #expect(badName == .badCredentials)
    #expect(rig.hashCount == before)
  }

  @Test func aPasswordTypedInTheOtherNormalFormIsRight() async throws {
    let rig = try await Rig.make()
    _ = try await rig.service.addUser(username: "demo", password: Secret("caf\u{E9}-caf\u{E9}"))
    let principal = try await rig.service.authenticate(
      username: "demo", password: Secret("cafe\u{301}-cafe\u{301}"), from: Rig.home)
    #expect(principal.username == "demo")
  }

  @Test func aRightPasswordIsBelievedForAMinute() async throws {
    let rig = try await Rig.make()
    let session = try await rig.signUp("demo")
    let before = rig.hashCount
    for _ in 0..<10 {
      let principal = try await rig.service.authenticate(
        username: "demo", password: Rig.password, from: Rig.home)
      #expect(principal.id == session.principal.id)
    }
    #expect(rig.hashCount == before + 1)
    let wrong = try await failure {
      _ = try await rig.service.authenticate(
        username: "demo", password: Secret("wrong horse"), from: Rig.home)
    }
    #expect(wrong == .badCredentials)
    rig.clock.advance(seconds: 60)
    _ = try await rig.service.authenticate(
      username: "demo", password: Rig.password, from: Rig.home)
    #expect(rig.hashCount == before + 3)
  }

  @Test func manyConnectionsWithTheRightPasswordLockNobodyOut() async throws {
    let rig = try await Rig.make()
    _ = try await rig.signUp("demo")
    let codes = try await withThrowingTaskGroup(of: AccountError.Code?.self) { group in
      for _ in 0..<50 {
        group.addTask {
          try await failure {
            _ = try await rig.service.authenticate(
              username: "demo", password: Rig.password, from: Rig.home)
          }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes.allSatisfy { $0 == nil })
  }

  @Test func aHashWithOldParametersIsReplacedAtLogIn() async throws {
    let rig = try await Rig.make()
    _ = try await rig.signUp("demo")
    let new = try #require(ScryptParameters(rounds: 4, blockSize: 2, parallelism: 1))
    let after = try await rig.restarted { $0.scrypt = new }
    _ = try await after.logIn("demo")
    #expect(after.hashCount == 2)
    let stored = try #require(try await after.service.accounts.user(UserName("demo")))
    #expect(stored.credentials.password.parameters == new)
    _ = try await after.logIn("demo")
    #expect(after.hashCount == 3)
  }

  @Test func s10LockingOutTouchesOneNameFromOneAddress() async throws {
    let rig = try await Rig.make()
    _ = try await rig.signUp("demo")
    _ = try await rig.signUp("other")
    for _ in 0..<5 { #expect(try await attempt(rig, "demo", from: Rig.home) == .badCredentials) }
    let before = rig.hashCount
    #expect(try await attempt(rig, "demo", from: Rig.home) == .lockedOut)
    let right = try await failure { _ = try await rig.logIn("demo") }
    #expect(right == .lockedOut)
    #expect(rig.hashCount == before)
    #expect(try await rig.logIn("other").principal.username == "other")
    let abroad = try await rig.service.logIn(
      username: "demo", password: Rig.password, guestToken: nil, from: Rig.abroad)
    #expect(abroad.principal.username == "demo")
    rig.clock.advance(seconds: 5)
    #expect(try await rig.logIn("demo").principal.username == "demo")
  }

  @Test func s10OneAddressGetsOnlySoManyHashes() async throws {
    let rig = try await Rig.make { $0.passwordsPerMinute = 10 }
    for place in 0..<5 {
      #expect(try await attempt(rig, "name\(place)", from: Rig.home) == .badCredentials)
    }
    #expect(try await attempt(rig, "name5", from: Rig.home) == .tooMany)
    #expect(try await attempt(rig, "name5", from: Rig.abroad) == .badCredentials)
    #expect(rig.hashCount == 6)
  }

  /// Regression: the wall clock was asked, and one step ahead opened every lock.
  @Test(arguments: [60, 3_600, 315_360_000, -3_600, -315_360_000] as [Int64])
  func s18NoStepOfTheWallClockGivesAGuess(seconds: Int64) async throws {
    let rig = try await Rig.make { $0.passwordsPerMinute = 20 }
    func codes() async throws -> [AccountError.Code?] {
      [
        try await attempt(rig, "demo", from: Rig.home),
        try await attempt(rig, "other", from: Rig.abroad),
      ]
    }
    for _ in 0..<5 { _ = try await attempt(rig, "demo", from: Rig.home) }
    for place in 0..<10 { _ = try await attempt(rig, "name\(place)", from: Rig.abroad) }
    #expect(try await codes() == [.lockedOut, .tooMany])
    let before = rig.hashCount
    rig.clock.step(seconds: seconds)
    #expect(try await codes() == [.lockedOut, .tooMany])
    #expect(rig.hashCount == before)
    rig.clock.advance(seconds: 6)
    #expect(try await codes() == [.badCredentials, .badCredentials])
  }

  private func attempt(
    _ rig: Rig, _ name: String, from address: ClientAddress
  ) async throws -> AccountError.Code? {
    try await failure {
      _ = try await rig.service.logIn(
        username: name, password: Secret("wrong horse"), guestToken: nil, from: address)
    }
  }
}
