import Documents
import StoreTesting
import Testing

@testable import Stores

/// Callers that wait for a slot or for an erasure, and the closing of a manager, which waits for leases.
@Suite struct DatabaseManagerWaitingTests {
  private let engine = MemoryEngine()
  private let clock = ManualClock()
  private let id = DocumentID(stored: "a")

  @Test func aCallerWithoutASlotIsUnavailableAfterItsTime() async throws {
    let manager = manager(of: engine, maximumOpen: 1, clock: clock)
    try await manager.withStore(.system) { _ async throws in
      let other = try other(1)
      async let answer = code { try await manager.withStore(other) { _ in } }
      await clock.waitForSleepers(1)
      #expect(manager.waitingCount == 1)
      clock.advance(by: .seconds(5))
      #expect(await answer == .unavailable)
      #expect(manager.waitingCount == 0)
    }
    try await manager.withStore(try other(1)) { _ in }
    await manager.close()
  }

  @Test func aCallerGetsTheSlotThatComesFreeInTime() async throws {
    let manager = manager(of: engine, maximumOpen: 1, clock: clock)
    let other = try other(1)
    let waiter = try await manager.withStore(.system) { _ async throws in
      let waiter = Task { try await manager.withStore(other) { $0.name } }
      await clock.waitForSleepers(1)
      return waiter
    }
    #expect(try await waiter.value == other)
    #expect(engine.tally.highest == 1)
    await manager.close()
  }

  @Test func aCancelledCallerLeavesTheLine() async throws {
    let manager = manager(of: engine, maximumOpen: 1, clock: clock)
    let other = try other(1)
    try await manager.withStore(.system) { _ async throws in
      let waiter = Task { try await manager.withStore(other) { _ in } }
      await clock.waitForSleepers(1)
      waiter.cancel()
      #expect(await code { try await waiter.value } == .unavailable)
      #expect(manager.waitingCount == 0)
    }
    #expect(engine.tally.created == 1)
    await manager.close()
  }

  @Test func aTaskThatIsCancelledAlreadyDoesNotWait() async throws {
    let manager = manager(of: engine, maximumOpen: 1, clock: clock)
    let other = try other(1)
    try await manager.withStore(.system) { _ async throws in
      let latch = AsyncLatch()
      let waiter = Task {
        await latch.wait()
        try await manager.withStore(other) { _ in }
      }
      waiter.cancel()
      latch.open()
      #expect(await code { try await waiter.value } == .unavailable)
      #expect(manager.waitingCount == 0)
    }
    await manager.close()
  }

  @Test func anOpeningThatTakesLongIsWaitedFor() async throws {
    let latch = AsyncLatch()
    let slow = MemoryEngine { _ in await latch.wait() }
    let manager = manager(of: slow, maximumOpen: 1, clock: clock)
    async let first = manager.withStore(.system) { $0.name }
    async let second = manager.withStore(.system) { $0.name }
    await latch.waitForArrivals(1)
    clock.advance(by: .seconds(60))
    latch.open()
    #expect(try await [first, second] == [.system, .system])
    #expect(slow.tally.opened == 1)
    await manager.close()
  }

  @Test(.bug(id: "S20")) func erasureWaitsForLeasesAndEndsReaders() async throws {
    let manager = manager(of: engine, maximumOpen: 2, clock: clock)
    let reader = await manager.subscribe(to: .system)
    let erasure = try await manager.withStore(.system) { store async throws in
      _ = try await store.put(id, base: nil, body: .empty)
      let erasure = Task { try await manager.erase(.system) }
      while manager.waitingCount == 0 { try? await Task.sleep(for: .milliseconds(1)) }
      // The lease that was given before the erasure stays valid.
      #expect(try await store.document(id) != nil)
      return erasure
    }
    #expect(try await erasure.value)
    #expect(await reader.lastWake() == .end)
    #expect(reader.end == .erased)
    #expect(await manager.subscribe(to: .system).end == nil)
    #expect(try await !manager.erase(.system))
    #expect(engine.tally.violations == 0)
    await manager.close()
  }

