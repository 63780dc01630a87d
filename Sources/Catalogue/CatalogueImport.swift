package import Documents
import Glibc
import Hotels
import JSON
package import Lanes
import SQLite

/// Makes a new catalogue of a file of hotels, and puts it in the place of the old one in one step.
///
/// The file is a JSON array of objects, or objects one after another (a line each, or pretty-printed),
/// of any size: memory stays the same. Searches go on with the old catalogue until the new one is in
/// place, and for good if the import fails. May run in another process than the one that searches.
package actor CatalogueImport {
  /// The bytes read from a file at a time.
  package static let chunkBytes = 256 * 1024

  private let files: CatalogueFiles
  private let lane: Lane
  private let name: String
  private let date: Timestamp
  private let policy: BadRowPolicy
  private let report: @Sendable (ImportEvent) -> Void

  /// All of it blocks, so it runs on a lane.
  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    lane.asUnownedSerialExecutor()
  }

  /// An import that has not started.
  /// - Parameters:
  ///   - directory: The data directory, which must exist.
  ///   - lane: Where it runs; the caller stops it afterwards.
  ///   - name: What the catalogue remembers as its origin, such as the file's name.
  ///   - date: When it is imported.
  ///   - report: Told of progress and of bad rows, on the lane.
  package init(
    into directory: String, on lane: Lane, name: String, at date: Timestamp,
    onBadRow policy: BadRowPolicy = .refuse,
    report: @escaping @Sendable (ImportEvent) -> Void = { _ in }
  ) {
    files = CatalogueFiles(directory: directory)
    self.lane = lane
    self.name = name
    self.date = date
    self.policy = policy
    self.report = report
  }

  /// Imports the bytes that a sequence gives, in chunks of any size.
  /// - Throws: any ``CatalogueError`` but `damaged`; `unreadable` for what the sequence throws. The
  ///   old catalogue then still stands, and nothing of the new one is left.
  package func run<Chunks: AsyncSequence & Sendable>(
    reading chunks: Chunks
  ) async throws(CatalogueError) -> ImportSummary where Chunks.Element == [UInt8] {
    let run = try start()
    do {
      for try await chunk in chunks {
        try Task.checkCancellation()
        try run.take(chunk)
      }
      // A sequence may also end early, without an error, because the task was cancelled.
      try Task.checkCancellation()
      return try run.finish()
    } catch {
      run.abandon()
      throw Self.translated(error)
    }
  }

  /// Imports the file at `path`, which may also be a pipe.
  /// - Throws: as ``run(reading:)``; `unreadable` for a file that can't be read.
  package func run(file path: String) throws(CatalogueError) -> ImportSummary {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Self.unreadable(errno) }
    defer { close(file) }
    let run = try start()
    do {
      var buffer = [UInt8](repeating: 0, count: Self.chunkBytes)
      while true {
        try Task.checkCancellation()
        let count = read(file, &buffer, buffer.count)
        if count == 0 { break }
        if count < 0 {
          if errno == EINTR { continue }
          throw Self.unreadable(errno)
        }
        try run.take(count == buffer.count ? buffer : Array(buffer[..<count]))
      }
      return try run.finish()
    } catch {
      run.abandon()
      throw Self.translated(error)
    }
  }

  private func start() throws(CatalogueError) -> ImportRun {
    try ImportRun(
      into: files, kind: .imported, name: name, date: date, onBadRow: policy, report: report)
  }

  private static func translated(_ error: any Error) -> CatalogueError {
    switch error {
    case let error as CatalogueError: error
    case is CancellationError: CatalogueError(.cancelled, "The import was cancelled.")
    default:
      CatalogueError(
        .unreadable, "The bytes to import can't be read.", detail: String(reflecting: error))
    }
  }

  private static func unreadable(_ code: Int32) -> CatalogueError {
    CatalogueError(.unreadable, "The file to import can't be read.", detail: "errno \(code)")
  }
}

/// What an import tells while it runs, on its own lane and in order.
package enum ImportEvent: Sendable {
  /// More bytes have been read; after each chunk.
  case progress(ImportProgress)
  /// A row was no hotel, and was passed over.
  case badRow(BadRow)
}

/// How far an import is.
package struct ImportProgress: Sendable, Equatable {
  /// The bytes read.
  package internal(set) var bytes = 0
  /// The rows taken, those included that a later one replaced.
  package internal(set) var rows = 0
  /// The rows whose id an earlier row had; the later one counts.
  package internal(set) var replaced = 0
  /// The rows passed over.
  package internal(set) var badRows = 0
}

/// A row that is no hotel.
package struct BadRow: Sendable, Equatable {
  /// Its number, from 1.
  package let ordinal: Int
  /// The line it starts on, from 1.
  package let line: Int
  /// What is wrong with it.
  package let reason: String
}

/// What happens when a row is no hotel.
package enum BadRowPolicy: Sendable, Equatable {
  /// The row is reported and passed over.
  case skip
  /// The import ends, and the old catalogue stays.
  case refuse
}

/// What an import did.
package struct ImportSummary: Sendable, Equatable {
  /// The most bad rows that a summary names.
  package static let maximumBadRows = 100

  /// How many hotels the new catalogue has.
  package let hotels: Int
  /// The counts at the end.
  package let progress: ImportProgress
  /// The first bad rows, in order.
  package let badRows: [BadRow]
}

/// The right to write the draft, among all processes; given up when nobody refers to it any more, and
/// by the kernel when the process dies.
final class ImportLock {
  private let file: Int32

