import Documents
import Lanes
import SQLite
import StoreRecords
import Stores

/// A copy of another engine's store: a file that is complete before it gets its final name.
///
/// A crash leaves a useless file in `copies`. So the file is synced to the disk only once, at the end.
actor StoreDraft: RowWriter, RowReader {
  private let engine: FileEngine
  private let name: StoreName
  private let epoch: String
  private let file: DatabaseFile
  private let executor: InlineExecutor
  private var rows: StoreRows?

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// A copy without a file.
  init(of name: StoreName, epoch: String, in engine: FileEngine) {
    self.engine = engine
    self.name = name
    self.epoch = epoch
    file = DatabaseFile(
      directory: engine.directory.copies, name: DataDirectory.fileName(for: name.key))
    executor = InlineExecutor(engine.pool)
  }

  /// Creates the file with empty tables and without a header.
  func begin() throws {
    let (file, blank) = (file, engine.blank)
    try translating {
      try LanePool.blocking {
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

  func write(_ page: RowPage) throws {
    let rows = try opened()
    try transact(rows) { try rows.insert(page) }
  }

  func complete(_ header: StoreHeader) throws -> any RowReader {
    let rows = try opened()
    try transact(rows) { try header.write(to: rows.connection) }
    return self
  }

  /// Closes the file, syncs it and gives it its final name. The registry knows it before this method returns.
  func publish() async throws {
    let (rows, file) = (try opened(), file)
    self.rows = nil
    try translating {
      try LanePool.blocking {
        try rows.connection.checkpoint(.truncate)
        try rows.connection.close()
        try Disk.synchronize(file.path)
      }
    }
    try await engine.adopt(file, as: name, epoch: epoch)
  }

  func abandon() {
    try? rows?.connection.close()
    rows = nil
    try? file.erase()
  }

  private func opened() throws -> StoreRows {
    guard let rows else { throw ServiceError.closed }
    return rows
  }

  private func transact(_ rows: StoreRows, _ work: () throws -> Void) throws {
    try translating {
      try rows.connection.begin()
      do {
        try work()
        try LanePool.blocking { try rows.connection.commit() }
      } catch {
        rows.forgetTransaction()
        try? rows.connection.rollback()
        throw error
      }
    }
  }
}

/// Reading the complete copy.
extension StoreDraft {
  func state() throws -> CopiedState {
    let rows = try opened()
    return try translating {
      CopiedState(header: try StoreHeader(readingFrom: rows.connection))
    }
  }

  func documents(after sequence: Int64) throws -> [CopiedDocument] {
    let rows = try opened()
    return try translating { try rows.copiedDocuments(after: sequence) }
  }

  func bodies(of firsts: [Int64], after last: BodyKey?) throws -> [CopiedBody] {
    let rows = try opened()
    return try translating { try rows.copiedBodies(of: firsts, after: last) }
  }

  func locals(after last: LocalID?) throws -> [CopiedLocal] {
    let rows = try opened()
    return try translating { try rows.copiedLocals(after: last) }
  }

  /// Does nothing: the file stays open until it is published or abandoned.
  func close() {}
}
