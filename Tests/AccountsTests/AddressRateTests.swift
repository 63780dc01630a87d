import IPAddresses
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import Accounts

/// How often one address may do something.
struct AddressRateTests {
  private let address = ClientAddress("192.0.2.1")
  private let start = ContinuousClock.now

  @Test(.bug(id: "S18"), arguments: UInt64(1)...10)
  func noWindowEverHoldsMoreThanTheLimit(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let (count, seconds) = (Int.random(in: 2...12, using: &generator), Int64(60))
    let rate = AddressRate(count: count, seconds: seconds)
    var now = start
    var taken: [ContinuousClock.Instant] = []
    for _ in 0..<2_000 {
      now += .milliseconds(Int64.random(in: 0...4_000, using: &generator))
      if isTaken(rate, now) { taken.append(now) }
    }
    #expect(taken.count > 50)
    for (index, first) in taken.enumerated() {
      let window = taken[index...].prefix { $0 < first + .seconds(seconds) }
      #expect(window.count <= count)
    }
  }

  @Test func theAnswerSaysWhenToComeAgain() throws {
    let rate = AddressRate(count: 2, seconds: 60)
    try rate.take(address, at: start)
    do {
      try rate.take(address, at: start)
      Issue.record("The second was taken")
    } catch let error as ServiceError {
      let wait = try #require(error.retryAfterSeconds)
      #expect(wait == 60)
      #expect(!isTaken(rate, start + .seconds(wait) - .nanoseconds(1)))
      #expect(isTaken(rate, start + .seconds(wait)))
    }
  }

  /// Regression: the rate used the wall clock, so one jump forward allowed a whole new burst.
  @Test(.bug(id: "S18"), arguments: [1, 3_600, 315_360_000, -3_600, -315_360_000] as [Int64])
  func noStepOfTheWallClockGivesOrTakesAnything(seconds: Int64) async throws {
    let fixture = try await AccountFixture.make { $0.guestsPerHour = 4 }
    for _ in 0..<2 { #expect(try await wait(fixture) == nil) }
    #expect(try await wait(fixture) == 1_800)
    fixture.clock.step(seconds: seconds)
    #expect(try await wait(fixture) == 1_800)
    fixture.clock.advance(seconds: 1_799)
    #expect(try await wait(fixture) == 1)
    fixture.clock.advance(seconds: 1)
    #expect(try await wait(fixture) == nil)
    #expect(try await wait(fixture) == 1_800)
  }

  /// How long the next guest has to wait; nil if the guest was made.
  private func wait(_ fixture: AccountFixture) async throws -> Int? {
    do {
      _ = try await fixture.service.createGuest(from: address)
      return nil
    } catch let error as ServiceError {
      #expect(error.code == .tooMany)
      return error.retryAfterSeconds
    }
  }

  private func isTaken(_ rate: AddressRate, _ now: ContinuousClock.Instant) -> Bool {
    (try? rate.take(address, at: now)) != nil
  }
}
