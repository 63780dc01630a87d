import SQLite
import Stores

extension StoreHeader {
  /// Reads the row.
  /// - Throws: `damaged` when the row is missing or fails its checksum, or when the last document's sequence number
  ///   differs. It differs when the log belongs to another state of the file.
  init(readingFrom connection: Connection) throws {
    let row = try connection.statement(
      """
      SELECT store, epoch, last_sequence, newest, live, deleted, bytes, kept, checksum,
        (SELECT max(sequence) FROM documents) FROM header WHERE one = 1
      """
    ).first { row in
      (
        header: StoreHeader(
          key: try row.string(0), epoch: try row.string(1), lastSequence: row.int64(2),
          newest: row.int64(3), live: row.int64(4), deleted: row.int64(5), bytes: row.int64(6),
          otherBodyBytes: row.int64(7)),
        checksum: row.int64(8), newest: row.int64(9)
      )
    }
    guard let row else { throw ServiceError.damaged("the header row is missing") }
    guard row.header.checksum.matches(row.checksum) else {
      throw ServiceError.damaged("the header row fails its checksum")
    }
    guard row.newest == row.header.newest else {
      throw ServiceError.damaged("the newest document and the header disagree")
    }
    self = row.header
  }

  /// Writes the row, in the caller's transaction.
  func write(to connection: Connection) throws {
    try connection.run(
      """
      INSERT OR REPLACE INTO header(
        one, store, epoch, last_sequence, live, deleted, bytes, checksum, newest, kept)
      VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
      """,
      .text(key), .text(epoch), .integer(lastSequence), .integer(live), .integer(deleted),
      .integer(bytes), .integer(checksum.value), .integer(newest), .integer(otherBodyBytes))
  }
}
