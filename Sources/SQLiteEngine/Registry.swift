import Lanes
import NIOConcurrencyHelpers
import SQLite
import StoreRecords
import Stores

/// The registry of the stores that exist: a small database with its own lane. Because of it, a store's file that is
/// missing or empty is known to be damaged.
///
/// Its writes share commits, as a store's writes do. After an error of a commit, the next call opens the file again and
/// reads what is on the disk. On a full disk, erasures still work in the reserved space.
actor Registry {
  /// The registry's entry of a store.
  struct Entry: Sendable, Equatable {
    /// The epoch that the store's file must have.
    var epoch: String
    /// Whether the store's files are being removed. The store then no longer exists for callers.
    var isErasing = false
  }

  /// One change that waits for its commit.
  private final class Write: Sendable {
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

  private let lane: Lane
  private let file: DatabaseFile
  private let blank: BlankDatabase
  private let reserve: DiskReserve
  // The queue needs no limit: it holds at most one write for each store that is being created or erased.
  private let inbox = Inbox<Write>(limit: .max)
  private var connection: Connection?
  /// Whether the disk accepted no writes when the file was opened.
  private var isReadOnly = false
  /// Whether a log that a crash left must be copied into the file before anything is written.
  private var hasOldLog = false
  private var isClosed = false

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  /// Creates a registry whose file is not open yet.
  init(file: DatabaseFile, blank: BlankDatabase, reserve: DiskReserve, lane: Lane) {
    self.file = file
    self.blank = blank
    self.reserve = reserve
    self.lane = lane
  }

  /// Opens the registry. A new data directory gets an empty one.
  /// - Throws: `damaged`, also when the registry is missing although the directory of stores exists.
  func start(in directory: DataDirectory) throws {
    if try !file.exists() {
      guard try Disk.entry(at: directory.stores) == nil
      else { throw ServiceError.damaged("\(file.path): the registry is missing") }
      let image = try blank.image { _ in }
      try file.create(image)
    }
    _ = try opened()
  }

  /// A store's entry; nil when the store does not exist.
  /// - Throws: `integrity` for an entry that fails its checksum and can't be repaired.
  func entry(_ key: String) throws -> Entry? {
    let connection = try opened()
    let found = try connection.statement(
      "SELECT epoch, is_erasing, checksum FROM stores WHERE key = ?1"
    ).first(.text(key)) { row in
      (
        entry: Entry(epoch: (try? row.string(0)) ?? "", isErasing: row.int64(1) != 0),
        checksum: row.int64(2)
      )
    }
    guard let found else { return nil }
    if Self.checksum(key, found.entry).matches(found.checksum) { return found.entry }
    return try repairedEntry(key)
  }

  /// Repairs an entry in which one byte is wrong, and writes it.
  /// - Throws: `integrity` when the entry can't be repaired.
  private func repairedEntry(_ key: String) throws -> Entry {
    let connection = try opened()
    let row = try connection.statement(
      "SELECT epoch, is_erasing, checksum FROM stores WHERE key = ?1"
    )
    .first(.text(key)) { row in
      RowValues(
        kind: .entry,
        values: [.text(Array(key.utf8)), .text(row.bytes(0)), .integer(row.int64(1))],
        checksum: row.int64(2))
    }
    guard let repaired = row?.repaired(), repaired.bytes(0).elementsEqual(key.utf8),
      let epoch = String(validating: repaired.bytes(1), as: UTF8.self),
      (0...1).contains(repaired.integer(2))
    else { throw ServiceError.integrity("an entry of the registry fails its checksum") }
    let entry = Entry(epoch: epoch, isErasing: repaired.integer(2) == 1)
    // The repaired entry is used even if the disk accepts no writes now.
    try? commit([Write(key, entry)])
    return entry
  }

  /// The keys of the existing stores of a namespace, in byte order.
  /// - Parameter isWhole: whether to leave out stores whose files are being removed.
  func keys(
    in namespace: String, after key: String?, limit: Int, isWhole: Bool
  ) throws -> [String] {
    let connection = try opened()
    // A key is the namespace alone, or the namespace and "/" and more. "0" is the byte after "/".
    return try connection.statement(
      """
      SELECT key FROM stores WHERE key >= ?1 AND key < ?2 AND key > ?3 AND is_erasing <= ?5
      ORDER BY key LIMIT ?4
      """
    ).all(
      .text(namespace), .text(namespace + "0"), .text(key ?? ""), .integer(max(limit, 0)),
      .integer(isWhole ? 0 : 1)
    ) { row in try row.string(0) }
  }

  /// Sets or removes an entry durably.
  nonisolated func set(_ entry: Entry?, for key: String) async throws {
    let write = Write(key, entry)
    guard inbox.append(write) else { throw ServiceError.closed }
    await commitWaiting(until: write)
    try write.result()
  }

  /// Closes the file for good.
  func close() {
    isClosed = true
    try? connection?.close()
    connection = nil
  }

  private func commitWaiting(until write: Write) {
    guard !write.isDone else { return }
    let batch = inbox.take(atMost: .max)
    do {
      try commitAndFinish(batch)
      connection?.copyLongLog()
    } catch {
      let error = ServiceError(engine: error)
      let erasures = batch.filter { $0.freesSpace && error.code == .storageFull }
      for write in batch where !erasures.contains(where: { $0 === write }) {
        write.finish(.failure(error))
      }
      if !erasures.isEmpty { commitOnFullDisk(erasures) }
    }
  }

  /// Commits erasures that failed because the disk is full. The reserve provides the pages that the log needs; then the
  /// log is copied into the file and emptied, which frees them again.
  private func commitOnFullDisk(_ erasures: [Write]) {
    reserve.release()
    do {
      try commitAndFinish(erasures)
      // A log that can't be copied now is copied before the next write.
      hasOldLog = try connection?.copiesLog() == false
    } catch {
      let error = ServiceError(engine: error)
      for write in erasures where !write.isDone { write.finish(.failure(error)) }
    }
    _ = reserve.isWhole()
  }

  private func commitAndFinish(_ batch: [Write]) throws {
    try commit(batch)
    for write in batch { write.finish(.success(())) }
  }

  private func commit(_ batch: [Write]) throws {
    do { try transact(batch) } catch {
      // After any failure, the file is opened and read again before the next write.
      try? connection?.close()
      connection = nil
      throw error
    }
  }

  private func transact(_ batch: [Write]) throws {
    let connection = try openedForWriting()
    try connection.begin()
    for write in batch {
      guard let entry = write.entry else {
        try connection.statement("DELETE FROM stores WHERE key = ?1").run(.text(write.key))
        continue
      }
      try Self.write(entry, for: write.key, to: connection)
    }
    try connection.commit()
  }

  /// Writes an entry, in the caller's transaction.
  static func write(_ entry: Entry, for key: String, to connection: Connection) throws {
    try connection.statement(
      "INSERT OR REPLACE INTO stores(key, epoch, is_erasing, checksum) VALUES (?1, ?2, ?3, ?4)"
    ).run(
      .text(key), .text(entry.epoch), .integer(entry.isErasing ? 1 : 0),
      .integer(checksum(key, entry).value))
  }

  /// The connection to the file, which is opened if necessary.
  func opened() throws -> Connection {
    if let connection { return connection }
    guard !isClosed else { throw ServiceError.closed }
    let opened = try Connection.opening(file, as: blank) { connection in
      try connection.statement("SELECT key FROM stores LIMIT 1").first { _ in }
    }
    connection = opened.connection
    isReadOnly = opened.isReadOnly
    hasOldLog = opened.hasOldLog
    return opened.connection
  }

  private func openedForWriting() throws -> Connection {
    if isReadOnly { connection = nil }
    let connection = try opened()
    guard !isReadOnly else { throw ServiceError.readOnly }
    if hasOldLog {
      guard try connection.copiesLog() else { throw ServiceError.full }
      hasOldLog = false
    }
    return connection
  }

  /// The checksum of an entry.
  static func checksum(_ key: String, _ entry: Entry) -> Checksum {
    var checksum = Checksum(.entry)
    checksum.append(key)
    checksum.append(entry.epoch)
    checksum.append(entry.isErasing ? 1 : 0)
    return checksum
  }
}
