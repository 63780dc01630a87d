package import Documents

/// What a read asks of one state of a store.
package typealias StoreQuery<Value> = @Sendable (any StoreView) throws -> Value

/// What an update decides in one state of a store: it records the changes, and returns its answer.
package typealias UpdateRule<Value> = @Sendable (inout StoreChanges) throws -> Value

/// One open store of an engine. It only stores and reads data; the rules of documents are the caller's work.
///
/// The conformance suite in `StoreTesting` tests what these comments say.
package protocol StoreStorage: Sendable {
  /// Reads one state of the store.
  /// - Throws: what `query` throws; `damaged`, `integrity`, `storage`, `unavailable`.
  func read<Value: Sendable>(_ query: @escaping StoreQuery<Value>) async throws -> Value

  /// Reads one or two documents from one state of the store, as ``read(_:)`` does. An engine may read on the
  /// caller's thread if it need not wait for anything.
  /// - Parameter query: takes microseconds. It may run a second time; its first result is then discarded.
  func readInline<Value: Sendable>(_ query: @escaping StoreQuery<Value>) async throws -> Value

  /// Runs `rule` inside a transaction and commits what it records: all of it, durably, or nothing.
  ///
  /// The next state of each document takes one sequence number, in order; ancestors that a graft added take
  /// none of their own. After them each purge of an existing document takes one. Concurrent updates may share
  /// one commit; each update sees what the updates before it wrote. With each added revision the engine
  /// stores `now` and the author that the changes name, for as long as it keeps the revision's body. `rule`
  /// may run more than once and must not have side effects.
  /// - Parameter ids: documents that the engine reads together before the rule runs. The rule may read and
  ///   change other documents too; each of them costs a separate read.
  /// - Parameter now: the creation time of new documents, and the time at which local documents are tested
  ///   for expiry.
  /// - Returns: the result of the last run of the rule.
  /// - Throws: what `rule` throws; nothing is then written, and the sequence counter is unchanged. Also
  ///   `storageFull`, `readOnly`, `storage`, `overloaded`, `damaged`, `integrity`, `unavailable`;
  ///   `outcomeUnknown` when the engine can't tell whether the changes were written.
  @discardableResult
  func update<Value: Sendable>(
    loading ids: Set<DocumentID>, at now: Timestamp, _ rule: @escaping UpdateRule<Value>
  ) async throws -> Value

  /// Gives the disk space of removed data back to the system. The content of the store does not change.
  ///
  /// Does nothing when there is little space to give back, and in an engine without a disk.
  /// - Throws: `storageFull`, `readOnly`, `storage`, `damaged`, `unavailable`. No data is lost then.
  func compact() async throws

  /// Checks all stored data in parts and repairs what differs from what was written; see ``RepairOutcome``.
  ///
  /// Other callers can use the store between two parts. An engine whose data can't be damaged does nothing.
  /// - Parameter pause: how long the check waits after each part.
  /// - Throws: `damaged` for damage that can't be repaired, `storage`, `storageFull`, `readOnly`,
  ///   `unavailable`.
  func repair(
    _ extent: RepairOutcome.Extent, at now: Timestamp, pause: Duration
  ) async throws -> RepairOutcome

  /// Whether the call that opened the store created it.
  var isNew: Bool { get }

  /// Whether another process has erased the store, so that it must be opened again before it is used again.
  var isEnded: Bool { get }

  /// Closes the store's files. The caller makes sure that no other call follows.
  func close() async
}

extension StoreStorage {
  package var isNew: Bool { false }
  package var isEnded: Bool { false }

  package func readInline<Value: Sendable>(
    _ query: @escaping StoreQuery<Value>
  ) async throws -> Value { try await read(query) }

  package func repair(
    _ extent: RepairOutcome.Extent, at now: Timestamp, pause: Duration
  ) async throws -> RepairOutcome { RepairOutcome() }
}

/// Does work, and then closes what it used, whether the work succeeded or not.
package func closing<Value>(
  _ close: () async -> Void, after work: () async throws -> Value
) async throws -> Value {
  let result: Result<Value, any Error>
  do { result = .success(try await work()) } catch { result = .failure(error) }
  await close()
  return try result.get()
}
