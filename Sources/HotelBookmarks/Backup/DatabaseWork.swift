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
    case .backup(nil):
      return try await requireKept().add {
        try await DatabaseBackups.backUp(address, to: $0, report)
      }
    case .backup(let path?): return try await DatabaseBackups.backUp(address, to: path, report)
    case .verification: return .init(try await DatabaseBackups.verify(address, report))
    case .backupVerification(let name): return try await requireKept().verify(name, report.reporter)
    case .repair: return .init(try await DatabaseBackups.repair(location, report))
    case .replacement: throw Self.oneStore
    }
  }

  static let oneStore = BackupError(
    .failed, "The stores are in a database: one store can't be replaced there")
}
