/// Creates, opens and erases stores.
///
/// An engine keeps a registry of its stores, so that it knows which stores exist without a search for files.
/// If the file of a registered store is missing or invalid, the store is `damaged`; it is never treated as
/// empty.
package protocol StorageEngine: Sendable {
  /// How many file descriptors an open store holds.
  var descriptorsPerStore: Int { get }

  /// Opens a store. The caller makes sure that a store is open at most once.
  /// - Parameter creating: whether to create an absent store. The new store is durable before the call
  ///   returns.
  /// - Returns: nil when the store is absent and `creating` is false.
  /// - Throws: `damaged`, `unavailable`, `storage`, `storageFull`, `readOnly`.
  func open(_ name: StoreName, creating: Bool) async throws -> (any StoreStorage)?

  /// Records durably that a store will be erased for good, for the person who restores a backup, and for other
  /// processes that may be about to create it. Does nothing when the store is certainly absent, unless it is a user's,
  /// whose account a backup may contain. Does nothing in an engine without backups.
  func noteErasure(of name: StoreName) async throws

  /// Erases a store that is not open: its files and its entry in the registry. Its data can't be read
  /// afterwards.
  /// - Returns: false when the store was absent.
  func erase(_ name: StoreName) async throws -> Bool

  /// Puts a store in the place of an empty one. This process has neither of them open.
  ///
  /// The content of `other` then has the name `name`, and keeps its own epoch. Of `name` only local documents are
  /// lost. Whether it is empty is checked in the step that ends it, so that no write of another process is lost.
  ///
  /// After a crash, `other` either is unchanged or can be erased; `name` either is unchanged, or is absent,
  /// or has the complete content of `other`.
  /// - Parameter name: the store that is replaced. It may be absent.
  /// - Parameter other: the store that takes its place.
  /// - Throws: `absent` when `other` does not exist; `notEmpty` when `name` has documents or tombstones. `name` is then
  ///   unchanged or absent, and `other` can only be erased.
  func replace(_ name: StoreName, by other: StoreName) async throws

  /// The registered stores of one namespace (see ``StoreName/namespace``), by key in byte order.
  /// - Parameters:
  ///   - key: the listing starts after this key; nil starts it at the first.
  ///   - includingErased: whether to list stores, too, whose erasure has begun. If it was interrupted, the next opening
  ///     to the store finishes it. Staged stores are listed in any case, because no one else asks for them.
  func names(
    in namespace: String, after key: String?, limit: Int, includingErased: Bool
  ) async throws -> [StoreName]

  /// What the engine knows of some stores without opening them, in the order of `names`.
  /// - Parameter names: one page of names. The engine looks at all their files in one pass.
  func figures(of names: [StoreName]) async throws -> [StoreFigures]

  /// Checks for readiness that the storage accepts a write. Throws when it does not: `storageFull` or `outcomeUnknown` if
  /// reads go on, and no other server could do more.
  ///
  /// The call blocks its thread until the disk has answered, so use a thread that does nothing else. Only one
  /// call at a time is allowed. It does not wait for the engine's other work.
  func checkWritable() throws

  /// Whether the disk has space for guests, users and lists that are not there yet, as the last ``checkWritable()``
  /// found it. Less free space is kept for those that are there. Always true in an engine that can't see its disk.
  var hasSpaceForNewcomers: Bool { get }

  /// How many cases of damage were found since the start that could not be repaired without loss of data; for
  /// readiness.
  var knownDamage: Int { get }

  /// Whether a database that can have writes on several disks has them on one only, as far as the last ``checkWritable()``
  /// knows. False for files.
  var writesOnOneDisk: Bool { get }

  /// Whether other processes use the same stores at the same time.
  var isShared: Bool { get }

  /// What other processes do to the stores of a shared engine. For one caller. A change may be missed;
  /// ``positions(of:)`` finds what was missed.
  func remoteChanges() -> AsyncStream<RemoteChange>

  /// Where the feeds of some stores are, in the order of `names`; nil for an absent store. Only a shared engine is
  /// asked.
  /// - Parameter names: one page of names.
  func positions(of names: [StoreName]) async throws -> [StorePosition?]

  /// Releases all resources. The caller closes all stores first.
  func close() async
}

extension StorageEngine {
  /// The registered stores of one namespace; see ``names(in:after:limit:includingErased:)``.
  package func names(
    in namespace: String, after key: String?, limit: Int
  ) async throws -> [StoreName] {
    try await names(in: namespace, after: key, limit: limit, includingErased: false)
  }

  package func noteErasure(of name: StoreName) async throws {}
  package var knownDamage: Int { 0 }
  package var writesOnOneDisk: Bool { false }
  package var hasSpaceForNewcomers: Bool { true }
  package func figures(of names: [StoreName]) async throws -> [StoreFigures] {
    names.map { StoreFigures($0) }
  }
  package var isShared: Bool { false }
  package func remoteChanges() -> AsyncStream<RemoteChange> { AsyncStream { $0.finish() } }
  package func positions(of names: [StoreName]) async throws -> [StorePosition?] {
    names.map { _ in nil }
  }
}
