import IPAddresses
import Stores
import Testing

@testable import Accounts

/// How wrong passwords delay further attempts.
struct LockoutsTests {
  private let lockouts = Lockouts(failures: 5)
  private let now = ContinuousClock.now

  @Test func theLockDoublesUpToFiveMinutes() throws {
    let key = try key("demo")
    for _ in 0..<4 { try fail(key, at: now) }
    var now = now
    for expected in [5, 10, 20, 40, 80, 160, 300, 300, 300] {
      try fail(key, at: now)
      #expect(wait(key, at: now) == expected)
      #expect(wait(key, at: now + .seconds(expected - 1)) == 1)
      now += .seconds(expected)
    }
  }

  @Test func aRightPasswordClearsTheCount() throws {
    let key = try key("demo")
    for _ in 0..<4 { try fail(key, at: now) }
    lockouts.end(try lockouts.begin(key, guess(), at: now), .right, at: now)
    for _ in 0..<4 { try fail(key, at: now) }
    #expect(wait(key, at: now) == nil)
  }

  @Test func aFailureThatIsNobodysFaultCountsForNothing() throws {
    let key = try key("demo")
    for _ in 0..<50 {
      lockouts.end(try lockouts.begin(key, guess(), at: now), .unknown, at: now)
    }
    #expect(wait(key, at: now) == nil)
  }

  @Test func manyAtOnceGetNoMoreGuessesThanOneByOne() throws {
    let key = try key("demo")
    let attempts = try (0..<5).map { _ in try lockouts.begin(key, guess(), at: now) }
    #expect(wait(key, at: now) == 1)
    #expect(wait(try self.key("other"), at: now) == nil)
    for attempt in attempts { lockouts.end(attempt, .wrong(against: 1), at: now) }
    #expect(wait(key, at: now) == 5)
  }

  @Test func quietQuarterHoursClearTheCount() throws {
    let key = try key("demo")
    for _ in 0..<4 { try fail(key, at: now) }
    let later = now + .seconds(901)
    try fail(key, at: later)
    #expect(wait(key, at: later) == nil)
  }

  /// Regression: the old password of a forgotten device counted each time.
  @Test func onlyTheSamePasswordAgainstTheSameStoredOneIsKnownToBeWrong() async throws {
    let (pair, old) = (try key("demo"), guess())
    var asked = 0
    func isKnown(_ password: ProofKey, against mark: UInt64) async throws -> Bool {
      try await lockouts.isKnownWrong(pair, password) {
        asked += 1
        return mark
      }
    }
    #expect(try await !isKnown(old, against: 1))
    lockouts.end(try lockouts.begin(pair, old, at: now), .wrong(against: 1), at: now)
    for _ in 0..<100 { #expect(try await isKnown(old, against: 1)) }
    #expect(try await !isKnown(old, against: 2), "the stored password has changed")
    #expect(asked == 101)
    let last = AccountSettings.rememberedWrongPasswords
    for number in 1..<last { try fail(pair, at: later(number)) }
    #expect(try await isKnown(old, against: 1))
    try fail(pair, at: later(last))
    #expect(try await !isKnown(old, against: 1), "it is one too many")
  }

  /// Regression: a locked pair refused its owner's password, too.
  @Test func aProvenPasswordIsTakenWhileThePairIsLockedAndClearsNothing() throws {
    let (pair, right) = (try key("demo"), guess())
    lockouts.end(try lockouts.begin(pair, right, at: now), .right, at: now)
    for _ in 0..<5 { try fail(pair, at: now) }
    for _ in 0..<20 {
      let attempt = try lockouts.begin(pair, right, at: now)
      #expect(attempt.isProven)
      lockouts.end(attempt, .right, at: now)
    }
    #expect(wait(pair, at: now) == 5)
    let week = now + .seconds(AccountSettings.provenLifetime)
    #expect(try lockouts.begin(pair, right, at: week).isProven)
    #expect(try !lockouts.begin(pair, right, at: week + .seconds(1)).isProven)
  }

  @Test func aProvenPasswordThatIsWrongNowIsProvenNoMore() throws {
    let (pair, old) = (try key("demo"), guess())
    lockouts.prove(pair, old, at: now)
    lockouts.end(try lockouts.begin(pair, old, at: now), .wrong(against: 1), at: now)
    #expect(try !lockouts.begin(pair, old, at: now).isProven)
  }

  @Test func tenPasswordsAnHourAreComparedWhileThePairIsLocked() throws {
    let pair = try key("demo")
    for _ in 0..<5 { try fail(pair, at: now) }
    var moment = now
    for _ in 0..<AccountSettings.comparedWhileLocked {
      moment += .seconds(wait(pair, at: moment) ?? 0)
      try fail(pair, at: moment)
    }
    // The first of the ten was compared 5 seconds after the lock began.
    let end = now + .seconds(3_605)
    #expect(wait(pair, at: moment) == Int((end - moment).components.seconds))
    #expect(wait(pair, at: end - .seconds(1)) == 1 && wait(pair, at: end) == nil)
  }

  @Test func aComparisonThatFailedIsNoneOfTheTen() throws {
    let pair = try key("demo")
    for _ in 0..<5 { try fail(pair, at: now) }
    for _ in 0..<50 { #expect(wait(pair, at: now + .seconds(5)) == nil) }
  }

  /// A time that is so many quiet quarters of an hour later.
  private func later(_ quarters: Int) -> ContinuousClock.Instant {
    now + .seconds(901) * quarters
  }

  private func key(_ name: String) throws -> Lockouts.Key {
    Lockouts.Key(name: try UserName(name), address: ClientAddress("192.0.2.1"))
  }

  private func fail(_ key: Lockouts.Key, at now: ContinuousClock.Instant) throws {
    lockouts.end(
      try lockouts.begin(key, guess(), at: now), .wrong(against: 1), at: now)
  }

  /// A password that was not tried before.
  private func guess() -> ProofKey { ProofKey(token: "\(UInt64.random(in: .min ... .max))") }

  /// How long the next attempt has to wait; nil if it need not wait.
  private func wait(_ key: Lockouts.Key, at now: ContinuousClock.Instant) -> Int? {
    do {
      lockouts.end(try lockouts.begin(key, guess(), at: now), .unknown, at: now)
      return nil
    } catch {
      return ServiceError(error)?.retryAfterSeconds
    }
  }
}