  @Test func aLeaseAskedForDuringAnErasureFindsTheStoreAbsentOrMakesANewOne() async throws {
    let manager = manager(of: engine, maximumOpen: 2, clock: clock)
    let (erasure, absent, made) = try await manager.withStore(.system) { store async throws in
      _ = try await store.put(id, base: nil, body: .empty)
      let erasure = Task { try await manager.erase(.system) }
      while manager.waitingCount < 1 { try? await Task.sleep(for: .milliseconds(1)) }
      let absent = Task {
        try await manager.withStore(.system, creating: false) { $0 == nil }
      }
      while manager.waitingCount < 2 { try? await Task.sleep(for: .milliseconds(1)) }
      let made = Task { [id] in
        try await manager.withStore(.system) { try await $0.document(id) == nil }
      }
      while manager.waitingCount < 3 { try? await Task.sleep(for: .milliseconds(1)) }
      return (erasure, absent, made)
    }
    #expect(try await erasure.value)
    #expect(try await absent.value)
    #expect(try await made.value)
    #expect(engine.tally.created == 2)
    await manager.close()
  }

  @Test func erasuresAmongWritersKeepTheRules() async throws {
    let manager = manager(of: engine, maximumOpen: 2, clock: clock)
    let names = try (0..<3).map { try other($0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<300 {
        let name = names[number % 3]
        group.addTask {
          guard number % 10 != 0 else {
            _ = try await manager.erase(name)
            return
          }
          try await manager.withStore(name) { store in
            _ = try await store.put(DocumentID(stored: "\(number)"), base: nil, body: .empty)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(engine.tally.violations == 0)
    #expect(engine.tally.highest <= 2)
    await manager.close()
    #expect(engine.tally.open == 0)
  }

  @Test func aReaderOutlivesTheClosingOfItsStore() async throws {
    let manager = manager(of: engine, maximumOpen: 1, clock: clock)
    let reader = await manager.subscribe(to: .system)
    for number in 0..<100 {
      try await manager.withStore(try other(number)) { _ in }
    }
    try await manager.withStore(.system) { store async throws in
      _ = try await store.put(id, base: nil, body: .empty)
    }
    #expect(await reader.news() != nil)
    await manager.close()
    #expect(await reader.lastWake() == .end)
  }

  @Test func idleStoresAreClosedByTheLoop() async throws {
    let manager = manager(of: engine, maximumOpen: 4, idleSeconds: 10, clock: clock)
    let loop = Task { await manager.run() }
    try await manager.withStore(.system) { _ in }
    for _ in 0..<2 {
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(5))
    }
    await clock.waitForSleepers(1)
    #expect(engine.tally.open == 1)
    clock.advance(by: .seconds(5))
    while engine.tally.open > 0 { try? await Task.sleep(for: .milliseconds(1)) }
    loop.cancel()
    await loop.value
    await manager.close()
  }

  @Test func closingWaitsForLeasesAndRefusesNewOnes() async throws {
    let manager = manager(of: engine, maximumOpen: 4, clock: clock)
    let reader = await manager.subscribe(to: .system)
    let closing = try await manager.withStore(.system) { store async throws in
      let closing = Task { await manager.close() }
      #expect(await reader.lastWake() == .end)
      while await code({ try await manager.withStore(.system) { _ in } }) == nil {
        await Task.yield()
      }
      _ = try await store.put(id, base: nil, body: .empty)
      #expect(engine.tally.open == 1)
      return closing
    }
    await closing.value
    #expect(engine.tally.open == 0)
    #expect(await code { try await manager.erase(.system) } == .unavailable)
    #expect(await manager.subscribe(to: .system).end == .stopping)
    await manager.close()
  }

  private func other(_ number: Int) throws -> StoreName {
    .named(try #require(DatabaseName("other\(number)")))
  }

  private func code(_ use: () async throws -> some Any) async -> ServiceError.Code? {
    do { _ = try await use() } catch { return (error as? ServiceError)?.code }
    return nil
  }
}
