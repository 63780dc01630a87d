import Glibc
import SQLite
import Stores

extension ServiceError {
  /// The service error for a failed call of SQLite.
  ///
  /// "Can't open" never becomes `absent`, because SQLite also reports it when the process has no file descriptors left
  /// (<https://sqlite.org/rescode.html#cantopen>).
  init(_ error: SQLiteError) {
    let detail = error.debugDescription
    self =
      switch error.code {
      case _ where error.isDamage: .damaged(detail)
      case _ where error.isFailedSync: .storage(detail)
      case _ where error.isStorageFull: .full(detail)
      case .readOnly: .readOnly(detail)
      case .cantOpen, .busy, .locked: .notOpen(detail)
      // Only an index that does not match its table can violate a constraint.
      case .constraint: .damaged(detail)
      // The SQL is constant. If SQLite rejects it, the file's tables are not those of this version.
      case .other where error.extendedCode & 0xFF == 1: .damaged(detail)
      default: .storage(detail)
      }
  }

  private static func notOpen(_ detail: String) -> ServiceError {
    ServiceError(.unavailable, "The database can't be opened at present", detail: detail)
  }

  /// The service error for a failed system call. It is never `absent`.
  init(_ error: SystemError) {
    let detail = error.debugDescription
    self =
      switch error.number {
      case ENOSPC, EDQUOT, EFBIG: .full(detail)
      case EROFS: .readOnly(detail)
      case EIO: .storage(detail)
      default: .notOpen(detail)
      }
  }
}

extension SQLiteError {
  /// Whether an fsync failed. Whatever the reason is, even a full disk, it is then unknown what is on the disk
  /// (`SQLITE_IOERR_FSYNC` and `SQLITE_IOERR_DIR_FSYNC`, <https://sqlite.org/rescode.html>).
  fileprivate var isFailedSync: Bool { extendedCode == 1_034 || extendedCode == 1_290 }
}

extension ServiceError {
  /// Translates errors of SQLite and of the system into service errors. Other errors, which a rule or a query threw,
  /// stay unchanged.
  static func translated(_ error: any Error) -> any Error {
    switch error {
    case let error as SQLiteError: ServiceError(error)
    case let error as SystemError: ServiceError(error)
    default: error
    }
  }

  /// The service error for an error of the engine's own work.
  init(engine error: any Error) {
    let error = Self.translated(error)
    self = ServiceError(error) ?? .storage(String(reflecting: error))
  }
}

/// Runs `work` and translates its errors into those that the port's callers know.
func translating<Value>(_ work: () throws -> Value) throws -> Value {
  do { return try work() } catch { throw ServiceError.translated(error) }
}

/// Runs `work` and translates its errors into those that the port's callers know.
nonisolated(nonsending) func translating<Value>(
  _ work: () async throws -> Value
) async throws -> Value {
  do { return try await work() } catch { throw ServiceError.translated(error) }
}
