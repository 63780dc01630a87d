import HTTPAPI
import PostgresEngine
import SQLiteEngine
import Scheduling

/// Verifies directories for the command line.
package enum Verification {
  /// The worst result of all directories.
  package enum Outcome: Int, Sendable {
    case sound
    /// There is damage.
    case damaged
    /// A directory could not be verified.
    case impossible
  }

  /// Verifies the directories one after the other; a directory in use through its server.
  /// - Parameter progress: receives the progress from 0 to 1, and words.
  /// - Parameter print: receives a line for each damage, and one at the end of each directory.
  package static func run(
    _ directories: [String], progress: @escaping @Sendable (Double?, String) -> Void,
    print: @escaping @Sendable (String) -> Void
  ) async throws -> Outcome {
    let scrub = try DirectoryScrub()
    return await ThreadPool.with(name: "verify") { threads in
      var outcome = Outcome.sound
      for directory in directories {
        let report = BackupAdministration.Report(progress: progress) {
          print("\(directory): \($0)")
        }
        let (found, message) = await one(directory, scrub, on: threads, report)
        if found != .impossible { progress(1, "") }
        print("\(directory): \(message)")
        if found.rawValue > outcome.rawValue { outcome = found }
      }
      return outcome
    }
  }

  /// Verifies a database. Servers may use it meanwhile.
  /// - Parameter print: receives a line for each damaged store, and one at the end.
  /// - Throws: ``SettingsError``, the database's errors.
  package static func run(
    database location: StorageLocation, progress: @escaping @Sendable (Double?, String) -> Void,
    print: @escaping @Sendable (String) -> Void
  ) async throws -> Outcome {
    guard let address = try location.databaseAddress() else { return .impossible }
    let source = address.description
    let report = BackupAdministration.Report(progress: progress) { print("\(source): \($0)") }
    let counts = try await DatabaseBackups.verify(address, report)
    progress(1, "")
    print("\(source): \(message(for: counts))")
    return counts.findings == 0 ? .sound : .damaged
  }

  private static func one(
    _ directory: String, _ scrub: DirectoryScrub, on threads: ThreadPool,
    _ report: BackupAdministration.Report
  ) async -> (Outcome, message: String) {
    do throws(DataDirectoryError) {
      let counts = try await threads.run { () throws(DataDirectoryError) in
        var counts = try scrub.run(directory, report.reporter)
        for finding in DataFiles.findings(in: directory) {
          counts.findings += 1
          report.reporter.finding(finding)
        }
        return counts
      }
      return (counts.findings == 0 ? .sound : .damaged, message(for: counts))
    } catch {
      guard error.code == .inUse else { return (.impossible, StartFailure.line(error)) }
      let failure: any Error
      do {
        let answer = try await ControlClient.perform(.verification, in: directory, report)
        if let answer { return (answer.isDamaged ? .damaged : .sound, answer.message) }
        failure = error
      } catch let error { failure = error }
      return (.impossible, StartFailure.line(failure))
    }
  }

  /// The counts as text.
  static func message(for counts: ScrubCounts) -> String {
    (counts.findings == 0 ? "sound" : "\(counts.findings) damages")
      + ": \(counts.stores) stores, \(counts.documents) documents, \(counts.bodies) bodies, "
      + "\(counts.bytes) bytes"
  }
}
