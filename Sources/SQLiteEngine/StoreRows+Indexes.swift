import Documents
import SQLite
import Stores

/// The tables `indexes` and `entries`: the indexes that queries read.
extension StoreRows {
  /// The sequence number up to which an index is built; nil when the index does not exist or is being removed.
  /// - Throws: `integrity` when the row fails its checksum.
  func indexedSequence(_ index: IndexID) throws -> Int64? {
    guard try has(.indexes) else { return nil }
    let found = try connection.statement(
      "SELECT number, sequence, checksum FROM indexes WHERE name = ?1"
    )
    .first(.text(index.text)) { row in
      (number: row.int64(0), sequence: row.int64(1), checksum: row.int64(2))
    }
    guard let found else { return nil }
    guard Self.checksum(index, found.number, found.sequence).matches(found.checksum) else {
      throw ServiceError.integrity("what is known of an index fails its checksum")
    }
    return found.sequence < 0 ? nil : found.sequence
  }

  /// The names of the indexes, in byte order.
  /// - Throws: `integrity` for a name that is not text.
  func indexNames() throws -> [IndexID] {
    guard try has(.indexes) else { return [] }
    let names = try connection.statement("SELECT name FROM indexes ORDER BY name").all {
      row in try? row.string(0)
    }
    return try names.map { name in
      guard let name else { throw ServiceError.integrity("the name of an index is no text") }
      return IndexID(name)
    }
  }

  /// Writes entries to an index, or removes some or all of an index.
  func apply(_ edit: IndexEdit) throws {
    switch edit {
    case .remove(let index, let entries):
      guard let number = try number(of: index) else { return }
      try connection.run(
        """
        DELETE FROM entries WHERE (number, key, id) IN (
          SELECT number, key, id FROM entries WHERE number = ?1 LIMIT ?2)
        """,
        .integer(number), .integer(entries))
      let hasMore = try connection.statement("SELECT 1 FROM entries WHERE number = ?1 LIMIT 1")
        .first(.integer(number)) { _ in true }
      if hasMore == true {
        try note(index, number, Self.removalSequence)
      } else {
        try connection.run("DELETE FROM indexes WHERE number = ?1", .integer(number))
      }
    case .advance(let index, let documents, let entries, let sequence):
      try make(.indexes)
      try make(.entries)
      let known = try number(of: index)
      let number = if let known { known } else { try newNumber() }
      try note(index, number, sequence)
      for id in documents {
        try connection.run(
          "DELETE FROM entries WHERE id = ?1 AND number = ?2", .text(id.text), .integer(number))
      }
      for entry in entries {
        try connection.run(
          "INSERT INTO entries(number, key, id, checksum, content) VALUES (?1, ?2, ?3, ?4, ?5)",
          .integer(number), .bytes(entry.key), .text(entry.id.text),
          .integer(
            Self.checksum(number, entry.key, id: Array(entry.id.text.utf8), entry.content).value),
          .bytes(entry.content))
      }
    }
  }

  /// The sequence number in the row of an index that is being removed.
  private static let removalSequence: Int64 = -1

  private func note(_ index: IndexID, _ number: Int64, _ sequence: Int64) throws {
    try connection.run(
      "INSERT OR REPLACE INTO indexes(number, name, sequence, checksum) VALUES (?1, ?2, ?3, ?4)",
      .integer(number), .text(index.text), .integer(sequence),
      .integer(Self.checksum(index, number, sequence).value))
  }

  /// Removes a document's entries from every index.
  func removeEntries(of id: DocumentID) throws {
    guard try has(.entries) else { return }
    try connection.run("DELETE FROM entries WHERE id = ?1", .text(id.text))
  }

  /// Visits the entries of a range, in its direction, until `visit` returns false.
  /// - Throws: `integrity` for an id that is not text; when the content is wanted, for an entry that fails its
  ///   checksum.
  func walk(_ index: IndexID, _ range: IndexRange, _ visit: (IndexEntry) throws -> Bool) throws {
    guard let number = try number(of: index) else { return }
    let statement = try entries(range)
    try statement.bind(number, at: 1)
    try statement.bind(range.start, at: 2)
    try statement.bind(range.descending ? "" : range.id, at: 3)
    if let end = range.end {
      try statement.bind(end, at: 4)
      try statement.bind(range.descending ? range.id : "", at: 5)
    }
    defer { statement.reset() }
    while try statement.step() {
      guard let id = try? statement.row.string(1) else {
        throw ServiceError.integrity("an entry of an index has no text for its document's id")
      }
      // An entry with another id would leave its document out of the answer.
      guard Self.isSound(statement.row, of: number) else {
        throw ServiceError.integrity("an entry of an index fails its checksum")
      }
      let isWanted = range.wantsContent && !statement.row.isNull(3)
      let content = isWanted ? statement.row.bytes(3) : nil
      let key = statement.row.bytes(0)
      guard try visit(IndexEntry(id: DocumentID(stored: id), key: key, content: content)) else {
        return
      }
    }
  }

