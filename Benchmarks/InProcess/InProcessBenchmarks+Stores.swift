import Benchmark
import NIOConcurrencyHelpers
import Stores

extension InProcessBenchmarks {
  /// Reads and writes of one store on the disk, with few and with many documents.
  static func registerStores() {
    for documents in isSmoke ? [100] : [100, 10_000, 100_000] {
      register("store: read one of \(documents)", documents: documents) { try await $0.read() }
      register("store: write beside \(documents)", documents: documents) { try await $0.write() }
    }
    register("group commit: 64 writes at once", documents: 100) { fixture in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<64 { group.addTask { try await fixture.write() } }
        try await group.waitForAll()
      }
    }
  }

  /// The costs of readers of changes: the wake-up, the read, and both after a write.
  static func registerFeeds() {
    Benchmark("change feed: wake 100 readers") { benchmark in
      let subscriptions = Subscriptions()
      let readers = (0..<100).map { _ in reader(in: subscriptions) }
      // A new reader has news at once.
      for reader in readers { _ = await reader.next(by: nil) }
      benchmark.startMeasurement()
      for _ in benchmark.scaledIterations {
        subscriptions.wake(.system)
        for reader in readers { _ = await reader.next(by: nil) }
      }
      benchmark.stopMeasurement()
    }
    register("change feed: read the last 100 of 10,000", documents: 10_000) { fixture in
      blackHole(try await fixture.changes(100))
    }
    register("change feed: a write, its wake-up, its change", documents: 100) { fixture in
      let subscriptions = Subscriptions()
      let reader = reader(in: subscriptions)
      _ = await reader.next(by: nil)
      try await fixture.write()
      subscriptions.wake(.system)
      _ = await reader.next(by: nil)
      blackHole(try await fixture.changes(1))
    }
  }

  private static func reader(in subscriptions: Subscriptions) -> Subscription {
    let reader = Subscription(
      to: .store(.system), waits: true,
      for: Subscription.Reader(
        author: .server, right: "", mayRead: { true }, closeConnection: {}))
    subscriptions.add(reader)
    return reader
  }

  /// Registers a benchmark with its own store, which is created before it and removed after it.
  private static func register(
    _ name: String, documents: Int, _ run: @escaping @Sendable (StoreFixture) async throws -> Void
  ) {
    let made = NIOLockedValueBox<StoreFixture?>(nil)
    Benchmark(
      name,
      closure: { benchmark in
        guard let fixture = made.withLockedValue({ $0 }) else {
          return benchmark.error("no store was made")
        }
        for _ in benchmark.scaledIterations { try await run(fixture) }
      },
      setup: {
        let fixture = try await StoreFixture(documents: documents)
        made.withLockedValue { $0 = fixture }
      },
      teardown: { try await made.withLockedValue { $0 }?.close() })
  }
}
