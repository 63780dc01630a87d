import Lanes
import SQLite
import Stores
import Synchronization

/// Short reads on the caller's own thread: two hops between threads cost several times what such a read does.
extension SQLiteStorage {
  /// Reads here and now, unless the store is read or at work already or a page would have to come from the disk;
  /// then as any other read.
  ///
  /// Reads that come in numbers are the lane's: a row of them on one thread, with SQLite's code in that
  /// processor's cache, took a sixth less time than each on the thread of its request.
  nonisolated func readInline<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    let others = inlineReads.add(1, ordering: .relaxed).oldValue
    defer { inlineReads.subtract(1, ordering: .relaxed) }
    if others == 0, let outcome = readHere(query) { return try outcome.get() }
    return try await read(query)
  }

  /// - Returns: nil where the read is to be done on the lane. So is one that found something wrong below: what
  ///   follows from that is decided there.
  private nonisolated func readHere<Value: Sendable>(
    _ query: @Sendable (any StoreView) throws(StoreError) -> Value
  ) -> Result<Value, StoreError>? {
    let outcome: Result<Value, StoreError>?? = place.stepIn {
      assumeIsolated { storage in
        guard storage.failure == nil, let rows = storage.rows else { return nil }
        let view = SQLiteView(rows: rows, header: storage.header, now: storage.latest)
        return CachedPages.only {
          do throws(StoreError) {
            return .success(try query(view))
          } catch {
            return .failure(error)
          }
        }
      }
    }
    guard let outcome, let outcome else { return nil }
    if case .failure(let error) = outcome, error.code != .rejected { return nil }
    return outcome
  }
}
