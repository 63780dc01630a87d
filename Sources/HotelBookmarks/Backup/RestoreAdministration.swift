import Accounts
import Lanes
import SQLite
import SQLiteEngine
import Stores

/// Restores backups from the command line.
package enum RestoreAdministration {
  /// Makes a data directory of a backup.
  /// - Parameter data: the new directory, absent or empty.
  /// - Parameter erasures: logs of erasures that are newer than the backup, or directories that have one.
  /// - Returns: lines that say what was restored, and whether anything of the backup was damaged.
  /// - Throws: ``BackupError``, `DataDirectoryError`; nothing is left in the directory then.
  package static func restore(
    _ backup: String, to data: String, erasures: [String], _ report: BackupAdministration.Report
  ) async throws -> (lines: [String], isDamaged: Bool) {
    let lane = Lane(name: "restore")
    let result: Result<(lines: [String], isDamaged: Bool), any Error>
    do {
      let restoration = try await Restoration.begin(
        from: backup, into: data, on: lane, report.reporter)
      do {
        result = .success(try await run(restoration, erasures, report))
      } catch {
        await restoration.abandon()
        throw error
      }
    } catch { result = .failure(error) }
    await lane.stop()
    return try result.get()
  }

  private static func run(
    _ restoration: Restoration, _ erasures: [String], _ report: BackupAdministration.Report
  ) async throws -> (lines: [String], isDamaged: Bool) {
    let summary = try await restoration.copy()
    try await restoration.synchronize()
    let erased = try await restoration.takeErasures(from: erasures).compactMap {
      StoreName(key: $0)
    }
    var count = 0
    if !erased.isEmpty {
      count = try await UserAdministration(data: restoration.draft).run {
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
        "no log of erasures was given: whoever was erased after the backup was made is back")
    }
    return (lines, summary.findings > 0)
  }
}
