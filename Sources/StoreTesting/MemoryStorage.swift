package import Documents
import NIOConcurrencyHelpers
package import Stores
import Synchronization

/// A store in memory that behaves as the port says. What it holds belongs to its ``MemoryEngine``
/// and outlives it.
package final class MemoryStorage: StoreStorage {
  /// A store's content and the errors that a test wants of it.
  final class File: Sendable {
    let state = NIOLockedValueBox(MemoryState())
    let writeFault = NIOLockedValueBox<StoreError?>(nil)
  }

  /// What readers have asked so far.
  package let reads = ReadCounter()

  private let file: File
  private let onClose: @Sendable () -> Void
  private let isClosed = Atomic<Bool>(false)

  init(_ file: File, onClose: @escaping @Sendable () -> Void) {
    self.file = file
    self.onClose = onClose
  }

  package func read<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try requireOpen()
    let snapshot = file.state.withLockedValue { $0 }
    reads.count(\.states)
    return try query(MemoryView(state: snapshot, now: nil, reads: reads))
  }

  package func update<Value: Sendable>(
    _ ids: Set<DocumentID>, at now: Timestamp,
    _ decide: @escaping @Sendable (any StoreView) throws(StoreError) -> Decision<Value>
  ) async throws(StoreError) -> Committed<Value> {
    try requireOpen()
    if let fault = file.writeFault.withLockedValue({ $0 }) { throw fault }
    return try file.state.withLockedRule { state throws(StoreError) in
      let decision = try decide(MemoryView(state: state, now: now))
      let changes = try state.commit(decision, for: ids, at: now)
      reads.count(\.commits)
      return Committed(changes: changes, value: decision.value)
    }
  }

  package func compact() async throws(StoreError) { try requireOpen() }

  package func close() async {
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    onClose()
  }

  private func requireOpen() throws(StoreError) {
    guard isClosed.load(ordering: .acquiring) else { return }
    throw StoreError(.unavailable, "The store is closed")
  }
}
