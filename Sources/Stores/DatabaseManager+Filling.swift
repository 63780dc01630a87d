package import Documents
import NIOConcurrencyHelpers
import Scheduling

/// Fills a store with data that arrives in parts. Other callers see either all of the data or none.
///
/// The parts are written to another store, the staged store, whose name is made from the name of the store to
/// be filled and the import's own id (``StoreName/staged(_:by:)``). No client can ask for it, no backup contains
/// it, and no feed reports it. At the end it takes the place of the other store in one step of the engine
/// (``StorageEngine/replace(_:by:)``). After a failure the staged store is erased at once; after a crash at the
/// next start, or later by another process.
extension DatabaseManager {
  /// How many stores are filled at once, at most. Each of them is open in addition to the leased stores.
  /// Who gets these places is decided where the callers' addresses are known.
  package static let filledAtOnce = 32

  /// Fills an empty store: an absent one, or one without documents and tombstones.
  ///
  /// While the store is being filled, readers see an empty store. When it is filled, the feeds of the empty
  /// store end, and the store has another epoch.
  /// - Parameter use: writes into the staged store. When it throws, nothing of what it wrote stays.
  /// - Returns: what `use` returned; all data is durable then.
  /// - Throws: what `use` throws; `notEmpty`, also when the store was changed meanwhile; `beingFilled`;
  ///   `unavailable` when too many stores are being filled; the store's errors.
  package func fill<Value>(
    _ name: StoreName, _ use: (DocumentStore) async throws -> Value
  ) async throws -> Value {
    try beginFilling(name)
    defer { endFilling(name) }
    try await withStore(name, creating: false) { store in
      try await store?.readInline { view in try view.info().requireEmpty() }
    }
    let staged = StoreName.staged(name, by: .random())
    do {
      let value = try await staging(staged, use)
      // The engine checks again that the store is empty: another process may have written to it.
      try await withClosed(name) { try await engine.replace(name, by: staged) }
      return value
    } catch {
      // A task of its own, because the caller's task may be cancelled. If it fails, ``removeStaged(begunBefore:)``
      // erases the store later.
      let engine = engine
      _ = await Scheduling.Work.waiting {
        await Scheduling.Work.shared { try? await engine.erase(staged) }.value
      }
      throw error
    }
  }

  /// Erases the staged stores of imports that were under way when the service stopped. Called at every start,
  /// before the service accepts requests, and then each minute.
  /// - Parameter limit: if imports may be under way: a staged store that was changed later is left alone.
  /// - Returns: the errors of stores that could not be erased; the next call tries again.
  /// - Throws: the errors of the registry of stores.
  package func removeStaged(begunBefore limit: Timestamp? = nil) async throws -> [any Error] {
    var (failures, last): ([any Error], String?) = ([], nil)
    while true {
      let names = try await engine.names(in: StoreName.stagedNamespace, after: last, limit: 100)
      guard let end = names.last else { return failures }
      last = end.key
      let abandoned = try await findAbandoned(names, before: limit)
      for staged in abandoned {
        guard case .staged(let name, _) = staged else { continue }
        // If the staged store had already taken its place, this visit opens the filled store and so registers
        // it.
        do { try await visit(name) { _ in } } catch { failures.append(error) }
        do { _ = try await engine.erase(staged) } catch { failures.append(error) }
      }
    }
  }

  /// The stores that were not changed after a limit; all of them if there is no limit. A store of whose changes nothing
  /// is known is being erased.
  private func findAbandoned(
    _ names: [StoreName], before limit: Timestamp?
  ) async throws -> [StoreName] {
    guard let limit else { return names }
    return try await engine.figures(of: names).filter { figures in
      figures.changedAt.map { $0 < limit } ?? true
    }.map(\.name)
  }

  /// Opens the staged store, runs `use` with it and closes it.
  private func staging<Value>(
    _ name: StoreName, _ use: (DocumentStore) async throws -> Value
  ) async throws -> Value {
    guard let storage = try await engine.open(name, creating: true) else {
      throw ServiceError.notMade
    }
    let store = DocumentStore(name: name, storage: storage, limits: limits(name), now: now)
    return try await closing(storage.close) { try await use(store) }
  }

  private func beginFilling(_ name: StoreName) throws {
    try state.withLockedValue { state in
      guard !state.filling.contains(name) else { throw ServiceError.beingFilled }
      // An import that has lost its place to another one may still be ending.
      guard state.filling.count < 2 * Self.filledAtOnce else {
        throw ServiceError(
          .unavailable, "Too many imports are under way; try again soon", retryAfterSeconds: 10)
      }
      state.filling.insert(name)
    }
  }

  private func endFilling(_ name: StoreName) {
    state.withLockedValue { state in _ = state.filling.remove(name) }
  }
}

extension StoreInfo {
  /// - Throws: `notEmpty` for a store with documents or tombstones.
  package func requireEmpty() throws {
    guard documentCount + deletedCount > 0 else { return }
    throw ServiceError(
      .notEmpty,
      "The account has documents, or had some: only an account that never had any can be filled")
  }
}

extension ServiceError {
  /// The error of an import while another one fills the same account.
  package static let beingFilled = ServiceError(
    .beingFilled, "Another import into this account is under way")
}
