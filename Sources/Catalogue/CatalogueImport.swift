package import Documents
import Glibc
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
