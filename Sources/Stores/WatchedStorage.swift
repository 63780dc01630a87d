import Documents
import Synchronization

/// Whether an open store has failed below since it was opened.
final class StorageHealth: Sendable {
  private let failed = Atomic<Bool>(false)

  /// Sound, as far as known.
  init() {}

  /// Whether something failed.
  var hasFailed: Bool { failed.load(ordering: .acquiring) }

  /// Takes note of an error that leaves the state in memory in doubt. After a failed fsync the
  /// system may have dropped the pages and call the next fsync a success, so only the disk's word
  /// counts.
  func note(_ error: StoreError) {
    switch error.code {
    case .storage, .integrity, .damaged: failed.store(true, ordering: .releasing)
    default: break
    }
  }
}

/// A storage whose failures are noted, so that it is opened anew; otherwise the storage itself.
struct WatchedStorage: StoreStorage {
  /// The engine's own.
  let storage: any StoreStorage
  /// Where failures are noted.
  let health: StorageHealth

  func read<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    do { return try await storage.read(query) } catch {
      health.note(error)
      throw error
    }
  }

  func readInline<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    do { return try await storage.readInline(query) } catch {
      health.note(error)
      throw error
    }
  }

  func update<Value: Sendable>(
    loading ids: Set<DocumentID>, at now: Timestamp,
    _ rule: @escaping @Sendable (inout StoreChanges) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    do { return try await storage.update(loading: ids, at: now, rule) } catch {
      health.note(error)
      throw error
    }
  }

  func compact() async throws(StoreError) {
    do { try await storage.compact() } catch {
      health.note(error)
      throw error
    }
  }

  func mend(
    _ extent: Mending.Extent, at now: Timestamp, pause: Duration
  ) async throws(StoreError) -> Mending {
    do { return try await storage.mend(extent, at: now, pause: pause) } catch {
      health.note(error)
      throw error
    }
  }

  func close() async { await storage.close() }
}
