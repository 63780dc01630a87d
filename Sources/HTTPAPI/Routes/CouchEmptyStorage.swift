import Documents
import Stores

/// What is read of a store that has not been made yet: nothing. A guest's or user's store is made at the
/// first write, and until then it answers as an empty database.
///
/// Its epoch is no store's, so that a sequence that a client keeps from it is known as outdated once the
/// store is there.
struct CouchEmptyStorage: StoreStorage {
  func read<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try query(CouchEmptyView())
  }

  /// Refuses as the rules do for an empty store; purges and indexes have nothing to act upon.
  /// - Throws: `absent` for a decision that would write.
  func update<Value: Sendable>(
    _ ids: Set<DocumentID>, at now: Timestamp,
    _ decide: @escaping @Sendable (any StoreView) throws(StoreError) -> Decision<Value>
  ) async throws(StoreError) -> Committed<Value> {
    let decision = try decide(CouchEmptyView())
    guard decision.mutations.isEmpty, decision.locals.isEmpty else { throw .absent }
    return Committed(changes: [], value: decision.value)
  }

  func compact() async throws(StoreError) {}

  func close() async {}
}
