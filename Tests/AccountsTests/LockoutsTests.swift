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
    try lockouts.begin(key, at: now)
    lockouts.end(key, .right, at: now)
    for _ in 0..<4 { try fail(key, at: now) }
    #expect(wait(key, at: now) == nil)
  }

  @Test func aFailureThatIsNobodysFaultCountsForNothing() throws {
    let key = try key("demo")
    for _ in 0..<50 {
      try lockouts.begin(key, at: now)
      lockouts.end(key, .unknown, at: now)
    }
    #expect(wait(key, at: now) == nil)
  }

  @Test func manyAtOnceGetNoMoreGuessesThanOneByOne() throws {
    let key = try key("demo")
    for _ in 0..<5 { try lockouts.begin(key, at: now) }
    #expect(wait(key, at: now) == 1)
    #expect(wait(try self.key("other"), at: now) == nil)
    for _ in 0..<5 { lockouts.end(key, .wrong, at: now) }
    #expect(wait(key, at: now) == 5)
  }

  @Test func quietQuarterHoursClearTheCount() throws {
    let key = try key("demo")
    for _ in 0..<4 { try fail(key, at: now) }
    let later = now + .seconds(901)
    try fail(key, at: later)
    #expect(wait(key, at: later) == nil)
  }

  private func key(_ name: String) throws -> Lockouts.Key {
    Lockouts.Key(name: try UserName(name), address: ClientAddress("192.0.2.1"))
  }

  private func fail(_ key: Lockouts.Key, at now: ContinuousClock.Instant) throws {
    try lockouts.begin(key, at: now)
    lockouts.end(key, .wrong, at: now)
  }

  /// How long the next attempt has to wait; nil if it need not wait.
  private func wait(_ key: Lockouts.Key, at now: ContinuousClock.Instant) -> Int? {
    do {
      try lockouts.begin(key, at: now)
      lockouts.end(key, .unknown, at: now)
      return nil
    } catch {
      return ServiceError(error)?.retryAfterSeconds
    }
  }
}
