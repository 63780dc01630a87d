import SQLite
import Stores

/// The file of the ``Registry``. Its calls block.
///
/// After an error of a commit, the next call opens the file again and reads what is on the disk. On a full disk, erasures
/// still work in the reserved space.
final class RegistryFile {
  private let file: DatabaseFile
  private let blank: BlankDatabase
  private let reserve: DiskReserve
  private var connection: Connection?
  /// Whether the disk accepted no writes when the file was opened.
  private var isReadOnly = false
  /// Whether a log that a crash left must be copied into the file before anything is written.
  private var hasOldLog = false
  private var isClosed = false

  init(_ file: DatabaseFile, _ blank: BlankDatabase, _ reserve: DiskReserve) {
    self.file = file
    self.blank = blank
    self.reserve = reserve
  }

  func start(in directory: DataDirectory) throws {
    if try !file.exists() {
      guard try Disk.entry(at: directory.stores) == nil
      else { throw ServiceError.damaged("\(file.path): the registry is missing") }
      let image = try blank.image { _ in }
      try file.create(image)
    }
    _ = try open()
  }

  /// A store's entry. One in which one byte is wrong is repaired and written.
  /// - Throws: `integrity` when the entry can't be repaired.
  func entry(_ key: String) throws -> Registry.Entry? {
    let stored = try open().statement(
      "SELECT key, epoch, is_erasing, checksum FROM stores WHERE key = ?1"
    ).first(.text(key)) { $0.registered }
    guard let stored else { return nil }
    let isSound = stored.isSound
    guard let row = isSound ? stored : stored.repaired(),
      let (found, entry) = Registry.entry(in: row), found == key
    else { throw ServiceError.integrity("an entry of the registry fails its checksum") }
    // The repaired entry is used even if the disk accepts no writes now.
    if !isSound { try? commit([Registry.Write(key, entry)]) }
    return entry
  }

  func names(
    in namespace: String, after key: String?, limit: Int, isWhole: Bool
  ) throws -> [StoreName] {
    // A key is the namespace alone, or the namespace and "/" and more. "0" is the byte after "/".
    guard limit > 0 else { return [] }
    // A short page is the last one, so a damaged key must not make a page short.
    var names: [StoreName] = []
    try open().statement(
      """
      SELECT key FROM stores WHERE key >= ?1 AND key < ?2 AND key > ?3 AND is_erasing <= ?4
      ORDER BY key
      """
    ).visit(
      .text(namespace), .text(namespace + "0"), .text(key ?? ""), .integer(isWhole ? 0 : 1)
    ) { row in
      if let name = row.storeName(0) { names.append(name) }
      return names.count < limit
    }
    return names
  }

  func namelessCount() throws -> Int {
    var count = 0
    try open().statement("SELECT key FROM stores").query { row in
      if row.storeName(0) == nil { count += 1 }
    }
    return count
  }

  func count() throws -> Int {
    Int(clamping: try open().integer("SELECT count(*) FROM stores WHERE is_erasing = 0") ?? 0)
  }

  func close() {
    isClosed = true
    try? connection?.close()
    connection = nil
  }

  /// Commits writes, and gives each its result.
  func commitAll(_ batch: [Registry.Write]) {
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
  private func commitOnFullDisk(_ erasures: [Registry.Write]) {
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

  private func commitAndFinish(_ batch: [Registry.Write]) throws {
    try commit(batch)
    for write in batch { write.finish(.success(())) }
  }

  private func commit(_ batch: [Registry.Write]) throws {
    do { try transact(batch) } catch {
      // After any failure, the file is opened and read again before the next write.
      try? connection?.close()
      connection = nil
      throw error
    }
  }

  private func transact(_ batch: [Registry.Write]) throws {
    let connection = try openForWriting()
    try connection.begin()
    for write in batch {
      guard let entry = write.entry else {
        try connection.run("DELETE FROM stores WHERE key = ?1", .text(write.key))
        continue
      }
      try Registry.write(entry, for: write.key, to: connection)
    }
    try connection.commit()
  }

  /// The connection to the file, which is opened if necessary.
  func open() throws -> Connection {
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

  private func openForWriting() throws -> Connection {
    if isReadOnly { connection = nil }
    let connection = try open()
    guard !isReadOnly else { throw ServiceError.readOnly }
    if hasOldLog {
      guard try connection.copiesLog() else { throw ServiceError.full }
      hasOldLog = false
    }
    return connection
  }
}