  private func entries(_ range: IndexRange) throws -> Statement {
    // No id is empty, so "" sorts before all entries of a key.
    let rest: StaticString =
      switch (range.end == nil, range.descending) {
      case (true, false): "ORDER BY key, id"
      case (true, true): "ORDER BY key DESC, id DESC"
      case (false, false): "AND (key, id) < (?4, ?5) ORDER BY key, id"
      case (false, true): "AND (key, id) < (?4, ?5) ORDER BY key DESC, id DESC"
      }
    return try connection.statement(
      """
      SELECT key, id, checksum, content FROM entries WHERE number = ?1 AND (key, id) > (?2, ?3)
      """, rest)
  }

  private func number(of index: IndexID) throws -> Int64? {
    guard try has(.indexes) else { return nil }
    return try connection.integer("SELECT number FROM indexes WHERE name = ?1", .text(index.text))
  }

  private func newNumber() throws -> Int64 {
    try connection.integer("SELECT coalesce(max(number), 0) + 1 FROM indexes") ?? 1
  }

  /// The number of entries that fail their checksums. Reads all entries.
  func damagedEntries() throws -> Int {
    guard try has(.entries) else { return 0 }
    var count = 0
    try connection.statement("SELECT key, id, checksum, content, number FROM entries")
      .query { row in if !Self.isSound(row, of: row.int64(4)) { count += 1 } }
    return count
  }

  /// Whether a row of `key, id, checksum, content` matches its checksum.
  private static func isSound(_ row: borrowing Row, of number: Int64) -> Bool {
    checksum(number, row.bytes(0), id: row.bytes(1), row.isNull(3) ? nil : row.bytes(3))
      .matches(row.int64(2))
  }

  private static func checksum(
    _ number: Int64, _ key: [UInt8], id: [UInt8], _ content: [UInt8]?
  ) -> Checksum {
    var checksum = Checksum(.indexEntry)
    checksum.append(number)
    checksum.append(bytes: key)
    checksum.append(bytes: id)
    checksum.append(optionalBytes: content)
    return checksum
  }

  private static func checksum(_ index: IndexID, _ number: Int64, _ sequence: Int64) -> Checksum {
    var checksum = Checksum(.index)
    checksum.append(number)
    checksum.append(index.text)
    checksum.append(sequence)
    return checksum
  }

  // MARK: Counts of `documents`, from its indexes alone: no body is read

  /// The sequence number of the last document; 0 when there is none.
  func newestSequence() throws -> Int64 {
    try connection.integer("SELECT coalesce(max(sequence), 0) FROM documents") ?? 0
  }

  /// The number of documents that changed after a sequence number.
  ///
  /// The numbers have gaps, because a document that changes takes a new number. So the documents must be counted.
  ///
  /// The index of the ids contains each row's number and takes a twentieth of the table's pages, if bodies have 1 KB.
  /// So it is scanned completely, unless a part of the table is shorter: the part after the number, or the part since
  /// the nearest known count.
  func count(after sequence: Int64, last: Int64, documents: Int64) throws -> Int64 {
    let known = counts.nearest(upTo: sequence) ?? (sequence: 0, count: documents)
    let count: Int64
    if Self.isShort(from: known.sequence, to: sequence, of: documents) {
      count = try known.count - self.count(after: known.sequence, upTo: sequence)
    } else if Self.isShort(from: sequence, to: last, of: documents) {
      count = try self.count(after: sequence, upTo: last)
    } else {
      count =
        try connection.integer(
          """
          SELECT count(*) FROM documents INDEXED BY sqlite_autoindex_documents_1 WHERE sequence > ?1
          """,
          .integer(sequence)) ?? 0
    }
    counts.remember((sequence, count), replacing: known.sequence)
    return count
  }

