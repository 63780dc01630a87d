/// Why the service can't use its data directory: a reason not to start.
package struct DataDirectoryError: Error, Sendable, CustomDebugStringConvertible {
  /// What is wrong; closed, so that the composition root can pick its exit code.
  package enum Code: String, Sendable, CaseIterable {
    /// The directory is not there and can't be made, or can't be read.
    case unreachable
    /// Something else has that name.
    case notADirectory
    /// The directory holds no data of this service.
    case noData
    /// The directory belongs to another user.
    case wrongOwner
    /// The directory is on a file system of another machine, where locks and logs can't be relied on
    /// (<https://sqlite.org/wal.html>).
    case networkFileSystem
    /// Another process uses the directory.
    case inUse
    /// The registry of the stores is missing, damaged or written by a newer version.
    case registry
    /// The directory was written by a newer version of this service.
    case newerFormat
    /// A restoration into the directory was cut short.
    case unfinishedRestore
  }

  /// What is wrong.
  package let code: Code
  /// One line for the operator that says what to do.
  package let reason: String
  /// Paths and result codes.
  package let detail: String

  /// An error with its words.
  init(_ code: Code, _ reason: String, detail: String = "") {
    self.code = code
    self.reason = reason
    self.detail = detail
  }

  package var debugDescription: String {
    "DataDirectoryError(\(code.rawValue): \(reason) \(detail))"
  }
}
