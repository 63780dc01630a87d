import HTTPAPI
import PostgresEngine
import SQLiteEngine
import Stores

/// The administrator's work on stores in a database, by a server that uses it. Other servers may use it, too.
struct DatabaseWork: Sendable {
  let location: StorageLocation
  /// The directory of backups; nil without the setting for it.
  let kept: KeptBackups?

  /// The directory of backups.
  /// - Throws: `configuration` without one.
  func requireKept() throws -> KeptBackups {
    guard let kept else {
      throw ServiceError(
        .configuration,
        "The stores are in a database: set --backups to a directory for them, or use backup --database"
      )
    }
    return kept
  }

  /// Does work, as ``StoreBackups/perform(_:_:)`` does on files.
  /// - Throws: ``BackupError``, ``SettingsError``, the database's errors, `CancellationError`.
  func perform(
    _ work: StoreWork, _ report: BackupAdministration.Report
  ) async throws -> AdministrationJobs.Outcome {
    guard let address = try location.databaseAddress() else { throw Self.oneStore }
    switch work {
    case .backup(let path):
      let outcome = try await backUp(address, to: path, report)
      return .init(outcome.message, isDamaged: outcome.isDamaged)
    case .verification:
      let counts = try await DatabaseBackups.verify(address, report)
      return .init(Verification.message(for: counts), isDamaged: counts.findings > 0)
    case .backupVerification(let name):
      return try await requireKept().verify(name, report.reporter)
    case .repair:
      let outcome = try await DatabaseBackups.repair(location, report)
      return .init(outcome.message, isDamaged: outcome.isDamaged)
    case .replacement: throw Self.oneStore
    }
  }

  private func backUp(
    _ address: DatabaseAddress, to path: String?, _ report: BackupAdministration.Report
  ) async throws -> (message: String, isDamaged: Bool) {
    if let path { return try await DatabaseBackups.backUp(address, to: path, report) }
    let kept = try requireKept()
    try await kept.make()
    let own = kept.path(at: SystemClock.now())
    let outcome = try await DatabaseBackups.backUp(address, to: own, report)
    return ("\(own.dropFirst(kept.directory.count + 1)): \(outcome.message)", outcome.isDamaged)
  }

  static let oneStore = BackupError(
    .failed, "The stores are in a database: one store can't be replaced there")
}
