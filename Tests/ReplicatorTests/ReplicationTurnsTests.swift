import Stores
import Testing

@testable import Replicator

/// Whose turn it is to copy.
struct ReplicationTurnsTests {
  @Test func thoseWhoWaitGetTheirTurnsInOrder() async throws {
    let turns = ReplicationTurns(atOnce: 1)
    let first = try await turns.take()
    let (order, continuation) = AsyncStream<Int>.makeStream()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<5 {
        group.addTask {
          let turn = try await turns.take()
          continuation.yield(number)
          turn.give()
        }
        while turns.waitingCount <= number { await Task.yield() }
      }
      first.give()
      first.give()
      try await group.waitForAll()
    }
    continuation.finish()
    var found: [Int] = []
    for await number in order { found.append(number) }
    #expect(found == [0, 1, 2, 3, 4])
  }

  @Test func accountsTakeTurnsHoweverManyOfOneWait() async throws {
    let turns = ReplicationTurns(atOnce: 1)
    let first = try await turns.take()
    let (order, continuation) = AsyncStream<Int>.makeStream()
    let people = try [0, 0, 0, 1, 2, 1].map { try person($0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, person) in people.enumerated() {
        group.addTask {
          let turn = try await turns.take(for: person)
          continuation.yield(number)
          turn.give()
        }
        while turns.waitingCount <= number { await Task.yield() }
      }
      first.give()
      try await group.waitForAll()
    }
    continuation.finish()
    var found: [Int] = []
    for await number in order { found.append(number) }
    #expect(found == [0, 3, 4, 1, 5, 2])
  }

  @Test func accountHasNoMoreTurnsThanItMay() async throws {
    let turns = ReplicationTurns(atOnce: 3, ofOne: 2)
    let (one, other) = (try person(1), try person(2))
    let (first, second) = (try await turns.take(for: one), try await turns.take(for: one))
    let third = Task { try await turns.take(for: one) }
    while turns.waitingCount == 0 { await Task.yield() }
    let others = try await turns.take(for: other)
    #expect(turns.waitingCount == 1)
    second.give()
    let got = try await third.value
    #expect(turns.waitingCount == 0)
    for turn in [first, got, others] { turn.give() }
    let waiting = Task { try await turns.take(for: one).give() }
    try await waiting.value
  }

  private func person(_ number: Int) throws -> AccountID {
    try #require(AccountID(String(repeating: "0", count: 31) + String(number)))
  }

  @Test func cancelledOneWaitsNoLongerAndTakesNoTurn() async throws {
    let turns = ReplicationTurns(atOnce: 1)
    let first = try await turns.take()
    let waiting = Task { try await turns.take().give() }
    while turns.waitingCount == 0 { await Task.yield() }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    let late = Task {
      while !Task.isCancelled { await Task.yield() }
      try await turns.take().give()
    }
    late.cancel()
    await #expect(throws: CancellationError.self) { try await late.value }
    first.give()
    try await turns.take().give()
    #expect(turns.waitingCount == 0)
  }

  @Test func turnThatHasLastedIsWantedWhileOthersWait() async throws {
    for (length, isWanted) in [(Duration.zero, true), (.seconds(600), false)] {
      let turns = ReplicationTurns(atOnce: 1, length: length)
      let first = try await turns.take()
      #expect(!first.isWanted)
      async let second = turns.take()
      while turns.waitingCount == 0 { await Task.yield() }
      #expect(first.isWanted == isWanted)
      first.give()
      #expect(!first.isWanted)
      try await second.give()
    }
  }

  @Test func turnIsOverdueAfterManyLengths() async throws {
    for (lengths, isOverdue) in [(0, true), (1_000_000, false)] {
      let turns = ReplicationTurns(
        atOnce: 1, length: .milliseconds(1), mostLengths: lengths)
      let first = try await turns.take()
      #expect(!first.isOverdue)
      async let second = turns.take()
      while turns.waitingCount == 0 { await Task.yield() }
      #expect(first.isOverdue == isOverdue)
      first.give()
      try await second.give()
    }
  }

  @Test func lengthOfATurnCanBeginAgain() async throws {
    let turns = ReplicationTurns(atOnce: 1, length: .seconds(3600), mostLengths: 0)
    let first = try await turns.take()
    async let second = turns.take()
    while turns.waitingCount == 0 { await Task.yield() }
    first.beginAgain()
    #expect(first.isOverdue && !first.isWanted)
    first.give()
    first.beginAgain()
    #expect(!first.isOverdue)
    try await second.give()
  }

  @Test func bodyComesAtAFairPace() {
    let began = ContinuousClock.now
    let cases: [(PeerPace.Limits, bytes: Int, seconds: Int, isFair: Bool, isLate: Bool)] = [
      (.administrators, 1, 59, true, false), (.administrators, 100, 60, false, false),
      (.administrators, 360_000, 3_600, true, false), (.people, 1, 59, true, false),
      (.people, 1 << 18, 61, true, true), (.people, 100_000, 61, false, true),
      (.people.stream(to: .administrators), 1 << 30, 3_600, true, false),
      (.administrators.stream(to: .people), 360_000, 3_600, false, false),
    ]
    for (limits, bytes, seconds, isFair, isLate) in cases {
      var pace = PeerPace(limits, since: began)
      let now = began + .seconds(seconds)
      let isTaken = (try? pace.note(bytes, from: "x", at: now)) != nil
      #expect(isTaken == isFair)
      #expect(pace.isLate(at: now) == isLate)
    }
  }

  /// Regression: a remote's answer of nine million chunks of a byte was read to its end. Short pieces are usual: `,` and a
  /// row.
  @Test(arguments: [([1], 1_066), ([1, 40], nil)] as [([Int], Int?)])
  func bodyComesInPiecesThatAreWorthTheirHandling(bytes: [Int], most: Int?) {
    var (pace, taken, failure) = (PeerPace(.people), 0, ReplicationFailure?.none)
    while taken < 100_000, failure == nil {
      do {
        try pace.note(bytes[taken % bytes.count], from: "x")
        taken += 1
      } catch { failure = error }
    }
    #expect(failure?.reason == most.map { _ in "x: its answer comes in too short pieces" })
    #expect(taken == most ?? 100_000)
  }
}
