import Documents
import SQLite
import Stores

/// The tables `indexes` and `entries`: what queries walk.
extension StoreRows {
  /// How far an index has been built; nil for one that is not there.
  /// - Throws: `integrity`.
  func indexedSequence(_ index: IndexID) throws -> Int64? {
    let found = try connection.statement(
      "SELECT number, sequence, checksum FROM indexes WHERE name = ?1"
    )
    .first(.text(index.text)) { row in
      (number: row.int64(0), sequence: row.int64(1), checksum: row.int64(2))
    }
    guard let found else { return nil }
    guard found.checksum == Self.checksum(index, found.number, found.sequence) else {
      throw ServiceError.integrity("what is known of an index fails its checksum")
    }
    return found.sequence < 0 ? nil : found.sequence
  }

  /// The names of the indexes, in byte order.
  /// - Throws: `integrity` for one that is no text.
  func indexNames() throws -> [IndexID] {
    let names = try connection.statement("SELECT name FROM indexes ORDER BY name").all {
      row in try? row.string(0)
    }
    return try names.map { name in
      guard let name else { throw ServiceError.integrity("the name of an index is no text") }
      return IndexID(name)
    }
  }

  /// Writes into an index, or removes it.
  func apply(_ edit: IndexEdit) throws {
    switch edit {
    case .remove(let index, let entries):
      guard let number = try number(of: index) else { return }
      try connection.statement(
        """
        DELETE FROM entries WHERE (number, key, id) IN (
          SELECT number, key, id FROM entries WHERE number = ?1 LIMIT ?2)
        """
      ).run(.integer(number), .integer(entries))
      let hasMore = try connection.statement("SELECT 1 FROM entries WHERE number = ?1 LIMIT 1")
        .first(.integer(number)) { _ in true }
      if hasMore == true {
        try note(index, number, Self.nowhere)
      } else {
        try connection.statement("DELETE FROM indexes WHERE number = ?1").run(.integer(number))
      }
    case .advance(let index, let documents, let entries, let sequence):
      let known = try number(of: index)
      let number = if let known { known } else { try newNumber() }
      try note(index, number, sequence)
      for id in documents {
        try connection.statement("DELETE FROM entries WHERE id = ?1 AND number = ?2")
          .run(.text(id.text), .integer(number))
      }
      for entry in entries {
        try connection.statement(
          "INSERT INTO entries(number, key, id, checksum, content) VALUES (?1, ?2, ?3, ?4, ?5)"
        ).run(
          .integer(number), .bytes(entry.key), .text(entry.id.text),
          .integer(
            Self.checksum(number, entry.key, id: Array(entry.id.text.utf8), entry.content)),
          .bytes(entry.content))
      }
    }
  }

  /// The number up to which an index is built that is being removed.
  private static let nowhere: Int64 = -1

  private func note(
    _ index: IndexID, _ number: Int64, _ sequence: Int64
  ) throws {
    try connection.statement(
      "INSERT OR REPLACE INTO indexes(number, name, sequence, checksum) VALUES (?1, ?2, ?3, ?4)"
    ).run(
      .integer(number), .text(index.text), .integer(sequence),
      .integer(Self.checksum(index, number, sequence)))
  }

  /// Forgets a document in every index.
  func removeEntries(of id: DocumentID) throws {
    try connection.statement("DELETE FROM entries WHERE id = ?1").run(.text(id.text))
  }

  /// Walks entries in order, until `visit` answers false.
  /// - Throws: `integrity` for an entry whose content is wanted and that fails its checksum.
  func walk(
    _ index: IndexID, _ range: IndexRange, _ visit: (IndexEntry) throws -> Bool
  ) throws {
    guard let number = try number(of: index) else {
      return
    }
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
      var content: [UInt8]?
      if range.wantsContent {
        guard Self.isSound(statement.row, of: number) else {
          throw ServiceError.integrity("an entry of an index fails its checksum")
        }
        content = statement.row.isNull(3) ? nil : statement.row.bytes(3)
      }
      let key = statement.row.bytes(0)
      guard try visit(IndexEntry(id: DocumentID(stored: id), key: key, content: content)) else {
        return
      }
    }
  }

  private func entries(_ range: IndexRange) throws -> Statement {
    // No id is empty, so that "" stands before all entries of a key.
    switch (range.end == nil, range.descending) {
    case (true, false):
      try connection.statement(
        """
        SELECT key, id, checksum, content FROM entries
        WHERE number = ?1 AND (key, id) > (?2, ?3) ORDER BY key, id
        """)
    case (true, true):
      try connection.statement(
        """
        SELECT key, id, checksum, content FROM entries WHERE number = ?1 AND (key, id) > (?2, ?3)
        ORDER BY key DESC, id DESC
        """)
    case (false, false):
      try connection.statement(
        """
        SELECT key, id, checksum, content FROM entries
        WHERE number = ?1 AND (key, id) > (?2, ?3) AND (key, id) < (?4, ?5) ORDER BY key, id
        """)
    case (false, true):
      try connection.statement(
        """
        SELECT key, id, checksum, content FROM entries
        WHERE number = ?1 AND (key, id) > (?2, ?3) AND (key, id) < (?4, ?5)
        ORDER BY key DESC, id DESC
        """)
    }
  }

  private func number(of index: IndexID) throws -> Int64? {
    try connection.statement("SELECT number FROM indexes WHERE name = ?1")
      .first(.text(index.text)) { row in row.int64(0) }
  }

  private func newNumber() throws -> Int64 {
    try connection.statement("SELECT coalesce(max(number), 0) + 1 FROM indexes").first {
      row in row.int64(0)
    } ?? 1
  }

  /// How many entries fail their checksums. Reads all of them.
  func damagedEntries() throws -> Int {
    var count = 0
    let statement = try connection.statement(
      "SELECT key, id, checksum, content, number FROM entries")
    defer { statement.reset() }
    while try statement.step() {
      if !Self.isSound(statement.row, of: statement.row.int64(4)) { count += 1 }
    }
    return count
  }

  /// Whether a row of `key, id, checksum, content` is what was written.
  private static func isSound(_ row: borrowing Row, of number: Int64) -> Bool {
    row.int64(2)
      == checksum(number, row.bytes(0), id: row.bytes(1), row.isNull(3) ? nil : row.bytes(3))
  }

  private static func checksum(
    _ number: Int64, _ key: [UInt8], id: [UInt8], _ content: [UInt8]?
  ) -> Int64 {
    var checksum = Checksum(.place)
    checksum.append(number)
    checksum.append(bytes: key)
    checksum.append(bytes: id)
    checksum.append(optionalBytes: content)
    return checksum.value()
  }

  private static func checksum(_ index: IndexID, _ number: Int64, _ sequence: Int64) -> Int64 {
    var checksum = Checksum(.index)
    checksum.append(number)
    checksum.append(index.text)
    checksum.append(sequence)
    return checksum.value()
  }
}
