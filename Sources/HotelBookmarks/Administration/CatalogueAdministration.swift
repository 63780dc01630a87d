import Catalogue
import FoundationEssentials
import Glibc
import SQLiteEngine
import Scheduling
import Stores

/// Replaces the embedded upstream's hotels from the command line. A running server uses the new ones; with a database,
/// all of its servers do.
package enum CatalogueAdministration {
  /// Imports a file of hotels. Creates the data directory if only the last element of its path is missing, as a server
  /// does.
  /// - Parameter file: a path, or `-` for standard input.
  /// - Parameter isStrict: whether one bad row refuses the whole file.
  /// - Parameter isForced: whether the file replaces the catalogue also if it looks like a mistake.
  /// - Parameter isDryRun: whether the catalogue stays as it is.
  /// - Parameter progress: receives the progress from 0 to 1 (nil if it is unknown), and words.
  /// - Parameter badRow: receives a line for each bad row.
  /// - Returns: what was imported; after a dry run also what it shows.
  /// - Throws: `DataDirectoryError` for a directory that is no data directory, or whose stores were moved;
  ///   `CatalogueError`, after which the old catalogue remains.
  package static func importHotels(
    from file: String, into location: StorageLocation, isStrict: Bool,
    isForced: Bool, isDryRun: Bool,
    progress: @escaping @Sendable (Double?, String) -> Void,
    badRow: @escaping @Sendable (String) -> Void
  ) async throws -> String {
    let data: String
    var isScratch = location.database != nil
    if location.database != nil {
      data = try ScratchDirectory.make()
      try await prepareScratch(data, from: location)
    } else if isDryRun, (try? FileEngine.requireDirectory(location.data)) == nil {
      // There is nothing to compare with, and nothing is made.
      (data, isScratch) = (try ScratchDirectory.make(), true)
    } else {
      data = location.data
      try FileEngine.prepareDirectory(data)
      try FileEngine.requireNoMoveMark(data)
    }
    defer { if isScratch { ScratchDirectory.remove(data) } }
    let path = file == "-" ? "/dev/stdin" : file
    var status = stat()
    let size = stat(path, &status) == 0 ? Int(status.st_size) : nil
    let summary = try await ThreadPool.with(name: "import") { threads in
      try await CatalogueImport(
        into: data, on: threads, name: path.split(separator: "/").last.map(String.init) ?? path,
        at: SystemClock.now(), onBadRow: isStrict ? .refuse : .skip,
        isForced: isForced, isDryRun: isDryRun
      ) { event in
        switch event {
        case .progress(let state):
          let fraction = size.flatMap { $0 > 0 ? min(0.99, Double(state.bytes) / Double($0)) : nil }
          progress(fraction, "\(state.rows) hotels")
        // A dry run tells each kind of fault once.
        case .badRow where isDryRun: break
        case .badRow(let row): badRow("line \(row.line): \(row.reason)")
        }
      }.run(reading: UnpackedPieces(FilePieces(path: path, on: threads)))
    }
    if isDryRun {
      progress(1, "\(summary.progress.rows) hotels")
      return (summary.found.lines + ["dry run, nothing was replaced: " + summary.counts])
        .joined(separator: "\n")
    }
    // A move that ended meanwhile may have taken the former catalogue.
    if location.database == nil { try FileEngine.requireNoMoveMark(data) }
    if location.database != nil {
      try await StorageAssembly.with(location) { storage, _ in
        try await storage.sharedCatalogue(in: data)?.publishImport()
      }
    }
    progress(1, "\(summary.progress.rows) hotels")
    return "imported " + summary.counts
      + (summary.hasFormer ? "; `catalogue undo` brings the former catalogue back" : "")
  }

  /// Puts the database's catalogue into a directory, or the program's own if the database has none: what an import there
  /// replaces.
  private static func prepareScratch(_ data: String, from location: StorageLocation) async throws {
    try await StorageAssembly.with(location) { storage, _ in
      let shared = storage.sharedCatalogue(in: data)
      guard try await shared?.catchUp().version == nil else { return }
      let catalogue = HotelCatalogue(directory: data)
      _ = try await closing(catalogue.stop) { try await catalogue.prepare(at: SystemClock.now()) }
    }
  }

  /// Brings back the catalogue that the last import replaced.
  /// - Returns: one line that says what is back.
  /// - Throws: `DataDirectoryError` as for an import; `CatalogueError`, after which the catalogue is unchanged.
  package static func undo(in location: StorageLocation) async throws -> String {
    guard location.database == nil else {
      let scratch = try ScratchDirectory.make()
      defer { ScratchDirectory.remove(scratch) }
      return try await StorageAssembly.with(location) { storage, _ in
        guard let shared = storage.sharedCatalogue(in: scratch) else {
          throw StoredCatalogue.noFormer
        }
        return isBack(try await shared.undo())
      }
    }
    try FileEngine.requireDirectory(location.data)
    try FileEngine.requireNoMoveMark(location.data)
    return try await undo(inDirectory: location.data)
  }

  /// Brings back the former catalogue of a data directory.
  static func undo(inDirectory data: String) async throws -> String {
    let origin = try await ThreadPool.with(name: "import") { threads in
      try await StoredCatalogue(in: data, on: threads).undo()
    }
    return isBack(origin)
  }

  /// The line about a catalogue that was brought back.
  static func isBack(_ origin: CatalogueOrigin) -> String {
    "the former catalogue is back: \(origin.rows) hotels"
  }
}

/// A directory for the time of one command.
enum ScratchDirectory {
  /// Makes a directory that only its owner can use.
  /// - Throws: ``SettingsError``.
  static func make() throws(SettingsError) -> String {
    let parent = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array((parent + "/hotel-bookmarks.XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else {
      throw SettingsError("no directory can be made in \(parent); set TMPDIR")
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}
