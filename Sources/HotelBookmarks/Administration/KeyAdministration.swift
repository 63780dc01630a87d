import Accounts
import Documents
import SQLiteEngine

/// Looks after the keys that tokens are signed with.
package enum KeyAdministration {
  /// Makes a new key the signing one; tokens of the earlier ones work until they expire.
  /// - Throws: `DataDirectoryError` where there is no data directory; `AccountError` when the key file can't be read or
  ///   written.
  package static func rotate(data: String) async throws {
    try FileEngine.requireDirectory(data)
    let now = SystemClock.now()
    try await SigningKeys.open(DataFiles.keys(in: data), now: now).rotate(now: now)
  }
}
