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

/// Looks through directories for the command line.
package enum Verification {
  /// How it went, the worst of all directories.
  package enum Outcome: Int, Sendable {
    case sound
    /// There is damage.
    case damaged
    /// A directory could not be looked through.
    case impossible
  }

  /// Looks through each directory, one after the other; those that a server uses, through that server.
  /// - Parameter progress: takes how far it is, from 0 to 1, and words.
  /// - Parameter print: takes lines: one for each damage, one at the end for each directory.
  package static func run(
    _ directories: [String], progress: @escaping @Sendable (Double?, String) -> Void,
    print: @escaping @Sendable (String) -> Void
  ) async throws -> Outcome {
    let lane = Lane(name: "verify")
    let scrub = try DirectoryScrub()
    var outcome = Outcome.sound
    for directory in directories {
      let report = BackupAdministration.Report(progress: progress) { print("\(directory): \($0)") }
      let (found, words) = await one(directory, scrub, on: lane, report)
      if found != .impossible { progress(1, "") }
      print("\(directory): \(words)")
      if found.rawValue > outcome.rawValue { outcome = found }
    }
    await lane.stop()
    return outcome
  }

  private static func one(
    _ directory: String, _ scrub: DirectoryScrub, on lane: Lane,
    _ report: BackupAdministration.Report
  ) async -> (Outcome, words: String) {
    do throws(DataDirectoryError) {
      let counts = try await ScrubWork(lane).run(scrub, directory, report.reporter)
      return (counts.findings == 0 ? .sound : .damaged, words(counts))
    } catch {
      guard error.code == .inUse,
        let line = await BackupAdministration.ask(.verify, in: directory, report)
      else { return (.impossible, StartFailure.line(error)) }
      switch line {
      case .result(let words, let isDamaged): return (isDamaged ? .damaged : .sound, words)
      case .failure(let reason): return (.impossible, reason)
      case .progress, .finding, .text: return (.impossible, "The server ended before it was done")
      }
    }
  }

  /// What was looked at, in words.
  static func words(_ counts: ScrubCounts) -> String {
    (counts.findings == 0 ? "sound" : "\(counts.findings) damages")
      + ": \(counts.stores) stores, \(counts.documents) documents, \(counts.bodies) bodies, "
      + "\(counts.bytes) bytes"
  }
}

/// Looks through directories on a lane, as that blocks.
actor ScrubWork {
  private let lane: Lane

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  /// Work for a lane.
  init(_ lane: Lane) { self.lane = lane }

  /// Looks through one directory.
  func run(
    _ scrub: DirectoryScrub, _ directory: String, _ reporter: ScrubReporter
  ) throws(DataDirectoryError) -> ScrubCounts {
    try scrub.run(directory, reporter)
  }
}
