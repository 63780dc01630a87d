import Lanes
import SQLite
import SQLiteEngine

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
