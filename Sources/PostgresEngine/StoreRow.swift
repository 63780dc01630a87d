import Stores

/// A row of `stores`: the header of a store, and what the engine keeps with it. Every writer locks this row first, so
/// that a store has one writer at a time on all nodes together.
struct StoreRow: Sendable {
  /// The store's number, which is never used for another store.
  var number: Int64
  /// The store's key, epoch and counts.
  var header: StoreHeader
  /// Whether the store was erased.
  var isErased = false
  /// The number of bytes that were ever written to the store.
  var written: Int64 = 0
  /// When the store was last changed, in milliseconds since 1970; 0 for never.
  var changed: Int64 = 0

  /// The timelines of the writes to the store.
  var timelines = StoreTimelines()

  /// The counts for readers, with the present epoch.
  var info: StoreInfo {
    var info = header.info
    info.epoch = timelines.epoch ?? header.epoch
    info.formerEpochs = timelines.former
    return info
  }

  /// The row's columns, for ``init(_:)``.
  static let columns = """
    s.number, s.key, s.epoch, s.last_sequence, s.newest, s.live, s.deleted, s.bytes, s.kept,
    s.is_erased, s.written, s.changed, s.checksum, s.timelines
    """
  /// The number of columns.
  static let columnCount = 14
}

extension StoreRow {
  /// Reads a row.
  /// - Throws: `damaged` when it fails its checksum.
  init(_ row: Row) throws {
    guard let key = row.text(1), let epoch = row.text(2) else {
      throw ServiceError.damaged("the row of a store is no text")
    }
    number = row.integer(0)
    header = StoreHeader(
      key: key, epoch: epoch, lastSequence: row.integer(3), newest: row.integer(4),
      live: row.integer(5), deleted: row.integer(6), bytes: row.integer(7),
      otherBodyBytes: row.integer(8))
    isErased = row.flag(9)
    written = row.integer(10)
    changed = row.integer(11)
    timelines = try StoreTimelines(row.bytes(13))
    guard checksum.matches(row.integer(12)) else {
      throw ServiceError.damaged("the row of store \(number) fails its checksum")
    }
  }

  /// The checksum of the row: that of the header, as in a SQLite file, and the columns that only this engine has.
  var checksum: Checksum {
    var checksum = header.checksum
    for value in [number, isErased ? 1 : 0, written, changed] { checksum.append(value) }
    checksum.append(bytes: timelines.bytes)
    return checksum
  }

  private static let update = Statement(
    """
    UPDATE stores SET key = $2, epoch = $3, last_sequence = $4, newest = $5, live = $6, deleted = $7,
      bytes = $8, kept = $9, is_erased = $10, written = $11, changed = $12, checksum = $13,
      timelines = $14
    WHERE number = $1
    """)
  private static let insert = Statement(
    """
    INSERT INTO stores VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
    ON CONFLICT DO NOTHING
    """)

  /// The call that replaces the row in the database.
  var updating: Call { call(Self.update) }
  /// The call that inserts the row, unless its number was used before.
  var inserting: Call { call(Self.insert) }

  private func call(_ statement: Statement) -> Call {
    Call(
      statement, .integer(number), .text(header.key), .text(header.epoch),
      .integer(header.lastSequence), .integer(header.newest), .integer(header.live),
      .integer(header.deleted), .integer(header.bytes), .integer(header.otherBodyBytes),
      .flag(isErased), .integer(written), .integer(changed), .integer(checksum.value),
      .bytes(timelines.bytes))
  }

  /// Finds the row and locks it until the transaction ends.
  static let lock = Statement("SELECT \(columns) FROM stores s WHERE s.number = $1 FOR UPDATE")
  /// Finds the row.
  static let find = Statement("SELECT \(columns) FROM stores s WHERE s.number = $1")
}
