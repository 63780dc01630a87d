import SQLite
import Stores

extension StoreHeader {
  /// Reads the row.
  /// - Parameter repairing: whether to read a row in which one byte is wrong as it was written. The next commit writes it
  ///   again. If the number of the row was wrong, the wrong row remains beside the new one, which goes before it.
  /// - Throws: `damaged` when the row is missing or fails its checksum, or when the last document's sequence number
  ///   differs. It differs when the log belongs to another state of the file.
  init(readingFrom connection: Connection, repairing: Bool = false) throws {
    let found = try connection.statement(
      """
      SELECT store, epoch, last_sequence, live, deleted, bytes, newest, kept, checksum,
        (SELECT max(sequence) FROM documents) FROM header WHERE one = 1 OR ?1
      ORDER BY one <> 1
      """
    ).first(.integer(repairing ? 1 : 0)) { row in
      (
        row: RowValues(
          kind: .header,
          values: [.text(row.bytes(0)), .text(row.bytes(1))]
            + (2..<8).map { .integer(row.int64($0)) },
          checksum: row.int64(8)),
        newest: row.int64(9)
      )
    }
    guard let found else { throw ServiceError.damaged("the header row is missing") }
    guard let row = found.row.isSound ? found.row : repairing ? found.row.repaired() : nil,
      let key = String(validating: row.bytes(0), as: UTF8.self),
      let epoch = String(validating: row.bytes(1), as: UTF8.self)
    else { throw ServiceError.damaged("the header row fails its checksum") }
    guard row.integer(6) == found.newest else {
      throw ServiceError.damaged("the newest document and the header disagree")
    }
    self.init(
      key: key, epoch: epoch, lastSequence: row.integer(2), newest: row.integer(6),
      live: row.integer(3), deleted: row.integer(4), bytes: row.integer(5),
      otherBodyBytes: row.integer(7))
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