  /// Takes the lock, without waiting.
  /// - Throws: `busy` if another import holds it; `unavailable`, `storageFull`.
  init(_ files: CatalogueFiles) throws(CatalogueError) {
    // The lock is on a file of its own: closing any descriptor of a database's file drops SQLite's
    // locks on it. <https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>
    file = open(files.lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw CatalogueFiles.failure("open") }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      guard errno == EWOULDBLOCK else { throw CatalogueFiles.failure("flock") }
      throw CatalogueError(.busy, "Another import into the hotel catalogue is under way.")
    }
  }

  deinit {
    if file >= 0 { close(file) }
  }
}

/// Writes a new catalogue's file: one transaction from the first hotel to the last.
///
/// Nobody else reads the file before it is published, and a killed import's file is thrown away, so
/// nothing is synchronised on the way and the rollback journal, which stays empty in a file that was
/// empty before, is kept in memory. Not `Sendable`; confined to the import that made it.
final class CatalogueWriter {
  /// How much of the file is kept in memory, in KiB, however large it grows.
  static let cacheSize: Int32 = 16 * 1024

  private let connection: Connection

  /// Starts the file at `path`, where none may be.
  init(path: String) throws {
    connection = try Connection(path: path, mode: .readWriteCreate)
    try connection.execute(
      "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE")
    try connection.setCacheSize(kibibytes: Self.cacheSize)
    try connection.begin()
    try CatalogueSchema.create(in: connection)
  }

  /// Starts a catalogue in memory, for one search; see ``ScratchCatalogue``.
  init(in connection: Connection) throws {
    self.connection = connection
    try connection.addRelevance()
    try connection.begin()
    try CatalogueSchema.create(in: connection)
  }

  /// Ends a catalogue in memory, which may be searched now.
  func finishScratch() throws -> Connection {
    try Vocabulary.write(in: connection)
    try connection.commit()
    return connection
  }

  /// Adds a hotel. One whose id is there already takes the earlier one's place in the order.
  /// - Returns: whether an earlier one had the id.
  func put(_ hotel: Hotel, _ text: HotelText) throws -> Bool {
    let added = try connection.statement(
      """
      INSERT INTO hotel (id, name, body) VALUES (?1, ?2, ?3)
      ON CONFLICT (id) DO NOTHING RETURNING seq
      """
    ).first(.text(hotel.id.text), .text(text.name), .bytes(hotel.body.bytes)) {
      row in row.int64(0)
    }
    if let added {
      try index(text, as: added)
      try text.keys.write(as: added, named: text.name, in: connection)
      return false
    }
    try replace(hotel, text)
    return true
  }

  /// Ends the file: what is left is to synchronise and to publish it.
  func finish(_ origin: CatalogueOrigin) throws {
    try connection.statement("INSERT INTO origin (name, rows, date) VALUES (?1, ?2, ?3)").run(
      .text(origin.name), .integer(origin.rows), .integer(origin.date.milliseconds))
    try connection.setApplicationID(origin.kind.applicationID)
    // One sorted list of rows a word instead of several makes each search read less.
    try connection.execute(
      """
      INSERT INTO words (words) VALUES ('optimize');
      INSERT INTO phrases (phrases) VALUES ('optimize');
      """)
    try Vocabulary.write(in: connection)
    try CatalogueSchema.createNameIndex(in: connection)
    try connection.commit()
    try connection.close()
  }

  private func replace(_ hotel: Hotel, _ text: HotelText) throws {
    let old = try connection.statement("SELECT seq, body FROM hotel WHERE id = ?1").first(
      .text(hotel.id.text)
    ) { row in (seq: row.int64(0), body: row.bytes(1)) }
    guard let old, let body = try? ParsedJSON(old.body, limits: .document) else {
      throw SQLiteError(.corrupt, message: "a hotel that was just written can't be read")
    }
    try unindex(HotelText(body.root), as: old.seq)
    try connection.statement("UPDATE hotel SET name = ?1, body = ?2 WHERE seq = ?3").run(
      .text(text.name), .bytes(hotel.body.bytes), .integer(old.seq))
    try index(text, as: old.seq)
    try text.keys.write(as: old.seq, named: text.name, in: connection)
  }

  private func index(_ text: HotelText, as seq: Int64) throws {
    try connection.statement(
      """
      INSERT INTO words
        (rowid, name, title, description, amenities, address, city, state, country)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
      """
    ).run(
      .integer(seq), .text(text.name), .text(text.title), .text(text.description),
      .text(text.amenities), .text(text.address), .text(text.city), .text(text.state),
      .text(text.country))
    try connection.statement(
      """
      INSERT INTO phrases (rowid, name, description, address, city, state, country)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
      """
    ).run(
      .integer(seq), Self.phrase(text.name), Self.phrase(text.description),
      Self.phrase(text.address), Self.phrase(text.city), Self.phrase(text.state),
      Self.phrase(text.country))
  }

  /// Takes a hotel out of the indexes, which have to be told what it said.
  /// <https://sqlite.org/fts5.html#the_delete_command>
  private func unindex(_ text: HotelText, as seq: Int64) throws {
    try connection.statement(
      """
      INSERT INTO words
        (words, rowid, name, title, description, amenities, address, city, state, country)
      VALUES ('delete', ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
      """
    ).run(
      .integer(seq), .text(text.name), .text(text.title), .text(text.description),
      .text(text.amenities), .text(text.address), .text(text.city), .text(text.state),
      .text(text.country))
    try connection.statement(
      """
      INSERT INTO phrases (phrases, rowid, name, description, address, city, state, country)
      VALUES ('delete', ?1, ?2, ?3, ?4, ?5, ?6, ?7)
      """
    ).run(
      .integer(seq), Self.phrase(text.name), Self.phrase(text.description),
      Self.phrase(text.address), Self.phrase(text.city), Self.phrase(text.state),
      Self.phrase(text.country))
  }

  private static func phrase(_ text: String) -> Binding { .text(PhraseWords.indexed(text)) }
}
