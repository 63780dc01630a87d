import Testing

@testable import Lanes

@Suite struct WorkTests {
  /// Uses processor time until the slice is over.
  private static func toil() { while !Slice.isOver {} }

  /// Runs a request's task on a pool.
  private func request<Value: Sendable>(
    of account: ProcessorAccount, in pool: LanePool,
    _ body: @escaping @Sendable (Work) async throws -> Value
  ) async throws -> Value {
    let executor = WorkExecutor(pool, account: account)
    return try await withTaskExecutorPreference(executor) {
      let work = executor.begin(account)
      defer { executor.finish() }
      return try await body(work)
    }
  }

  @Test func workIsChargedToWhoAsks() async throws {
    let pool = LanePool()
    let account = ProcessorAccount()
    let time = try await request(of: account, in: pool) { work in
      for _ in 0..<5 {
        Self.toil()
        try await Slice.giveWay()
      }
      Slice.settle()
      return work.nanoseconds
    }
    #expect(time > 0)
    #expect(account.nanosecondsSpent >= time)
    await pool.stop()
  }

  @Test func workOnALaneIsChargedToWhoAsks() async throws {
    let pool = LanePool()
    let lane = Lane(name: "paid")
    let laneActor = LaneActor(on: lane)
    let time = try await request(of: ProcessorAccount(), in: pool) { work in
      await laneActor.run { Self.toil() }
      return work.nanoseconds
    }
    #expect(time > 0)
    await lane.stop()
    await pool.stop()
  }

