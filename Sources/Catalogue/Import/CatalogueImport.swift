package import Documents
import Glibc
package import Scheduling

/// Makes a new catalogue from a file of hotels and replaces the old one in one step.
///
/// The file is JSON or a table; see ``ImportSource``. Its hotels may have other names and forms than the documented ones;
/// see ``HotelForm``. It may have any size; the memory in use does not grow with it. Searches use the old catalogue until
/// the new one replaces it, and keep using it if the import fails. The import may run in another process than the
/// searches. The catalogue that was replaced is kept until the next import; see ``StoredCatalogue/undo()``.
package struct CatalogueImport: Sendable {
  private let files: CatalogueFiles
  /// All of the work blocks, so it runs here.
  private let threads: ThreadPool
  private let name: String
  private let date: Timestamp
  private let policy: BadRowPolicy
  private let replacement: Replacement
  private let report: @Sendable (ImportEvent) -> Void

  /// Makes an import, but does not start it.
  /// - Parameters:
  ///   - directory: the data directory, which must exist.
  ///   - threads: where the import runs; the caller stops them afterwards.
  ///   - name: the origin that is stored in the catalogue, for example the file's name.
  ///   - date: the time of the import.
  ///   - isForced: whether an import that ``ImportCheck`` would refuse replaces the catalogue, too.
  ///   - isDryRun: whether the catalogue stays as it is.
  ///   - report: called there with progress and bad rows.
  package init(
    into directory: String, on threads: ThreadPool, name: String, at date: Timestamp,
    onBadRow policy: BadRowPolicy = .refuse, isForced: Bool = false,
    isDryRun: Bool = false,
    report: @escaping @Sendable (ImportEvent) -> Void = { _ in }
  ) {
    files = CatalogueFiles(directory: directory)
    self.threads = threads
    self.name = name
    self.date = date
    self.policy = policy
    replacement = isDryRun ? .tried(isForced: isForced) : .imported(isForced: isForced)
    self.report = report
  }

  /// Imports the bytes of a sequence, in chunks of any size.
  /// - Throws: any ``CatalogueError`` but `damaged`; `unreadable` for an error of the sequence. The old catalogue
  ///   is unchanged then, and nothing of the new one remains.
  package func run<Chunks: AsyncSequence & Sendable>(
    reading chunks: Chunks
  ) async throws(CatalogueError) -> ImportSummary where Chunks.Element == [UInt8] {
    let run = try await threads.run { () throws(CatalogueError) in
      Confined(
        try ImportRun(
          into: files, kind: .imported, name: name, date: date, onBadRow: policy,
          as: replacement, report: report), to: threads)
    }
    do {
      for try await chunk in chunks {
        try Task.checkCancellation()
        try await run.run { try $0.take(chunk) }
      }
      // The chunks may also end early without an error when the task is cancelled.
      try Task.checkCancellation()
      return try await run.run { try $0.finish() }
    } catch {
      await run.run { $0.abandon() }
      throw Self.translated(error)
    }
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
}

/// What an import reports while it runs, on its own thread and in order.
package enum ImportEvent: Sendable {
  /// More bytes were read. Reported after each chunk.
  case progress(ImportProgress)
  /// A row was not a valid hotel and was skipped.
  case badRow(BadRow)
}

package struct ImportProgress: Sendable, Equatable {
  /// The number of bytes read.
  package internal(set) var bytes = 0
  /// The number of rows imported, including those that a later row replaced.
  package internal(set) var rows = 0
  /// The number of rows that replaced an earlier row with the same id.
  package internal(set) var replaced = 0
  /// The number of rows skipped.
  package internal(set) var badRows = 0
  /// The number of rows that are no hotels and no faults either, such as airports.
  package internal(set) var otherRows = 0
}

/// A row that is not a valid hotel.
package struct BadRow: Sendable, Equatable {
  /// The row's number, from 1.
  package let ordinal: Int
  /// The line on which it starts, from 1.
  package let line: Int
  package let reason: String
}

/// What the import does with a row that is not a valid hotel.
package enum BadRowPolicy: Sendable, Equatable {
  /// The row is reported and skipped.
  case skip
  /// The import fails, and the old catalogue stays.
  case refuse
}

package struct ImportSummary: Sendable, Equatable {
  package static let maximumBadRows = 100

  /// The number of hotels in the new catalogue.
  package let hotels: Int
  /// The final counts.
  package let progress: ImportProgress
  /// The first bad rows, in order.
  package let badRows: [BadRow]
  /// What became of the rows' members, and what else was found.
  package let found: ImportReport
  /// Whether there is a former catalogue that can be brought back.
  package let hasFormer: Bool
}

extension ImportSummary {
  /// The numbers, in one line.
  package var counts: String {
    let left = progress.badRows + progress.otherRows
    let what = [
      progress.badRows > 0 ? "bad (\(progress.badRows))" : "", found.otherRows,
    ].filter { !$0.isEmpty }.joined(separator: ", ")
    let values = found.leftOutValues
    return "\(hotels) hotels; \(left) rows left out" + (what.isEmpty ? "" : ": \(what)")
      + "; \(progress.replaced) replaced by a later row of the same id"
      + (values.isEmpty ? "" : "; values left out: \(values)")
  }
}

/// The exclusive right to write the draft, among all processes. It ends with the last reference, or when the
/// process ends.
final class ImportLock {
  private let file: Int32

  /// Takes the lock without waiting.
  /// - Throws: `busy` if another import holds it; `unavailable`, `storageFull`.
  init(_ files: CatalogueFiles) throws(CatalogueError) {
    // The lock is on a file of its own, because closing any descriptor of a database's file releases SQLite's locks
    // on it.
    // <https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>
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
