import TestSupport
import Testing

@testable import Scheduling

@Suite struct WorkTests {
  private let seats = Seats(stores: .forStores())

  /// Uses processor time until the slice is over.
  private static func toil() { while Work.current?.isSliceOver == false {} }

  /// Does something for a request.
  private func request<Value: Sendable>(
    of account: ProcessorAccount, in seats: Seats,
    _ body: @Sendable (Work) async throws -> Value
  ) async throws -> Value {
    let work = Work(account, in: seats)
    await work.begin()
    return try await Work.$current.withValue(work) { try await body(work) }
  }

  @Test func workIsChargedToWhoAsks() async throws {
    let account = ProcessorAccount()
    let time = try await request(of: account, in: seats) { work in
      for _ in 0..<5 {
        Self.toil()
        try await Slice.giveWay()
      }
      work.settle()
      return work.nanoseconds
    }
    #expect(time > 0)
    #expect(account.nanosecondsSpent >= time)
  }

  /// Regression: a feed's slices were counted only while each was longer than all before.
  @Test func sliceAsLongAsOneBeforeIsCountedAgain() {
    let work = Work(ProcessorAccount(), in: seats)
    for _ in 0..<2 {
      work.charge(5)
      work.charge(3)
      #expect(seats.counts.takeLongestSlice() == 5)
    }
    work.charge(7, isSlice: false)
    #expect(seats.counts.takeLongestSlice() == 0)
    #expect((work.longestSlice, work.nanoseconds) == (5, 23))
  }

  @Test func whatItWaitsForIsNotCharged() async throws {
    let time = try await request(of: ProcessorAccount(), in: seats) { work in
      await Work.waiting { try? await Task.sleep(for: .seconds(1)) }
      work.settle()
      return work.nanoseconds
    }
    #expect(time < 1_000_000_000)
  }

  /// Regression: what was there at once began another free slice, so that a client that always had another piece of a body
  /// ready kept a thread of Swift's pool.
  @Test func whatIsThereAtOnceEndsNoTurn() async {
    let (executor, seats) = (CountingExecutor(), seats)
    let work = Work(ProcessorAccount(), in: seats)
    await Task(executorPreference: executor) {
      await work.begin()
      await Work.$current.withValue(work) {
        for _ in 0..<40 {
          Self.toil()
          await Work.waiting {}
        }
      }
    }.value
    // What is interrupted on a busy machine may look like a wait.
    #expect(executor.count >= 20)
  }

  /// Else it would line up again at once, behind all others, without having computed anything.
  @Test func whoWaitedForASeatBeginsATurn() async {
    let (seats, account) = (Seats(stores: .forStores(), processors: 1), ProcessorAccount())
    let (work, others) = (Work(account, in: seats), (0..<2).map { _ in Work(account, in: seats) })
    await work.begin()
    work.finish()
    for other in others { await other.begin() }
    let before = SliceClock.now
    let waiting = Task { await work.end(work.beginWait()) }
    // Leases that last too long are passed on.
    while !seats.isCrowded, !work.isSeated { await Task.yield() }
    for other in others { other.finish() }
    await waiting.value
    #expect(work.turn.nanoseconds >= before)
  }

  @Test func workOnAThreadIsChargedToWhoAsks() async throws {
    let threads = ThreadPool(name: "paid")
    let time = try await request(of: ProcessorAccount(), in: seats) { work in
      await threads.run {
        let slice = Slice(of: nil)
        while !slice.isOver {}
      }
      return work.nanoseconds
    }
    #expect(time > 0)
    await threads.stop()
  }

  /// Regression: a task for which nobody pays gave way for each element of its loops.
  @Test func unpaidTaskHasSlicesOfTheSameLength() async throws {
    let start = SliceStart(7)
    #expect(!start.isOver(at: 6 + Slice.nanoseconds) && start.isOver(at: 7 + Slice.nanoseconds))
    let count = try await Slice.unpaid {
      for _ in 0..<10 { try await Slice.giveWay() }
      return 10
    }
    #expect(count == 10)
    await #expect(throws: WorkEnded.self) { try await Slice.unpaid { throw WorkEnded() } }
  }

  @Test func endedWorkGoesNoFurther() async throws {
    let seats = Seats(stores: .forStores())
    await #expect(throws: WorkEnded.self) {
      try await request(of: ProcessorAccount(), in: seats) { work in
        work.end(.gone)
        while true { try await Slice.giveWay() }
      }
    }
    #expect(seats.counts.endedCount(.gone) == 1)
    #expect(seats.counts.runningCount == 0)
  }

  @Test func workForAClientThatClosedItsSideEndsWhenItCostsMuch() async throws {
    let reason = try await request(of: ProcessorAccount(), in: seats) { work in
      work.clientClosedItsSide()
      #expect(!work.hasEnded)
      work.charge(Work.halfClosedLimit)
      return work.reason
    }
    #expect(reason == .gone)
  }

  @Test(arguments: [Work.standardLimit, 10_000_000])
  func workEndsAtItsLimitUnlessItMovesMuch(_ limit: Int64) async throws {
    let seats = Seats(stores: .forStores(), requestLimit: limit)
    let reasons = try await request(of: ProcessorAccount(), in: seats) { work in
      work.addMovedBytes(8 << 20)
      work.charge(limit)
      let early = work.reason
      work.charge(limit)
      return [early, work.reason]
    }
    #expect(reasons == [nil, .costly])
  }

  @Test func whatOutlastsARequestIsPaidForByWhoeverAsked() async throws {
    let account = ProcessorAccount()
    let late = try await request(of: account, in: seats) { _ in
      Work.shared {
        Self.toil()
        Work.current?.settle()
        // The end of the request does not end this task.
        Work.current?.end(.gone)
        return (account: Work.current?.account, hasEnded: Slice.isEnded)
      }
    }
    let (paying, hasEnded) = await late.value
    #expect(paying === account)
    #expect(!hasEnded)
    #expect(account.nanosecondsSpent > 0)
  }
}
