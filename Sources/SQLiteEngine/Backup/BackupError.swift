import Stores

/// Why a backup can't be made, or one that was made can't be used.
package struct BackupError: Error, Sendable, CustomDebugStringConvertible {
  /// What is wrong; closed, so that the command line can pick its exit code.
  package enum Code: String, Sendable, CaseIterable {
    /// There is something under the name already.
    case occupied
    /// The place can't be read or written: absent, forbidden, full.
    case unreachable
    /// No backup, or not what was written.
    case damaged
    /// A newer version of this service made it.
    case newerFormat
    /// Another backup is being made.
    case busy
    /// The service could not answer.
    case failed
  }

  /// What is wrong.
  package let code: Code
  /// One line for the operator.
  package let reason: String
  /// Paths and result codes.
  package let detail: String

  /// An error with its words.
  package init(_ code: Code, _ reason: String, detail: String = "") {
    self.code = code
    self.reason = reason
    self.detail = detail
  }

  package var debugDescription: String { "BackupError(\(code.rawValue): \(reason) \(detail))" }

  /// A system call that failed on a file of the backup.
  init(_ error: SystemError) {
    self.init(.unreachable, "The backup can't be read or written: \(error.debugDescription)")
  }

  /// A store's error that is the backup's: its disk is full, say.
  init(_ error: ServiceError) {
    self.init(.unreachable, "The backup can't be read or written: \(error.words)")
  }
}

/// Runs calls of the system or the engine where a backup's errors are expected.
@discardableResult
func backing<Value>(_ body: () throws -> Value) throws(BackupError) -> Value {
  do { return try body() } catch {
    if let error = error as? SystemError { throw BackupError(error) }
    throw BackupError(ServiceError(engine: error))
  }
}
