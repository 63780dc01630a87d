import Catalogue
import FoundationEssentials
import Glibc
import SQLiteEngine
import Scheduling

/// Replaces the embedded upstream's hotels from the command line. A running server uses the new ones; with a database,
/// all of its servers do.
package enum CatalogueAdministration {
  /// Imports a JSON array or NDJSON.
  /// - Parameter file: a path, or `-` for standard input.
  /// - Parameter strict: whether one bad row refuses the whole file.
  /// - Parameter replaces: whether the file replaces the catalogue also if it looks like a mistake.
  /// - Parameter progress: receives the progress from 0 to 1 (nil if it is unknown), and words.
  /// - Parameter badRow: receives a line for each bad row.
  /// - Returns: one line that says what was imported.
  /// - Throws: `DataDirectoryError` if there is no data directory, or its stores were moved; `CatalogueError`, after which
  ///   the old catalogue remains.
  package static func importHotels(
    from file: String, into location: StorageLocation, strict: Bool, replaces: Bool,
    progress: @escaping @Sendable (Double?, String) -> Void,
    badRow: @escaping @Sendable (String) -> Void
  ) async throws -> String {
    let data: String
    if location.database == nil {
      data = location.data
      try FileEngine.requireDirectory(data)
      try FileEngine.requireNoMoveMark(data)
    } else {
      data = try ScratchDirectory.make()
      try await prepareScratch(data, from: location)
    }
    defer { if location.database != nil { ScratchDirectory.remove(data) } }
    let path = file == "-" ? "/dev/stdin" : file
    var status = stat()
    let size = stat(path, &status) == 0 ? Int(status.st_size) : nil
    let summary = try await ThreadPool.with(name: "import") { threads in
      try await CatalogueImport(
        into: data, on: threads, name: path.split(separator: "/").last.map(String.init) ?? path,
        at: SystemClock.now(), onBadRow: strict ? .refuse : .skip, isForced: replaces
      ) { event in
        switch event {
        case .progress(let state):
          let fraction = size.flatMap { $0 > 0 ? min(0.99, Double(state.bytes) / Double($0)) : nil }
          progress(fraction, "\(state.rows) hotels")
        case .badRow(let row):
          badRow("line \(row.line): \(row.reason)")
        }
      }.run(file: path)
    }
    // A move that ended meanwhile may have taken the former catalogue.
    if location.database == nil { try FileEngine.requireNoMoveMark(data) }
    if location.database != nil {
      try await StorageAssembly.with(location) { storage, _ in
        try await storage.sharedCatalogue(in: data)?.publishImport()
      }
    }
    progress(1, "\(summary.progress.rows) hotels")
    return "imported \(summary.hotels) hotels; \(summary.progress.badRows) bad rows left out, "
      + "\(summary.progress.replaced) replaced by a later row of the same id; "
      + "`catalogue undo` brings the former catalogue back"
  }

  /// Puts the database's catalogue into a directory, or the program's own if the database has none: what an import there
  /// replaces.
  private static func prepareScratch(
    _ data: String, from location: StorageLocation
  ) async throws {
    try await StorageAssembly.with(location) { storage, _ in
      let shared = storage.sharedCatalogue(in: data)
      guard try await shared?.catchUp().version == nil else { return }
      let catalogue = HotelCatalogue(directory: data)
      let result: Result<Void, any Error>
      do {
        try await catalogue.prepare(at: SystemClock.now())
        result = .success(())
      } catch { result = .failure(error) }
      await catalogue.stop()
      try result.get()
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
      throw SettingsError(description: "no directory can be made in \(parent); set TMPDIR")
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}
