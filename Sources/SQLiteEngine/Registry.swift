import NIOConcurrencyHelpers
import SQLite
import Scheduling
import Stores

/// The registry of the stores that exist: a small database with a thread of its own. Because of it, a store's
/// file that is missing or empty is known to be damaged.
///
/// Its writes share commits, as a store's writes do.
final class Registry: Sendable {
  /// The registry's entry of a store.
  struct Entry: Sendable, Equatable {
    /// The epoch that the store's file must have.
    var epoch: String
    /// Whether the store's files are being removed. The store then no longer exists for callers.
    var isErasing = false
  }

  /// One change that waits for its commit.
  final class Write: Sendable {
    /// The store's key.
    let key: String
    /// The new entry; nil removes the entry.
    let entry: Entry?
    private let outcome = NIOLockedValueBox<Result<Void, ServiceError>?>(nil)

    init(_ key: String, _ entry: Entry?) {
      self.key = key
      self.entry = entry
    }

    var isDone: Bool { outcome.withLockedValue { $0 != nil } }
    /// Whether it is part of an erasure.
    var freesSpace: Bool { entry?.isErasing ?? true }
    func finish(_ result: Result<Void, ServiceError>) { outcome.withLockedValue { $0 = result } }
    func result() throws {
      guard let result = outcome.withLockedValue({ $0 }) else { throw ServiceError.closed }
      try result.get()
    }
  }

  /// The writes that share the next commit: at most one for each store that is being created or erased.
  private let waitingWrites = NIOLockedValueBox<[Write]>([])
  private let file: Confined<RegistryFile>

  /// Creates a registry whose file is not open yet.
  init(file: DatabaseFile, blank: BlankDatabase, reserve: DiskReserve, on threads: ThreadPool) {
    self.file = Confined(RegistryFile(file, blank, reserve), to: threads)
  }

  /// Opens the registry. A new data directory gets an empty one.
  /// - Throws: `damaged`, also when the registry is missing although the directory of stores exists.
  func start(in directory: DataDirectory) async throws {
    try await file.run { try $0.start(in: directory) }
  }

  /// A store's entry; nil when the store does not exist.
  /// - Throws: `integrity` for an entry that fails its checksum and can't be repaired.
  func entry(_ key: String) async throws -> Entry? { try await file.run { try $0.entry(key) } }

  /// The names of the existing stores of a namespace, in byte order of their keys, beside damaged keys.
  /// - Parameter isWhole: whether to leave out stores whose files are being removed.
  func names(
    in namespace: String, after key: String?, limit: Int, isWhole: Bool
  ) async throws -> [StoreName] {
    try await file.run { try $0.names(in: namespace, after: key, limit: limit, isWhole: isWhole) }
  }

  /// The number of entries whose key is damaged, so that it names no store. They are in no list of names.
  func namelessCount() async throws -> Int { try await file.run { try $0.namelessCount() } }

  /// The damage that SQLite finds in the file.
  func findings() async throws -> [String] { try await file.run { try $0.open().integrityCheck() } }

  /// The number of stores that exist.
  func count() async throws -> Int { try await file.run { try $0.count() } }

  /// Sets or removes an entry durably.
  func set(_ entry: Entry?, for key: String) async throws {
    let write = Write(key, entry)
    waitingWrites.withLockedValue { $0.append(write) }
    await file.run { [waitingWrites] file in
      guard !write.isDone else { return }
      file.commitAll(waitingWrites.withLockedValue { exchange(&$0, with: []) })
    }
    try write.result()
  }

  /// Closes the file for good.
  func close() async { await file.run { $0.close() } }

  /// Writes an entry, in the caller's transaction.
  static func write(_ entry: Entry, for key: String, to connection: Connection) throws {
    try connection.run(
      "INSERT OR REPLACE INTO stores(key, epoch, is_erasing, checksum) VALUES (?1, ?2, ?3, ?4)",
      .text(key), .text(entry.epoch), .integer(entry.isErasing ? 1 : 0),
      .integer(checksum(key, entry).value))
  }

  /// The entry in a row of the file: the store's key, the epoch and whether it is being erased. It is nil when the row
  /// is no entry of a store.
  static func entry(in row: RowValues) -> (key: String, entry: Entry)? {
    guard let key = String(validating: row.bytes(0), as: UTF8.self), StoreName(key: key) != nil,
      let epoch = String(validating: row.bytes(1), as: UTF8.self), (0...1).contains(row.integer(2))
    else { return nil }
    return (key, Entry(epoch: epoch, isErasing: row.integer(2) == 1))
  }

  static func checksum(_ key: String, _ entry: Entry) -> Checksum {
    var checksum = Checksum(.entry)
    checksum.append(key)
    checksum.append(entry.epoch)
    checksum.append(entry.isErasing ? 1 : 0)
    return checksum
  }
}

extension Row {
  /// The columns of an entry of the registry: key, epoch, mark of the erasure and checksum.
  var registered: RowValues {
    RowValues(
      kind: .entry, values: [.text(bytes(0)), .text(bytes(1)), .integer(int64(2))],
      checksum: int64(3))
  }

  /// The column as the name of a store; nil for a key that is damaged.
  func storeName(_ column: Int32) -> StoreName? {
    (try? string(column)).flatMap(StoreName.init(key:))
  }
}
