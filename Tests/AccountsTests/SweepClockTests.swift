import Documents
import Stores
import Testing

@testable import Accounts

/// The clock that decides what nobody can use any more.
struct SweepClockTests {
  private static let day: Int64 = 86_400
  private static let start = Timestamp(seconds: 1_800_000_000)

  private func day(_ number: Int64) -> Timestamp { Self.start.adding(seconds: number * Self.day) }

  @Test func itGoesWithTheWallClockWhileTheServerRuns() {
    var clock = SweepClock(at: day(0))
    clock.advance(to: day(1), afterRunning: Self.day)
    #expect(clock.time == day(1))
    #expect(clock.since == day(0))
  }

  @Test func wallClockThatJumpsAheadIsFollowedAtTwiceTheTimeThatTheServerRuns() {
    var clock = SweepClock(at: day(0))
    clock.advance(to: day(30), afterRunning: 10)
    #expect(clock.time == day(0).adding(seconds: 20))
    clock.advance(to: day(30), afterRunning: 10 * Self.day)
    #expect(clock.time == day(20).adding(seconds: 20))
    clock.advance(to: day(30), afterRunning: 10 * Self.day)
    #expect(clock.time == day(30))
  }

  @Test func wallClockThatGoesBackTurnsNothingBackAndJudgesByItself() {
    var clock = SweepClock(at: day(10))
    clock.advance(to: day(-10), afterRunning: Self.day)
    #expect(clock.time == day(10))
    #expect(clock.isOver(day(0), for: 0, at: day(10)))
    #expect(!clock.isOver(day(0), for: 0, at: day(-10)))
  }

  @Test func jumpOfMonthsLetsEverythingCountAsUsedNow() {
    var clock = SweepClock(at: day(0))
    clock.advance(to: day(3_650), afterRunning: 10)
    #expect(clock == SweepClock(at: day(3_650)))
    #expect(!clock.isOver(day(0), for: 37 * Self.day, at: day(3_650)))
  }

  @Test func clockOfABackupBeginsAnew() throws {
    let state = SweepState(at: day(0))
    let document = LocalDocument(revision: 1, body: state.body(epoch: "one"))
    #expect(SweepState(document, epoch: "one") == state)
    #expect(SweepState(document, epoch: "other") == nil)
  }
}
