import SQLite
import Stores

/// The tables of one kind of file, as numbered steps: step `n` takes a file from version `n - 1` to `n`.
///
/// A new file takes every step, an older one those that it lacks, so that both end up alike.
struct Schema: Sendable {
  /// What the file's header says it is (<https://sqlite.org/pragma.html#pragma_application_id>).
  let applicationID: Int32
  /// The steps, each a script of constant SQL.
  let steps: [StaticString]

  /// The version that the steps lead to, kept in the file as `user_version`.
  var version: Int32 { Int32(truncatingIfNeeded: steps.count) }

  /// Makes the tables in an empty database.
  func create(in connection: Connection) throws(SQLiteError) {
    try connection.setApplicationID(applicationID)
    try take(from: 0, in: connection)
  }

  /// Checks that a file is of this kind and of a version that is known.
  /// - Returns: its version.
  /// - Throws: `damaged` for a file of another kind, `unavailable` for one that a newer version of this
  ///   service wrote: what it holds could not be kept.
  @discardableResult
  func requireKnown(_ connection: Connection) throws(StoreError) -> Int32 {
    let (kind, found) = try storing { () throws(SQLiteError) in
      (try connection.applicationID(), try connection.userVersion())
    }
    guard kind == applicationID, found > 0 else {
      throw .damaged("not a file of this kind: application id \(kind), version \(found)")
    }
    guard found <= version else {
      throw StoreError(
        .unavailable, "The database was written by a newer version of this service",
        detail: "schema \(found), this version knows \(version)")
    }
    return found
  }

  /// Brings a file to this version, in one transaction.
  /// - Throws: as ``requireKnown(_:)`` does, and what writing throws.
  func migrate(_ connection: Connection) throws(StoreError) {
    let found = try requireKnown(connection)
    guard found < version else { return }
    try storing { () throws(SQLiteError) in
      try connection.begin()
      do throws(SQLiteError) {
        try take(from: found, in: connection)
        try connection.commit()
      } catch {
        try connection.rollback()
        throw error
      }
    }
  }

  private func take(from found: Int32, in connection: Connection) throws(SQLiteError) {
    for step in steps.dropFirst(Int(found)) { try connection.execute(step) }
    try connection.setUserVersion(version)
  }

  /// The definitions of all tables and indexes, by name.
  static func definitions(in connection: Connection) throws(SQLiteError) -> [String] {
    try connection.statement("SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY name").all
    {
      row throws(SQLiteError) in
      try row.string(0) + ": " + row.string(1)
    }
  }
}
