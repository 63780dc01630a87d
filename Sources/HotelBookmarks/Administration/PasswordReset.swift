import Accounts
import SQLiteEngine

/// Gives the administrator another password from the command line, while no server uses the data directory.
package enum PasswordReset {
  /// Draws a password, whose hash alone is kept.
  /// - Returns: the password, to be shown once.
  /// - Throws: `DataDirectoryError` while a server runs or where there is no data directory; `AccountError` when the file can't be written.
  package static func run(data: String) async throws -> String {
    try FileEngine.requireDirectory(data)
    let engine = try await FileEngine.open(directory: data)
    let result = Result { () throws(AccountError) in
      try AdministratorFile(DataFiles.administrator(in: data)).reset()
    }
    await engine.close()
    return try result.get().exposed
  }
}
