import SQLite
import Scheduling
import Stores

/// A copy of another engine's store: a file that is complete before it gets its final name.
///
/// A crash leaves a useless file in `copies`. So the file is synced to the disk only once, at the end.
final class StoreDraft: RowWriter, FileRowReader {
  private let engine: FileEngine
  private let name: StoreName
  private let epoch: String
  private let draft: Confined<DraftFile>

  /// A copy without a file.
  init(of name: StoreName, epoch: String, in engine: FileEngine) {
    self.engine = engine
    self.name = name
    self.epoch = epoch
    let file = DatabaseFile(
      directory: engine.directory.copies, name: DataDirectory.fileName(for: name.key))
    let blank = engine.blank
    draft = Confined(to: engine.pool) { clock in DraftFile(file, as: blank, clock) }
  }

  /// Creates the file with empty tables and without a header.
  func begin() async throws { try await draft.run { draft in try draft.begin() } }

  func write(_ page: RowPage) async throws {
    try await draft.run { draft in try draft.transact { rows in try rows.insert(page) } }
  }

  func complete(_ header: StoreHeader) async throws -> any RowReader {
    try await draft.run { draft in
      try draft.transact { rows in try header.write(to: rows.connection) }
    }
    return self
  }

  /// Closes the file, syncs it and gives it its final name. The registry knows it before this method returns.
  func publish() async throws {
    let file = try await draft.run { draft in try draft.finish() }
    try await engine.adopt(file, as: name, epoch: epoch)
  }

  func abandon() async { await draft.run { draft in draft.abandon() } }

  // MARK: Reading the complete copy

  func state() async throws -> CopiedState {
    try await reading { rows in CopiedState(header: try StoreHeader(readingFrom: rows.connection)) }
  }

  func reading<Value: Sendable>(
    _ read: @escaping @Sendable (StoreRows) throws -> Value
  ) async throws -> Value {
    try await draft.run { draft in
      let rows = try draft.requireRows()
      return try translating { try read(rows) }
    }
  }

  /// Does nothing: the file stays open until it is published or abandoned.
  func close() {}
}

/// The file of a copy and its connection.
private final class DraftFile {
  private let file: DatabaseFile
  private let blank: BlankDatabase
  private let clock: CallClock
  private var rows: StoreRows?

  init(_ file: DatabaseFile, as blank: BlankDatabase, _ clock: CallClock) {
    (self.file, self.blank, self.clock) = (file, blank, clock)
  }

  func begin() throws {
    try translating {
      try clock.blocking {
        try Disk.makeDirectory(file.directory)
        try file.erase()
        try Disk.write(try blank.image { _ in }, to: file.path)
      }
      let connection = try Connection(path: file.path, mode: .readWrite, exclusive: true)
      try connection.execute("PRAGMA synchronous = OFF")
      try connection.execute("PRAGMA mmap_size = 0")
      rows = StoreRows(connection, as: blank)
    }
  }

  /// Closes the file and syncs it to the disk.
  func finish() throws -> DatabaseFile {
    let rows = try requireRows()
    self.rows = nil
    try translating {
      try clock.blocking {
        try rows.connection.checkpoint(.truncate)
        try rows.connection.close()
        try Disk.synchronize(file.path)
      }
    }
    return file
  }

  func abandon() {
    try? rows?.connection.close()
    rows = nil
    try? file.erase()
  }

  func requireRows() throws -> StoreRows {
    guard let rows else { throw ServiceError.closed }
    return rows
  }

  func transact(_ work: (StoreRows) throws -> Void) throws {
    let rows = try requireRows()
    try translating {
      try rows.connection.begin()
      do {
        try work(rows)
        try clock.blocking { try rows.connection.commit() }
      } catch {
        rows.forgetTransaction()
        try? rows.connection.rollback()
        throw error
      }
    }
  }
}