  @Test func endedWorkGoesNoFurther() async throws {
    let pool = LanePool()
    await #expect(throws: WorkEnded.self) {
      try await self.request(of: ProcessorAccount(), in: pool) { work in
        work.end(.gone)
        while true { try await Slice.giveWay() }
      }
    }
    #expect(pool.counts.endedCount(.gone) == 1)
    await pool.stop()
    #expect(pool.counts.runningCount == 0)
  }

  @Test func workForAClientThatClosedItsSideEndsWhenItCostsMuch() async throws {
    let pool = LanePool()
    let reason = try await request(of: ProcessorAccount(), in: pool) { work in
      work.clientClosedItsSide()
      #expect(!work.hasEnded)
      work.charge(Work.halfClosedLimit)
      return work.reason
    }
    #expect(reason == .gone)
    await pool.stop()
  }

  @Test(arguments: [Work.standardLimit, 10_000_000])
  func workEndsAtItsLimitUnlessItMovesMuch(_ limit: Int64) async throws {
    let pool = LanePool(requestLimit: limit)
    let reasons = try await request(of: ProcessorAccount(), in: pool) { work in
      work.addMovedBytes(8 << 20)
      work.charge(limit)
      let early = work.reason
      work.charge(limit)
      return [early, work.reason]
    }
    #expect(reasons == [nil, .costly])
    await pool.stop()
  }

  @Test func requestsGiveWayToEachOther() async throws {
    let pool = LanePool(processors: 1, threads: 1)
    let begun = Occupancy()
    async let long = request(of: ProcessorAccount(), in: pool) { work in
      begun.pass()
      var turns = 0
      while pool.counts.endedCount(.stopping) == 0 {
        Self.toil()
        try await Slice.giveWay()
        turns += 1
      }
      return turns
    }
    while begun.total == 0 { try? await Task.sleep(for: .milliseconds(1)) }
    try await request(of: ProcessorAccount(), in: pool) { work in work.end(.stopping) }
    #expect(try await long > 0)
    await pool.stop()
  }

  @Test func aStoresJobsRunOneAtATimeOnWhicheverThreadIsFree() async {
    let pool = LanePool(processors: 4, threads: 4)
    let counters = (0..<8).map { _ in Counter(in: pool) }
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<50 {
        for counter in counters { group.addTask { await counter.count() } }
      }
    }
    for counter in counters { #expect(await counter.value == 50) }
    await pool.stop()
  }

  @Test func threadThatWaitsForTheDiskLetsAnotherCompute() async {
    let pool = LanePool(processors: 1, threads: 2)
    let (first, second) = (Counter(in: pool), Counter(in: pool))
    await first.block(until: second)
    #expect(await second.value == 1)
    await pool.stop()
  }

  @Test func whoComputesForLongKeepsNobodyWaiting() async {
    let pool = LanePool(processors: 2, threads: 2)
    let (first, second) = (Counter(in: pool), Counter(in: pool))
    for _ in 0..<5 { await first.compute(until: second) }
    #expect(await second.value == 5)
    await pool.stop()
  }

  @Test func aConnectionsNextRequestWaitsInTheLineOfItsLast() async {
    let pool = LanePool()
    let (address, guest) = (ProcessorAccount(), ProcessorAccount())
    let executor = WorkExecutor(pool, account: address)
    await withTaskExecutorPreference(executor) {
      executor.begin(address).setPrincipal(guest)
      executor.finish()
      await Task.yield()
      #expect(executor.hasWaited(on: guest))
      executor.begin(address).setPrincipal(guest)
      guest.spend(nanoseconds: 2 * ProcessorAccount.capacity)
      _ = guest.line(in: .requests).settle(at: SliceClock.now)
      executor.finish()
      await Task.yield()
      // A request of an overdrawn account waits as soon as the account is known, and is told so.
      #expect(executor.hasWaited(on: address))
    }
    await pool.stop()
  }

  @Test func whatOutlastsARequestIsPaidForByWhoeverAsked() async {
    let pool = LanePool()
    let account = ProcessorAccount()
    let executor = WorkExecutor(pool, account: account)
    let late = await withTaskExecutorPreference(executor) {
      _ = executor.begin(account)
      defer { executor.finish() }
      return Task(executorPreference: WorkExecutor.detached) {
        Self.toil()
        Slice.settle()
        // The end of the request does not end this task.
        Work.current?.end(.gone)
        return (payer: Work.current?.account, hasEnded: Slice.isEnded)
      }
    }
    let (payer, hasEnded) = await late.value
    #expect(payer === account)
    #expect(!hasEnded)
    #expect(account.nanosecondsSpent > 0)
    await pool.stop()
  }

  @Test func aReservedProcessorIsOneThreadFewer() async {
    let pool = LanePool(processors: 2, threads: 2)
    for (reserved, allowed) in [(0, 2), (1, 1), (2, 1)] {
      #expect(pool.locked { pool.reservedProcessors } == reserved)
      #expect(pool.locked { pool.allowed } == allowed)
      pool.reserveProcessor()
    }
    for _ in 0..<3 { pool.releaseProcessor() }
    #expect(pool.locked { pool.allowed } == 2)
    await pool.stop()
  }

  @Test func aStoppedPoolHasNoThread() async {
    let pool = LanePool(name: "short-lived")
    await Counter(in: pool).count()
    #expect(ThreadNames.now().contains("short-lived"))
    await pool.stop()
    while ThreadNames.now().contains("short-lived") { try? await Task.sleep(for: .milliseconds(1)) }
    // A job that arrives later still runs.
    let counter = Counter(in: pool)
    await counter.count()
    #expect(await counter.value == 1)
  }
}

/// An actor whose code runs in a pool.
private actor Counter {
  private let executor: InlineExecutor
  private(set) var value = 0

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(in pool: LanePool) { executor = InlineExecutor(pool) }

  func count() { value += 1 }

  /// Blocks its thread until another actor of the same pool has run. The pool computes on only one thread.
  func block(until other: Counter) {
    let done = Occupancy()
    Task {
      await other.count()
      done.pass()
    }
    LanePool.blocking { while done.total == 0 {} }
  }

  /// Computes on its thread until another actor of the same pool has run.
  func compute(until other: Counter) {
    let done = Occupancy()
    Task {
      await other.count()
      done.pass()
    }
    while done.total == 0 {}
  }
}
