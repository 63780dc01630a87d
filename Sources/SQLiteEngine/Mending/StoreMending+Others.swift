import SQLite
import StoreRecords
import Stores

/// What stands beside the documents.
extension StoreMending {
  /// Looks at the local documents behind an id.
  /// - Returns: whether one of them is damaged, and how far it came; nil at the end.
  func damagedLocals(after id: [UInt8]) throws -> (isDamaged: Bool, last: [UInt8]?) {
    let piece = try rows.localsAsFound(after: id, limit: Self.localsAtOnce)
    let isDamaged = piece.contains { !$0.isSound }
    return (isDamaged, piece.count == Self.localsAtOnce ? piece.last?.bytes(0) : nil)
  }

  /// Mends local documents, and drops those that can't be. A checkpoint that is gone makes a client compare all
  /// once more, a receipt that is gone makes a batch run again.
  mutating func mendLocals() throws {
    let found = try rows.localsAsFound()
    guard found.contains(where: { !$0.isSound }) else { return }
    var kept: [RowValues] = []
    for local in found {
      if local.isSound {
        kept.append(local)
      } else if let mended = local.mended() {
        kept.append(mended)
        outcome.mended += 1
      } else if extent == .everything {
        outcome.dropped += 1
      } else {
        kept.append(local)
        outcome.left += 1
      }
    }
    try rows.replaceLocals(with: kept)
    if extent == .everything { try notePurges() }
  }

  /// Counts one more purge, so that whoever keeps a copy of the store begins anew. Where the count is lost, it goes on
  /// from a number that it can't have reached: each purge has taken a sequence number.
  mutating func notePurges() throws {
    let known = try rows.local(.purgeCount, at: now)?.revision
    let count = LocalDocument(
      revision: known.map { $0 &+ 1 } ?? header.lastSequence &+ 1, body: Array("{}".utf8))
    try rows.apply(LocalEdit(.purgeCount, count))
  }

  /// Drops all query indexes where what is known of one is damaged: they are made anew when they are asked.
  /// - Parameter all: whether to look at their entries, too, which takes some 50 milliseconds for each ten thousand.
  mutating func mendIndexes(all: Bool) throws {
    do {
      for index in try rows.indexNames() { _ = try rows.indexedSequence(index) }
      if all, try rows.hasStrayEntries() {
        throw ServiceError.integrity("an entry of an index leads to no document")
      }
      if all, try rows.damagedEntries() > 0 {
        throw ServiceError.integrity("an entry of an index fails its checksum")
      }
    } catch {
      guard ServiceError(engine: error).code == .integrity else { throw error }
      try rows.dropIndexes()
      outcome.dropped += 1
    }
  }
}

extension StoreRows {
  /// The local documents, whatever they say, in whatever order.
  func localsAsFound() throws -> [RowValues] {
    try connection.statement("SELECT id, revision, expires, checksum, body FROM locals").all {
      row in Self.localAsFound(row)
    }
  }

  /// Some of them, by id.
  func localsAsFound(after id: [UInt8], limit: Int) throws -> [RowValues] {
    try connection.statement(
      """
      SELECT id, revision, expires, checksum, body FROM locals
      WHERE id > CAST(?1 AS TEXT) ORDER BY id LIMIT ?2
      """
    ).all(.bytes(id), .integer(limit)) { row in Self.localAsFound(row) }
  }

  private static func localAsFound(_ row: borrowing Row) -> RowValues {
    RowValues(
      kind: .local,
      values: [
        .text(row.bytes(0)), .integer(row.int64(1)),
        .optionalInteger(row.isNull(2) ? nil : row.int64(2)),
      ], content: row.bytes(4), checksum: row.int64(3))
  }

  /// Writes all local documents anew, in the right order.
  func replaceLocals(with locals: [RowValues]) throws {
    try connection.statement("DELETE FROM locals").run()
    for local in locals {
      var expires = Binding.null
      if case .optionalInteger(.some(let end)) = local.values[2] { expires = .integer(end) }
      try connection.statement(
        """
        INSERT OR REPLACE INTO locals(id, revision, expires, checksum, body)
        VALUES (CAST(?1 AS TEXT), ?2, ?3, ?4, ?5)
        """
      ).run(
        .bytes(local.bytes(0)), .integer(local.integer(1)), expires, .integer(local.checksum),
        .bytes(local.content))
    }
  }

  /// Whether an entry of a query index leads to no document.
  func hasStrayEntries() throws -> Bool {
    try connection.statement(
      "SELECT 1 FROM entries WHERE id NOT IN (SELECT id FROM documents) LIMIT 1"
    ).first { _ in true } ?? false
  }

  /// Removes all query indexes.
  func dropIndexes() throws {
    try connection.statement("DELETE FROM entries").run()
    try connection.statement("DELETE FROM indexes").run()
  }
}

extension StoreHeader {
  /// Reads the row; one in which a byte has turned is computed back, and written right at the next commit.
  /// - Throws: as ``init(readingFrom:)`` does.
  init(readingOrMendingFrom connection: Connection) throws {
    do { try self.init(readingFrom: connection) } catch {
      guard ServiceError(engine: error).code == .damaged,
        let mended = try Self.mended(in: connection)
      else {
        throw error
      }
      self = mended
    }
  }

  /// The row computed back; nil where that is not possible, or it does not go with the documents.
  private static func mended(in connection: Connection) throws -> StoreHeader? {
    guard try connection.userVersion() > 2 else { return nil }
    let row = try connection.statement(
      """
      SELECT store, epoch, last_sequence, live, deleted, bytes, newest, kept, checksum,
        (SELECT max(sequence) FROM documents) FROM header
      """
    ).first { row in
      HeaderRow(
        texts: [row.bytes(0), row.bytes(1)], counts: (2..<6).map { row.int64($0) },
        newest: row.int64(6), kept: row.int64(7), checksum: row.int64(8), last: row.int64(9))
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

extension StoreHeader {
  /// The row as a page of a damaged file shows it; one in which a byte has turned is computed back.
  init?(salvaged values: [Record.Value]) {
    let row = HeaderRow(
      texts: [values[1].bytes ?? [], values[2].bytes ?? []],
      counts: (3..<7).map { values[$0].integer ?? 0 },
      newest: values.count > 8 ? values[8].integer ?? 0 : 0,
      kept: values.count > 9 ? values[9].integer ?? 0 : 0, checksum: values[7].integer ?? 0, last: 0
    )
    let headers = [(true, true), (true, false), (false, true), (false, false)].lazy
      .compactMap { row.mended(hasNewest: $0, hasKept: $1) }
    guard let header = headers.first(where: { $0.checksum.matches(row.checksum) }) ?? headers.first
    else {
      return nil
    }
    self = header
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
      otherBodyBytes: hasKept ? row.integer(hasNewest ? 8 : 7) : 0)
  }
}
