/// The reason why the service can't use its data directory and therefore does not start.
package struct DataDirectoryError: Error, Sendable, CustomDebugStringConvertible {
  /// The kind of error. The process chooses its exit code by it.
  package enum Code: String, Sendable, CaseIterable {
    /// The directory does not exist and can't be created, or can't be read.
    case unreachable
    /// The path is not a directory.
    case notADirectory
    /// The directory contains no data of this service, or is a backup.
    case noData
    /// The directory has stores, and the stores of this server are elsewhere.
    case hasStores
    /// The directory belongs to another user.
    case wrongOwner
    /// The directory is on a network file system, where locks and logs are not reliable
    /// (<https://sqlite.org/wal.html>).
    case networkFileSystem
    /// Another process uses the directory.
    case inUse
    /// The registry of the stores is missing, damaged or written by another version.
    case registry
    /// The directory was written by another version of this service.
    case otherFormat
    /// A restoration into the directory was interrupted.
    case unfinishedRestore
    /// The stores were moved elsewhere.
    case moved
    /// A move into the directory was interrupted.
    case unfinishedMove
    /// The directory has content, and only an empty one can be filled.
    case occupied
  }

  /// The kind of error.
  package let code: Code
  /// One line for the operator that says what to do.
  package let reason: String
  /// Paths and result codes.
  package let detail: String

  /// Creates an error.
  init(_ code: Code, _ reason: String, detail: String = "") {
    self.code = code
    self.reason = reason
    self.detail = detail
  }

  package var debugDescription: String {
    "DataDirectoryError(\(code.rawValue): \(reason) \(detail))"
  }
}
