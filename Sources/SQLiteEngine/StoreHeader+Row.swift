import SQLite
import StoreRecords
import Stores

extension StoreHeader {
  /// Reads the row.
  /// - Throws: `damaged` when the row is missing or fails its checksum, or when the last document's sequence number
  ///   differs. It differs when the log belongs to another state of the file.
  init(readingFrom connection: Connection) throws {
    let row = try connection.statement(
      """
      SELECT store, epoch, last_sequence, live, deleted, bytes, checksum,
        (SELECT max(sequence) FROM documents) FROM header WHERE one = 1
      """
    ).first { row in
      (
        header: StoreHeader(
          key: try row.string(0), epoch: try row.string(1), lastSequence: row.int64(2),
          newest: row.int64(2), live: row.int64(3), deleted: row.int64(4), bytes: row.int64(5)),
        checksum: row.int64(6), newest: row.int64(7)
      )
    }
    guard var row else { throw ServiceError.damaged("the header row is missing") }
    if let newest = try Self.newest(in: connection) { row.header.newest = newest }
    let stored = try Self.otherBodyBytes(in: connection)
    row.header.otherBodyBytes = stored ?? 0
    guard row.header.checksum.matches(row.checksum) else {
      throw ServiceError.damaged("the header row fails its checksum")
    }
    guard row.newest == row.header.newest else {
      throw ServiceError.damaged("the newest document and the header disagree")
    }
    self = row.header
    if stored == nil { otherBodyBytes = try Self.countedOtherBodyBytes(in: connection) }
  }

  /// The column `newest`. Files of version 1 don't have it; nil there and when it is null.
  private static func newest(in connection: Connection) throws -> Int64? {
    guard try connection.userVersion() > 1 else { return nil }
    return try connection.statement("SELECT newest FROM header WHERE newest IS NOT NULL").first {
      row in row.int64(0)
    }
  }

  /// The column `kept`. Files before version 3 don't have it; nil there and when it is null.
  private static func otherBodyBytes(in connection: Connection) throws -> Int64? {
    guard try connection.userVersion() > 2 else { return nil }
    return try connection.statement("SELECT kept FROM header WHERE kept IS NOT NULL").first {
      row in row.int64(0)
    }
  }

  /// Counts ``otherBodyBytes`` by reading all of `bodies`. That happens only until an older file is written for the
  /// first time.
  private static func countedOtherBodyBytes(in connection: Connection) throws -> Int64 {
    try connection.statement("SELECT coalesce(sum(length(body)), 0) FROM bodies").first {
      row in row.int64(0)
    } ?? 0
  }

  /// Writes the row, in the caller's transaction.
  func write(to connection: Connection) throws {
    try connection.statement(
      """
      INSERT OR REPLACE INTO header(
        one, store, epoch, last_sequence, live, deleted, bytes, checksum, newest, kept)
      VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
      """
    ).run(
      .text(key), .text(epoch), .integer(lastSequence), .integer(live), .integer(deleted),
      .integer(bytes), .integer(checksum.value), .integer(newest), .integer(otherBodyBytes))
  }
}
