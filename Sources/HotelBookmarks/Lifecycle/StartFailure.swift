import Accounts
import Catalogue
import NIOCore
import SQLiteEngine

/// What keeps a command from its work, in words for the person who started it.
package enum StartFailure {
  /// Whether the person has to change something first: exit status 78 of sysexits.h.
  package static func isConfiguration(_ error: any Error) -> Bool {
    switch error {
    case is CertificateFailure, is DataDirectoryError, is SettingsError: true
    case let error as AccountError: error.code == .keys
    case let error as BackupError: error.code == .newerFormat
    default: false
    }
  }

  /// One line.
  package static func line(_ error: any Error) -> String {
    words(error).split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  private static func words(_ error: any Error) -> String {
    switch error {
    case let error as DataDirectoryError: error.reason
    case let error as SettingsError: error.description
    case let error as AccountError: join(error.reason, error.code == .keys ? error.detail : "")
    case let error as CatalogueError:
      (error.line.map { "line \($0): " } ?? "") + join(error.reason, error.detail)
    case let error as CertificateFailure: error.description
    case let error as BackupError: error.reason
    case let error as IOError: "The address can't be listened at: \(error)"
    default: "\(error)"
    }
  }

  private static func join(_ reason: String, _ detail: String) -> String {
    detail.isEmpty ? reason : reason + " (" + detail + ")"
  }
}
