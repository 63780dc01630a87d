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
  func open(_ name: StoreName, creating: Bool) async throws(StoreError) -> (any StoreStorage)?

  /// Notes, durably and for whoever restores a backup, that a store is about to be erased for good. Nothing to do for
  /// one that is absent, and for an engine without backups.
  func noteErasure(of name: StoreName) async throws(StoreError)

  /// Removes a store that is not open, its files and its entry, so that nothing can be read back.
  /// - Returns: false when it was absent.
  func erase(_ name: StoreName) async throws(StoreError) -> Bool

  /// The registered stores of one namespace (see ``StoreName/namespace``), by key in byte order.
  /// - Parameter key: start after this key; nil from the first.
  func names(
    in namespace: String, after key: String?, limit: Int
  ) async throws(StoreError) -> [StoreName]

  /// Whether a write would find a disk that takes it; for readiness. Blocks for as long as the disk takes, whatever
  /// else the engine does: for a thread that does nothing else. One call at a time.
  func checkWritable() throws(StoreError)

  /// How much damage is known that nobody could mend without a loss, since the start; for readiness.
  var knownDamage: Int { get }

  /// Gives everything back to the system; all stores are closed before.
  func close() async
}

extension StorageEngine {
  package func noteErasure(of name: StoreName) async throws(StoreError) {}
  package var knownDamage: Int { 0 }
}
