import Lanes
import NIOConcurrencyHelpers

/// Filling a store with what comes in parts, so that others find all of it there or nothing.
///
/// The parts go into another store, which is named after the one to be filled (``StoreName/staged(_:)``). Nobody can ask
/// for that one: no backup has it, no feed tells of it. In the end it takes the other's place in one step of the engine
/// (``StorageEngine/replace(_:by:)``). What a failure leaves is removed at once, what a crash leaves at the next start.
extension DatabaseManager {
  /// Stores that are filled at once, at most: each is open beside those that are leased.
  package static let filledAtOnce = 8

  /// Has an empty store filled: one without documents and tombstones, or an absent one. Whoever reads it meanwhile reads
  /// an empty store; once it is filled, feeds that waited for it end, and its epoch is another.
  /// - Parameter use: writes into the store that takes its place; what it throws leaves nothing of that.
  /// - Returns: what `use` returned, everything being durable.
  /// - Throws: what `use` throws; `notEmpty`, also when somebody wrote to the store meanwhile; `beingFilled`;
  ///   `unavailable` where too many are filled at once; the store's errors.
  nonisolated(nonsending) package func fill<Value>(
    _ name: StoreName, _ use: (DocumentStore) async throws -> Value
  ) async throws -> Value {
    try beginFilling(name)
    defer { endFilling(name) }
    let info = try await withStore(name, creating: false) { store in
      try await store?.readInline { view in try view.info() }
    }
    try Self.requireEmpty(info)
    let staged = StoreName.staged(name)
    // Of an earlier time, whose end failed.
    _ = try await engine.erase(staged)
    do {
      let value = try await staging(staged, use)
      switch await answer(to: .replace, for: name) {
      case .erased: return value
      case .failed(let error): throw error
      case .leased, .absent, .alone, .stopped: throw ServiceError.stopping
      }
    } catch {
      // A task of its own: the caller's may have been cancelled. What stays is removed at the next start.
      let engine = engine
      _ = await Task(executorPreference: WorkExecutor.outlasting) {
        try? await engine.erase(staged)
      }.value
      throw error
    }
  }

  /// Removes what was left of stores that were being filled when the service stopped; once at every start, before
  /// requests are taken.
  /// - Returns: why some could not be removed; they are left for the next start.
  /// - Throws: what the registry of stores throws.
  package nonisolated func removeStaged() async throws -> [any Error] {
    var (failures, last): ([any Error], String?) = ([], nil)
    while true {
      let names = try await engine.names(
        in: StoreName.stagedNamespace, after: last, limit: 100)
      guard let end = names.last else { return failures }
      last = end.key
      for case .staged(let name) in names {
        // One that had taken its place already is known from here on.
        do { try await visit(name) { _ in } } catch { failures.append(error) }
        do { _ = try await engine.erase(.staged(name)) } catch { failures.append(error) }
      }
    }
  }

  /// Puts a filled store in the place of an empty one. Nobody else has either open.
  nonisolated func replaceEmpty(_ name: StoreName) async throws {
    if let storage = try await engine.open(name, creating: false) {
      let info: Result<StoreInfo, any Error>
      do { info = .success(try await storage.read { view in try view.info() }) } catch {
        info = .failure(error)
      }
      await storage.close()
      try Self.requireEmpty(try info.get())
    }
    try await engine.replace(name, by: .staged(name))
  }

  /// Has the store written that is to take another's place, and closes it.
  nonisolated(nonsending) private func staging<Value>(
    _ name: StoreName, _ use: (DocumentStore) async throws -> Value
  ) async throws -> Value {
    guard let storage = try await engine.open(name, creating: true) else {
      throw ServiceError.notMade
    }
    let store = DocumentStore(
      name: name, storage: storage, feed: ChangeFeed(), limits: limits(name), now: now)
    do {
      let value = try await use(store)
      await storage.close()
      return value
    } catch {
      await storage.close()
      throw error
    }
  }

  private static func requireEmpty(_ info: StoreInfo?) throws {
    guard let info, info.documentCount + info.deletedCount > 0 else { return }
    throw ServiceError(
      .notEmpty,
      "The account has documents, or had some: only an account that never had any can be filled")
  }

  nonisolated private func beginFilling(_ name: StoreName) throws {
    try state.withLockedValue { state in
      guard !state.filling.contains(name) else {
        throw ServiceError(.beingFilled, "Another import into this account is under way")
      }
      guard state.filling.count < Self.filledAtOnce else {
        throw ServiceError(
          .unavailable, "Too many imports are under way; try again soon", retryAfterSeconds: 10)
      }
      state.filling.insert(name)
    }
  }

  nonisolated private func endFilling(_ name: StoreName) {
    state.withLockedValue { state in _ = state.filling.remove(name) }
  }
}
