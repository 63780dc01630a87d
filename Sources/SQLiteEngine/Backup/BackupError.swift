import Stores

/// Why a backup can't be made, or one that was made can't be used.
package struct BackupError: Error, Sendable, CustomDebugStringConvertible {
  /// The kind of error. The command line chooses its exit code by it.
  package enum Code: String, Sendable, CaseIterable {
    /// Something already exists at the path, or the path is in the data directory.
    case occupied
    /// The path can't be read or written: it is absent, access is denied, or the disk is full.
    case unreachable
    /// The files are no backup, or differ from what was written.
    case damaged
    /// Another version of this service made it.
    case otherFormat
    /// The service could not answer.
    case failed
  }

  /// The kind of error.
  package let code: Code
  /// One line for the operator.
  package let reason: String
  /// Paths and result codes.
  package let detail: String

  /// Creates an error.
  package init(_ code: Code, _ reason: String, detail: String = "") {
    self.code = code
    self.reason = reason
    self.detail = detail
  }

  package var debugDescription: String { "BackupError(\(code.rawValue): \(reason) \(detail))" }

  /// Creates the error of a system call that failed on a file of the backup.
  init(_ error: SystemError) {
    self.init(.unreachable, "The backup can't be read or written: \(error.debugDescription)")
  }

  /// Creates the error of a failed storage call on a file of the backup, for example because its disk is full.
  init(_ error: ServiceError) {
    self.init(.unreachable, "The backup can't be read or written: \(error.message)")
  }
}

/// Runs calls of the system or the engine, and turns their errors into errors of a backup.
@discardableResult
func backing<Value>(_ body: () throws -> Value) throws(BackupError) -> Value {
  do { return try body() } catch {
    if let error = error as? SystemError { throw BackupError(error) }
    throw BackupError(ServiceError(engine: error))
  }
}
