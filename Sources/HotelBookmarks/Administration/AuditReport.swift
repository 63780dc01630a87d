import Accounts
import Documents
import HTTPAPI
import NIOHTTP1

/// Reads the audit log for the command line: through the server that uses the data directory, or directly.
package enum AuditReport {
  /// - Parameter since: a time of RFC 3339 before which entries are left out; nil for all.
  /// - Parameter take: receives each entry, an object in JSON, the oldest first.
  /// - Throws: ``SettingsError`` for a text that is no time; `DataDirectoryError`, `ServiceError`, ``BackupError``.
  package static func run(
    _ location: StorageLocation, since: String?, _ take: (String) -> Void
  ) async throws {
    let time = since.flatMap(Timestamp.init(rfc3339:))
    guard (time == nil) == (since == nil) else {
      throw SettingsError("--since must be a time, as 2026-11-28T00:00:00Z")
    }
    let accounts = UserAdministration(location)
    if location.database == nil, try await askServer(location.data, time, take) { return }
    try await accounts.run { accounts in
      var after: String?
      repeat {
        let page = try await accounts.audit(since: time, newest: false, after: after)
        for line in page.lines { take(String(decoding: line, as: UTF8.self)) }
        after = page.next
      } while after != nil
    }
  }

  /// - Returns: false if no server uses the directory.
  private static func askServer(
    _ directory: String, _ time: Timestamp?, _ take: (String) -> Void
  ) async throws -> Bool {
    var after: String?
    repeat {
      var query: [String] = []
      if let time { query.append("since=" + time.rfc3339.urlSegment) }
      if let after { query.append("after=" + after.urlSegment) }
      let path = "/v1/admin/audit?" + query.joined(separator: "&")
      guard
        let page = try await ControlClient.call(.GET, path, in: directory)
      else { return false }
      if let entries = page["entries"]?.elements {
        for entry in entries { take(String(decoding: entry.minified, as: UTF8.self)) }
      }
      after = page["next"]?.string
    } while after != nil
    return true
  }
}
