import Documents
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import Scheduling
@testable import Stores

@Suite struct DatabaseManagerTests {
  private let engine = MemoryEngine()
  private let id = DocumentID(stored: "a")

  @Test func oneStoreIsMadeAndOpenedOnceHoweverManyAsk() async throws {
    let manager = manager(of: engine, maximumOpen: 4)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          try await manager.withStore(.system) { store in
            _ = try await store.put(DocumentID(stored: "\(number)"), base: nil, body: .empty)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(engine.tally.highest == 1)
    #expect(engine.tally.opened == 1)
    #expect(engine.tally.created == 1)
    try await manager.withExisting(.system) { store async throws in
      #expect(
        try await store.read { view in try view.info() }.documentCount == 200)
    }
    await manager.close()
    #expect(engine.tally.open == 0)
  }

  @Test func moreStoresThanSlotsAreServedAndTheBoundHolds() async throws {
    let manager = manager(of: engine, maximumOpen: 3)
    let names = try stores(12)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<600 {
        let name = names[number % names.count]
        group.addTask {
          try await manager.withStore(name) { store in
            let id = DocumentID(stored: "\(number)")
            _ = try await store.put(id, base: nil, body: .empty)
            await Task.yield()
            _ = try await store.document(id)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(engine.tally.highest <= 3)
    #expect(engine.tally.created == 12)
    #expect(engine.tally.violations == 0)
    for name in names {
      let count = try await manager.withExisting(name) { store in
        try await store.read { view in try view.info() }.documentCount
      }
      #expect(count == 50)
    }
    await manager.close()
  }

  @Test func twoThousandStoresPassThroughFourSlots() async throws {
    let manager = manager(of: engine, maximumOpen: 4)
    let names = try stores(2_000)
    for name in names {
      try await manager.withStore(name) { store in
        _ = try await store.put(id, base: nil, body: .empty)
      }
    }
    for name in names.shuffled(seed: 3).prefix(500) {
      let document = try await manager.withExisting(name) { store in
        try await store.document(id)
      }
      #expect(document != nil)
    }
    #expect(engine.tally.highest == 4)
    #expect(engine.tally.created == 2_000)
    #expect(engine.tally.violations == 0)
    await manager.close()
    #expect(manager.openCount == 0)
  }

  @Test func anAbsentStoreIsNeitherMadeNorRemembered() async throws {
    let manager = manager(of: engine, maximumOpen: 4)
    let isAbsent = try await manager.withStore(.system, creating: false) { $0 == nil }
    #expect(isAbsent)
    await #expect(throws: ServiceError.self) {
      try await manager.withExisting(.system) { store in _ = try await store.document(id) }
    }
    #expect(manager.openCount == 0)
    #expect(engine.tally.created == 0)
    try await manager.withStore(.system) { store async throws in
      #expect(try await store.document(id) == nil)
    }
    try await manager.withExisting(.system) { _ in }
    await manager.close()
  }

  /// Regression: a request of somebody who had stored nothing was read in one piece, for a quarter of a second.
  @Test func readOfAnAbsentStoreIsSliced() async throws {
    let store = manager(of: engine, maximumOpen: 4).absent(.system)
    let work = Scheduling.Work(ProcessorAccount(), in: Seats(stores: .forStores()))
    work.end(.gone)
    let isOver = try await Scheduling.Work.$current.withValue(work) {
      try await store.read { view in view.slice.isOver }
    }
    #expect(isOver)
  }

  @Test(.bug(id: "F11")) func aDamagedStoreIsToldAndNotRemembered() async throws {
    let manager = manager(of: engine, maximumOpen: 4)
    engine.setDamaged(.system)
    for _ in 0..<2 {
      #expect(await code { try await manager.withStore(.system) { _ in } } == .damaged)
      #expect(
        await code { try await manager.withStore(.system, creating: false) { _ in } } == .damaged)
    }
    #expect(manager.openCount == 0)
    engine.setDamaged(.system, false)
    try await manager.withStore(.system) { _ in }
    await manager.close()
  }

  @Test(.bug(id: "F05"), arguments: [ServiceError.Code.storage, .integrity, .damaged])
  func aStoreThatFailedBelowIsOpenedAnew(_ code: ServiceError.Code) async throws {
    let manager = manager(of: engine, maximumOpen: 4)
    try await manager.withStore(.system) { store async throws in
      engine.failWrites(to: .system, with: ServiceError(code, "failed"))
      #expect(await self.code { try await store.put(id, base: nil, body: .empty) } == code)
      // The lease is still held, so the manager does not close the store yet.
      #expect(try await store.document(id) == nil)
    }
    try await manager.withStore(.system) { store async throws in
      _ = try await store.put(id, base: nil, body: .empty)
    }
    #expect(engine.tally.opened == 2)
    await manager.close()
  }

  @Test func aRefusedWriteDoesNotReopenTheStore() async throws {
    let manager = manager(of: engine, maximumOpen: 4)
    for _ in 0..<2 {
      _ = await code {
        try await manager.withStore(.system) { store in
          try await store.put(id, base: RevisionID(generation: 7, digest: "a"), body: .empty)
        }
      }
    }
    #expect(engine.tally.opened == 1)
    await manager.close()
  }

  @Test func whatTheBorrowerThrowsPassesAsItIs() async throws {
    struct Failure: Error, Equatable {}
    let manager = manager(of: engine, maximumOpen: 4)
    await #expect(throws: Failure()) {
      try await manager.withStore(.system) { _ in throw Failure() }
    }
    await manager.close()
    await #expect { try await manager.withStore(.system, creating: false) { _ in } } throws: {
      ($0 as? ServiceError)?.code == .unavailable
    }
  }

  @Test(arguments: [
    (1_024, 3, 170), (65_536, 3, 2_000), (200, 3, 33), (0, 3, 4), (-5, 3, 4), (8, 3, 4),
    (.max, 1, 2_000), (1_024, 0, 512), (4_096, 3, 1_194), (1_048_576, 10_000, 104),
  ])
  func slotsFollowFromTheDescriptors(_ limit: Int, _ perStore: Int, _ slots: Int) {
    #expect(
      DatabaseManager.maximumOpen(descriptorLimit: limit, descriptorsPerStore: perStore) == slots)
  }

  private func stores(_ count: Int) throws -> [StoreName] {
    try (0..<count).map { .named(try #require(DatabaseName("s\($0)"))) }
  }

  private func code(_ use: () async throws -> some Any) async -> ServiceError.Code? {
    do { _ = try await use() } catch { return (error as? ServiceError)?.code }
    return nil
  }
}

/// A manager that gives all documents the same time.
func manager(
  of engine: any StorageEngine, maximumOpen: Int, idleSeconds: Int = 60,
  limits: StoreLimits = .full, clock: any Clock<Duration> = ManualClock()
) -> DatabaseManager {
  DatabaseManager(
    engine: engine, maximumOpen: maximumOpen, idleSeconds: idleSeconds, limits: { _ in limits },
    now: { Timestamp(seconds: 1_800_000_000) }, clock: clock)
}

extension Array {
  fileprivate func shuffled(seed: UInt64) -> [Element] {
    var generator = SeededGenerator(seed: seed)
    return shuffled(using: &generator)
  }
}
