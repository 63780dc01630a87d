package import Documents

/// The port that makes, opens and erases stores. It keeps a registry, so that it knows which stores
/// exist without looking for files: a registered store whose file is not right is `damaged`, never
/// empty.
package protocol StorageEngine: Sendable {
  /// How many file descriptors an open store holds.
  var descriptorsPerStore: Int { get }

  /// Opens a store. The caller sees to it that one name is open once at most.
  /// - Parameter creating: whether to make the store if it is absent, durably, before answering.
  /// - Returns: nil when the store is absent and `creating` is false.
  /// - Throws: `damaged`, `unavailable`, `storage`, `storageFull`, `readOnly`.
  func open(_ name: StoreName, creating: Bool) async throws -> (any StoreStorage)?

  /// Notes, durably and for whoever restores a backup, that a store is about to be erased for good. Nothing to do for
  /// one that is absent, and for an engine without backups.
  func noteErasure(of name: StoreName) async throws

  /// Removes a store that is not open, its files and its entry, so that nothing can be read back.
  /// - Returns: false when it was absent.
  func erase(_ name: StoreName) async throws -> Bool

  /// Puts a store in the place of another one: what was there is erased without a note, and what the first holds is
  /// there under the other's name, with its own epoch. Neither is open.
  ///
  /// After a crash the first is there as it was or can be erased, and the other is as it was, absent, or whole with all
  /// that the first held.
  /// - Throws: `absent` without a first one; the other is as it was or absent then.
  func replace(_ name: StoreName, by other: StoreName) async throws

  /// The registered stores of one namespace (see ``StoreName/namespace``), by key in byte order.
  /// - Parameter key: start after this key; nil from the first.
  func names(
    in namespace: String, after key: String?, limit: Int
  ) async throws -> [StoreName]

  /// What is known of some stores without opening them; in the order of the names.
  /// - Parameter names: a page of them, for which all files are looked at in one go.
  func figures(of names: [StoreName]) async throws -> [StoreFigures]

  /// Whether a write would find a disk that takes it; for readiness. Blocks for as long as the disk takes, whatever
  /// else the engine does: for a thread that does nothing else. One call at a time.
  func checkWritable() throws

  /// How much damage is known that nobody could mend without a loss, since the start; for readiness.
  var knownDamage: Int { get }

  /// Gives everything back to the system; all stores are closed before.
  func close() async
}

extension StorageEngine {
  package func noteErasure(of name: StoreName) async throws {}
  package var knownDamage: Int { 0 }
  package func figures(of names: [StoreName]) async throws -> [StoreFigures] {
    names.map { StoreFigures($0) }
  }
}

/// The port that an engine fills: one open store. Low and dumb: every rule is the caller's.
///
/// The conformance suite in `StoreTesting` says in code what is said here in words.
package protocol StoreStorage: Sendable {
  /// Reads one state of the store.
  /// - Throws: what `query` throws; `damaged`, `integrity`, `storage`, `unavailable`.
  func read<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value

  /// Reads a document or two of one state of the store, as ``read(_:)``; an engine may do that on the caller's
  /// thread as long as it need not wait for anything.
  /// - Parameter query: takes microseconds; may run a second time when its first answer is thrown away.
  func readInline<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value

  /// Runs `rule` inside a transaction and commits what it records: all of it, durably, or nothing.
  ///
  /// One sequence number for each document's next state, in order, none for ancestors that a graft brought
  /// along; then one for each purge of a document that is there. Concurrent updates may share one commit;
  /// each sees what those before it wrote. Each revision that is added keeps, for as long as its body is kept, `now`
  /// and the author that the changes name. `rule` may run more than once and must not have side effects.
  /// - Parameter ids: documents that are read in one go before the rule runs. It may read and change others, each of
  ///   which costs a read of its own.
  /// - Parameter now: the moment that new documents are stamped with and that local documents
  ///   expire at.
  /// - Returns: what the rule returned when it last ran.
  /// - Throws: what `rule` throws, nothing having been written, not even the sequence counter;
  ///   `storageFull`, `readOnly`, `storage`, `overloaded`, `damaged`, `integrity`, `unavailable`; `outcomeUnknown` where
  ///   an engine can't tell whether what was recorded is written.
  @discardableResult
  func update<Value: Sendable>(
    loading ids: Set<DocumentID>, at now: Timestamp,
    _ rule: @escaping @Sendable (inout StoreChanges) throws -> Value
  ) async throws -> Value

  /// Gives the disk space of what was removed back to the system, without changing what the store holds.
  /// Nothing to do for an engine without a disk, or when there is little to give back.
  /// - Throws: `storageFull`, `readOnly`, `storage`, `damaged`, `unavailable`; nothing is lost then.
  func compact() async throws

  /// Looks at all that is stored, piece by piece, and mends what is not what was written; see ``Mending``. Others have
  /// their turn between the pieces. Nothing to do for an engine that can't be damaged.
  /// - Parameter pause: for how long it rests after each piece.
  /// - Throws: `damaged` for what no mending helps, `storage`, `storageFull`, `readOnly`, `unavailable`.
  func mend(
    _ extent: Mending.Extent, at now: Timestamp, pause: Duration
  ) async throws -> Mending

  /// Gives the store's files back to the system. Whoever calls it sees to it that nothing follows.
  func close() async
}

extension StoreStorage {
  package func readInline<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value { try await read(query) }

  package func mend(
    _ extent: Mending.Extent, at now: Timestamp, pause: Duration
  ) async throws -> Mending { Mending() }
}
