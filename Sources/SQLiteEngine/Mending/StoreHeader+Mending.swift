import SQLite
import Stores

extension StoreHeader {
  /// Reads the row; one in which a byte has turned is computed back, and written right at the next commit.
  /// - Throws: as ``init(readingFrom:)`` does.
  init(readingOrMendingFrom connection: Connection) throws(StoreError) {
    do throws(StoreError) { try self.init(readingFrom: connection) } catch {
      guard error.code == .damaged, let mended = try Self.mended(in: connection) else {
        throw error
      }
      self = mended
    }
  }

  /// The row computed back; nil where that is not possible, or it does not go with the documents.
  private static func mended(in connection: Connection) throws(StoreError) -> StoreHeader? {
    let row = try storing { () throws(SQLiteError) in
      guard try connection.userVersion() > 2 else { return HeaderRow?.none }
      return try connection.statement(
        """
        SELECT store, epoch, last_sequence, live, deleted, bytes, newest, kept, checksum,
          (SELECT max(sequence) FROM documents) FROM header
        """
      ).first { row throws(SQLiteError) in
        HeaderRow(
          texts: [row.bytes(0), row.bytes(1)], counts: (2..<6).map { row.int64($0) },
          newest: row.int64(6), kept: row.int64(7), checksum: row.int64(8), last: row.int64(9))
      }
    }
    guard let row else { return nil }
    // Two of the numbers are part of the sum only where they say something.
    for hasNewest in [false, true] {
      for hasKept in [false, true] {
        guard let header = row.mended(hasNewest: hasNewest, hasKept: hasKept),
          header.newest == row.last
        else { continue }
        return header
      }
    }
    return nil
  }
}

/// The header's row, whatever it says.
private struct HeaderRow {
  let texts: [[UInt8]]
  let counts: [Int64]
  let newest: Int64
  let kept: Int64
  let checksum: Int64
  /// The last document's number.
  let last: Int64

  /// The row as it was written, if it had these parts and one byte of it has turned.
  func mended(hasNewest: Bool, hasKept: Bool) -> StoreHeader? {
    var values = texts.map { RowValues.Value.text($0) } + counts.map { .integer($0) }
    if hasNewest { values.append(.integer(newest)) }
    if hasKept { values += [.text(Array("kept".utf8)), .integer(kept)] }
    guard
      let row = RowValues(kind: .header, values: values, checksum: checksum).mended(),
      let key = String(validating: row.bytes(0), as: UTF8.self),
      let epoch = String(validating: row.bytes(1), as: UTF8.self)
    else { return nil }
    return StoreHeader(
      key: key, epoch: epoch, lastSequence: row.integer(2),
      newest: hasNewest ? row.integer(6) : row.integer(2), live: row.integer(3),
      deleted: row.integer(4), bytes: row.integer(5),
      kept: hasKept ? row.integer(hasNewest ? 8 : 7) : 0)
  }
}
