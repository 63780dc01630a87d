import Documents
import StoreTesting
import Stores
import Testing

@testable import Accounts

/// How often one address may do something.
struct AddressRateTests {
  private let address = ClientAddress("192.0.2.1")

  @Test(arguments: UInt64(1)...10)
  func s18NoWindowEverHoldsMoreThanTheLimit(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let (count, seconds) = (Int.random(in: 2...12, using: &generator), Int64(60))
    let rate = AddressRate(count: count, seconds: seconds)
    var now: Int64 = 1_000_000
    var taken: [Int64] = []
    for _ in 0..<2_000 {
      now += Int64.random(in: 0...4_000, using: &generator)
      if isTaken(rate, now) { taken.append(now) }
    }
    #expect(taken.count > 50)
    for (place, first) in taken.enumerated() {
      let window = taken[place...].prefix { $0 < first + seconds * 1_000 }
      #expect(window.count <= count)
    }
  }

  @Test func theAnswerSaysWhenToComeAgain() throws {
    let rate = AddressRate(count: 2, seconds: 60)
    let now = Timestamp(seconds: 1_000)
    try rate.take(address, at: now)
    do throws(AccountError) {
      try rate.take(address, at: now)
      Issue.record("The second was taken")
    } catch {
      let wait = try #require(error.retryAfterSeconds)
      #expect(wait == 60)
      #expect(throws: AccountError.self) {
        try rate.take(address, at: now.adding(seconds: Int64(wait) - 1))
      }
      try rate.take(address, at: now.adding(seconds: Int64(wait)))
    }
  }

  @Test func s18AClockSetBackLocksNobodyOutForLong() throws {
    let rate = AddressRate(count: 2, seconds: 60)
    try rate.take(address, at: Timestamp(seconds: 1_000_000))
    #expect(!isTaken(rate, 1_000_000))
    #expect(isTaken(rate, 1_000_000 + 60_000))
  }

  private func isTaken(_ rate: AddressRate, _ now: Int64) -> Bool {
    (try? rate.take(address, at: Timestamp(milliseconds: now))) != nil
  }
}