  private static func isShort(from start: Int64, to end: Int64, of documents: Int64) -> Bool {
    let (cost, overflows) = (end - start).multipliedReportingOverflow(by: 20)
    return !overflows && cost < documents
  }

  private func count(after start: Int64, upTo end: Int64) throws -> Int64 {
    try connection.integer(
      "SELECT count(*) FROM documents WHERE sequence > ?1 AND sequence <= ?2", .integer(start),
      .integer(end)) ?? 0
  }

  /// Counts the documents among the first ids of a range, without tombstones unless the range includes them.
  /// - Parameter ids: the most ids to look at.
  /// - Returns: the count, and the last of these ids if the range has at least `ids`; otherwise nil.
  func count(_ range: DocumentRange, among ids: Int) throws -> (count: Int, last: DocumentID?) {
    // SQLite sorts text before every blob, so an empty blob sorts after the last id. No id equals it.
    let end = range.end.map { Binding.text($0) } ?? .bytes([])
    let without: Binding = range.includesEnd ? .bytes([]) : end
    let start = Binding.text(range.start ?? "")
    let statement = try connection.statement(
      range.descending ? "SELECT count(*), min(id) FROM (" : "SELECT count(*), max(id) FROM (",
      range.descending
        ? """
        SELECT id FROM documents INDEXED BY sqlite_autoindex_documents_1
        WHERE id >= ?1 AND id <= ?2 AND id <> ?3 ORDER BY id DESC LIMIT ?4)
        """
        : """
        SELECT id FROM documents INDEXED BY sqlite_autoindex_documents_1
        WHERE id >= ?1 AND id <= ?2 AND id <> ?3 ORDER BY id LIMIT ?4)
        """)
    var found: (count: Int, last: DocumentID?) = (0, nil)
    // No range begins behind an id that is damaged and no text, so the next id is looked at as well.
    for limit in ids... {
      let row = try statement.first(start, end, without, .integer(limit)) { row in
        (
          count: Int(row.int64(0)),
          last: row.isNull(1) ? nil : (try? row.string(1)).map { DocumentID(stored: $0) }
        )
      }
      guard let row else { break }
      found = row
      if row.last != nil || row.count < limit { break }
    }
    guard found.count > 0 else { return (0, nil) }
    let next = found.count >= ids ? found.last : nil
    guard try !range.includesDeleted && has(.documentsDeleted) else { return (found.count, next) }
    let reached = found.last.map { .text($0.text) } ?? (range.descending ? start : end)
    let deleted = try connection.statement(
      """
      SELECT count(*) FROM documents INDEXED BY documents_deleted
      WHERE is_deleted = 1 AND id >= ?1 AND id <= ?2 AND id <> ?3
      """
    ).first(range.descending ? reached : start, range.descending ? end : reached, without) {
      row in Int(row.int64(0))
    }
    return (found.count - (deleted ?? 0), next)
  }
}

/// The number of documents that come after a sequence number, for the numbers that were asked for last.
///
/// A client that reads the changes page by page continues from the count of the page before. Counting again for each
/// page would take quadratic time.
struct ChangeCounts {
  /// A sequence number, and the number of documents after it.
  typealias Count = (sequence: Int64, count: Int64)

  /// The most counts that are kept: enough for this many clients that read at the same time.
  private static let maximumCounts = 8

  /// The counts; the last element was used last.
  private var counts: [Count] = []

  /// The count with the nearest sequence number at or below this one; nil when there is none.
  func nearest(upTo sequence: Int64) -> Count? {
    counts.filter { $0.sequence <= sequence }.max { $0.sequence < $1.sequence }
  }

  /// Keeps a count.
  /// - Parameter former: the sequence number of the count that it replaces.
  mutating func remember(_ count: Count, replacing former: Int64? = nil) {
    counts.removeAll { $0.sequence == count.sequence || $0.sequence == former }
    if counts.count == Self.maximumCounts { counts.removeFirst() }
    counts.append(count)
  }

  /// Updates the counts after a document's sequence number changed.
  /// - Parameter old: nil for a new document.
  /// - Parameter new: nil for a document that was removed.
  mutating func move(from old: Int64?, to new: Int64?) {
    for index in counts.indices {
      if let old, old > counts[index].sequence { counts[index].count -= 1 }
      if let new, new > counts[index].sequence { counts[index].count += 1 }
    }
  }
}
