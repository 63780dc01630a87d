import Accounts
import Catalogue
import Logging
import SQLiteEngine
import Stores

/// The failure of a command as text for the person who started it.
package enum StartFailure {
  /// Whether the person has to change the configuration first: exit status 78 of sysexits.h.
  package static func isConfiguration(_ error: any Error) -> Bool {
    switch error {
    case is DataDirectoryError, is SettingsError: true
    case let error as ServiceError: error.code == .keys
    case let error as BackupError: error.code == .otherFormat
    default: false
    }
  }

  /// The exit status, of sysexits.h: 78 for settings and data directories, 65 for a file that can't be imported,
  /// otherwise 1.
  package static func status(of error: any Error) -> Int32 {
    if isConfiguration(error) { return 78 }
    return (error as? CatalogueError)?.code.isOfTheFile == true ? 65 : 1
  }

  /// The failure as one line.
  package static func line(_ error: any Error) -> String {
    text(of: error).split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  private static func text(of error: any Error) -> String {
    switch error {
    case let error as DataDirectoryError: error.reason
    case let error as SettingsError: error.description
    case let error as ServiceError: join(error.reason, error.detail)
    case let error as CatalogueError:
      (error.line.map { "line \($0): " } ?? "") + join(error.reason, error.detail)
    case let error as BackupError: error.reason
    case let error as ListenFailure: error.description
    default: "\(error)"
    }
  }

  private static func join(_ reason: String, _ detail: String) -> String {
    detail.isEmpty ? reason : reason + " (" + detail + ")"
  }
}

extension Logger {
  /// Logs that something failed, and why.
  func error(_ message: Message, _ failure: any Error) {
    error(message, metadata: ["detail": "\(StartFailure.line(failure))"])
  }

  /// Logs that something failed that will be tried again, and why.
  func warning(_ message: Message, _ failure: any Error) {
    warning(message, metadata: ["detail": "\(StartFailure.line(failure))"])
  }
}

extension SettingsError {
  /// The accounts' store is damaged, without which no one can be told apart: the server does not start. No other damage of
  /// stores stops a start.
  init(ofAccounts error: ServiceError, in location: StorageLocation) {
    let isFile = location.database == nil
    let place = isFile ? "--data \(location.data)" : "--database URL"
    let file = isFile ? " (\(FileEngine.file(of: .system, in: location.data)))" : ""
    self.init(
      "The accounts are damaged\(file): \(error.message). "
        + "Run hotel-bookmarks repair \(place); what it can't repair comes back with a whole backup: "
        + "hotel-bookmarks restore BACKUP \(isFile ? "--data NEW-DIRECTORY" : "--database NEW-URL")"
    )
  }
}
