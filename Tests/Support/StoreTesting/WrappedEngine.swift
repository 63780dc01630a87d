package import Documents
import NIOConcurrencyHelpers
package import Stores
import TestSupport

/// An engine whose stores are wrapped.
package final class WrappedEngine: StorageEngine {
  private let engine: any StorageEngine
  private let wrap: @Sendable (any StoreStorage) -> any StoreStorage

  /// Creates an engine over another one, which the caller closes.
  /// - Parameter wrap: makes what callers get from an open store.
  package init(
    _ engine: any StorageEngine, _ wrap: @escaping @Sendable (any StoreStorage) -> any StoreStorage
  ) {
    (self.engine, self.wrap) = (engine, wrap)
  }

  package var descriptorsPerStore: Int { engine.descriptorsPerStore }
  package var knownDamage: Int { engine.knownDamage }
  package var writesOnOneDisk: Bool { engine.writesOnOneDisk }
  package var isShared: Bool { engine.isShared }

  package func open(_ name: StoreName, creating: Bool) async throws -> (any StoreStorage)? {
    try await engine.open(name, creating: creating).map(wrap)
  }
  package func noteErasure(of name: StoreName) async throws {
    try await engine.noteErasure(of: name)
  }
  package func erase(_ name: StoreName) async throws -> Bool { try await engine.erase(name) }
  package func replace(_ name: StoreName, by other: StoreName) async throws {
    try await engine.replace(name, by: other)
  }
  package func names(
    in namespace: String, after key: String?, limit: Int, includingErased: Bool
  ) async throws -> [StoreName] {
    try await engine.names(
      in: namespace, after: key, limit: limit, includingErased: includingErased)
  }
  package func figures(of names: [StoreName]) async throws -> [StoreFigures] {
    try await engine.figures(of: names)
  }
  package func checkWritable() throws { try engine.checkWritable() }
  package var hasSpaceForNewcomers: Bool { engine.hasSpaceForNewcomers }
  package func remoteChanges() -> AsyncStream<RemoteChange> { engine.remoteChanges() }
  package func positions(of names: [StoreName]) async throws -> [StorePosition?] {
    try await engine.positions(of: names)
  }
  package func close() async {}
}

/// Runs each closure of a store up to three times more than needed, as an engine does that loses its connections. The runs
/// before the last one are interrupted, if they read long enough, and their results are thrown away. Each read's slice is
/// over at once. The same seed gives the same runs.
package final class Repetition: Sendable {
  /// How many calls and rows a run reads before it is interrupted, at most.
  private static let longestRun = 24

  private struct State {
    var generator: SeededGenerator
    var discarded = 0
  }

  private let state: NIOLockedValueBox<State>

  package init(seed: UInt64) {
    state = NIOLockedValueBox(State(generator: SeededGenerator(seed: seed)))
  }

  /// An engine that repeats what callers ask of another one.
  package func engine(over engine: any StorageEngine) -> WrappedEngine {
    WrappedEngine(engine) { RepeatingStorage(storage: $0, repetition: self) }
  }

  /// How many runs were thrown away.
  package var discarded: Int { state.withLockedValue { $0.discarded } }

  /// After how many readings each run before the last one is interrupted.
  fileprivate func nextRuns() -> [Int] {
    state.withLockedValue { state in
      let count = Int.random(in: 0...3, using: &state.generator)
      state.discarded += count
      return (0..<count).map { _ in
        Int.random(in: 0...Self.longestRun, using: &state.generator)
      }
    }
  }
}

/// A store whose closures run several times.
private struct RepeatingStorage: StoreStorage {
  let storage: any StoreStorage
  let repetition: Repetition

  var isNew: Bool { storage.isNew }
  var isEnded: Bool { storage.isEnded }

  func read<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    let runs = repetition.nextRuns()
    return try await storage.read { view in
      for count in runs { _ = try? query(InterruptedView(view, after: count)) }
      return try query(InterruptedView(view, after: .max))
    }
  }

  func readInline<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    for count in repetition.nextRuns() {
      _ = try? await storage.readInline { view in try query(InterruptedView(view, after: count)) }
    }
    return try await storage.readInline { view in try query(InterruptedView(view, after: .max)) }
  }

  func update<Value: Sendable>(
    loading ids: Set<DocumentID>, at now: Timestamp,
    _ rule: @escaping @Sendable (inout StoreChanges) throws -> Value
  ) async throws -> Value {
    let runs = repetition.nextRuns()
    return try await storage.update(loading: ids, at: now) { changes in
      for count in runs {
        var attempt = StoreChanges(of: InterruptedView(changes.view, after: count))
        _ = try? rule(&attempt)
      }
      return try rule(&changes)
    }
  }

  func compact() async throws { try await storage.compact() }
  func repair(
    _ extent: RepairOutcome.Extent, at now: Timestamp, pause: Duration
  ) async throws -> RepairOutcome {
    try await storage.repair(extent, at: now, pause: pause)
  }
  func close() async { await storage.close() }
}

/// A store that does something before each read and each update.
package final class HookedStorage: StoreStorage {
  private let storage: any StoreStorage
  private let action: @Sendable (Int, any StoreStorage) async throws -> Void
  private let calls = NIOLockedValueBox(0)

  /// Wraps a store.
  /// - Parameter action: is given the number of the call, from 1, and the store without the hook.
  package init(
    _ storage: any StoreStorage,
    before action: @escaping @Sendable (Int, any StoreStorage) async throws -> Void
  ) {
    (self.storage, self.action) = (storage, action)
  }

  private func act() async throws {
    let number = calls.withLockedValue { calls in
      calls += 1
      return calls
    }
    try await action(number, storage)
  }

  package var isNew: Bool { storage.isNew }
  package var isEnded: Bool { storage.isEnded }

  package func read<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    try await act()
    return try await storage.read(query)
  }

  package func update<Value: Sendable>(
    loading ids: Set<DocumentID>, at now: Timestamp,
    _ rule: @escaping @Sendable (inout StoreChanges) throws -> Value
  ) async throws -> Value {
    try await act()
    return try await storage.update(loading: ids, at: now, rule)
  }

  package func compact() async throws { try await storage.compact() }
  package func close() async { await storage.close() }
}
