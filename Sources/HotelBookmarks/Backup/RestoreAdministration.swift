import Accounts
import FoundationEssentials
import PostgresEngine
import SQLiteEngine
import Scheduling
import Stores

/// Restores backups from the command line.
package enum RestoreAdministration {
  /// Makes a data directory from a backup, or fills a database from it.
  /// - Parameter location: a new data directory, absent or empty; or a database that is empty and that no server uses.
  /// - Parameter erasures: logs of erasures that are newer than the backup: paths of logs, of data directories or backups
  ///   that have one, and URLs of databases. Servers may use these databases.
  /// - Returns: lines about what was restored, and whether a part of the backup was damaged.
  /// - Throws: ``BackupError``, ``SettingsError``, `DataDirectoryError`, the database's errors. A new
  ///   directory is then left empty.
  package static func restore(
    _ backup: String, to location: StorageLocation, erasures: [String],
    _ report: BackupAdministration.Report
  ) async throws -> (lines: [String], isDamaged: Bool) {
    let newer = try await Erasures(erasures, passwordFile: location.databasePasswordFile, report)
    if let address = try location.databaseAddress() {
      return try await restore(
        BackupAdministration.absolute(backup), into: .database(address), newer, report)
    }
    return try await restore(backup, to: location.data, newer, report)
  }

  /// Restores into a directory beside the backup, `NAME.restored`, moves its stores into a database, and removes it.
  ///
  /// After an interruption, the same call goes on with the directory, and says so. It is kept when something in it is
  /// damaged, because `repair` works on directories only.
  private static func restore(
    _ backup: String, into database: MoveEndpoint, _ erasures: Erasures,
    _ report: BackupAdministration.Report
  ) async throws -> (lines: [String], isDamaged: Bool) {
    let path = backup + ".restored"
    var lines: [String] = []
    let state = try Restoration.state(of: path)
    if state == .unfinished { try remove(path) }
    if state != .finished {
      try await MoveAdministration.requireFree(database)
      let restored = try await restore(backup, to: path, erasures, report)
      lines = restored.lines
      guard !restored.isDamaged else { return (lines + [advice(path, database)], true) }
    }
    if state == .finished {
      guard try await !hasMoved(path, to: database) else {
        try remove(path)
        return (["the stores are in \(database.description) already"], false)
      }
      lines = ["goes on with \(path), which was restored before; remove it to begin again"]
    }
    let moved = try await MoveAdministration.move(
      try MoveEndpoint(path, password: nil), database, report)
    guard !moved.isDamaged else { return (lines + moved.lines + [advice(path, database)], true) }
    try remove(path)
    return (lines + moved.lines, false)
  }

  /// Whether an earlier call was interrupted after its last step but this directory's removal.
  private static func hasMoved(_ path: String, to database: MoveEndpoint) async throws -> Bool {
    let mark = path + "/" + MoveMark.Kind.moved.rawValue
    guard FileManager.default.fileExists(atPath: mark) else { return false }
    return try await MoveEndpoint.with(database) { try await $0.moveMark() } == nil
  }

  /// Removes the directory. A part of it that an interruption leaves has another name.
  private static func remove(_ path: String) throws(BackupError) {
    let (files, removed) = (FileManager.default, path + ".removed")
    do {
      if files.fileExists(atPath: removed) { try files.removeItem(atPath: removed) }
      try files.moveItem(atPath: path, toPath: removed)
      try files.removeItem(atPath: removed)
    } catch { throw BackupError(.unreachable, "The directory \(path) can't be removed") }
  }

  private static func advice(_ path: String, _ database: MoveEndpoint) -> String {
    "the restored stores are in \(path): run hotel-bookmarks repair --data \(path), "
      + "then move --from \(path) --to \(database.description)"
  }

  /// Makes a data directory, absent or empty before.
  private static func restore(
    _ backup: String, to data: String, _ erasures: Erasures, _ report: BackupAdministration.Report
  ) async throws -> (lines: [String], isDamaged: Bool) {
    try await ThreadPool.with(name: "restore") { threads in
      let restoration = try await Restoration.begin(
        from: backup, into: data, on: threads, report.reporter)
      do { return try await run(restoration, erasures, report) } catch {
        await restoration.abandon()
        throw error
      }
    }
  }

  private static func run(
    _ restoration: Restoration, _ erasures: Erasures, _ report: BackupAdministration.Report
  ) async throws -> (lines: [String], isDamaged: Bool) {
    let summary = try await restoration.copy()
    try await restoration.synchronize()
    let erased = try await restoration.takeErasures(from: erasures.paths, and: erasures.names)
      .compactMap { StoreName(key: $0) }
    var count = 0
    if !erased.isEmpty {
      count = try await UserAdministration(StorageLocation(data: restoration.draft)).run {
        try await $0.eraseAgain(erased)
      }
    }
    try await restoration.finish()
    report.progress(1, "")
    var lines = [
      "restored \(summary.stores) stores, \(summary.bytes) bytes, as of \(summary.made)",
      "erased again: \(count) stores of \(erased.count) in the logs of erasures",
    ]
    if summary.missing > 0 {
      lines.append(
        "\(summary.missing) stores could not be restored; they answer that they are damaged")
    }
    if erasures.isEmpty {
      lines.append(
        "no log of erasures was given: accounts that were erased after the backup exist again")
    }
    return (lines, summary.findings > 0)
  }

  /// Logs of erasures that are newer than a backup.
  private struct Erasures: Sendable {
    /// Paths of logs, or of directories that have one.
    var paths: [String] = []
    /// The stores in the logs of databases.
    var names: [StoreName] = []
    /// Whether no log was given.
    let isEmpty: Bool

    /// Reads the logs of databases. Reports what can't be read of them.
    /// - Parameter places: paths and URLs.
    /// - Throws: ``SettingsError``, the database's errors.
    init(
      _ places: [String], passwordFile: String?, _ report: BackupAdministration.Report
    ) async throws {
      isEmpty = places.isEmpty
      let password = try StorageLocation.password(in: passwordFile)
      for place in places {
        guard MoveEndpoint.isURL(place) else {
          paths.append(place)
          continue
        }
        let database = try MoveEndpoint(place, password: password)
        names += try await MoveEndpoint.with(database, whileUsed: true) { database in
          // Whoever an unreadable entry is about exists again.
          for line in try await database.registryDamage() { report.finding(line) }
          var names: [StoreName] = []
          try await database.visitErasures { names += $0 }
          return names
        }
      }
    }
  }
}
