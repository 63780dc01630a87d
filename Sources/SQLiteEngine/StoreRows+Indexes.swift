import Documents
import SQLite
import Stores

/// The tables `indexes` and `entries`: what queries walk.
extension StoreRows {
  /// How far an index has been built; nil for one that is not there.
  /// - Throws: `integrity`.
  func indexedSequence(_ index: IndexID) throws(StoreError) -> Int64? {
    let found = try storing { () throws(SQLiteError) in
      try connection.statement("SELECT number, sequence, checksum FROM indexes WHERE name = ?1")
        .first(.text(index.text)) { row throws(SQLiteError) in
          (number: row.int64(0), sequence: row.int64(1), checksum: row.int64(2))
        }
    }
    guard let found else { return nil }
    guard found.checksum == Self.checksum(index, found.number, found.sequence) else {
      throw .integrity("what is known of an index fails its checksum")
    }
    return found.sequence
  }

  /// The names of the indexes, in byte order.
  func indexNames() throws(SQLiteError) -> [IndexID] {
    try connection.statement("SELECT name FROM indexes ORDER BY name").all {
      row throws(SQLiteError) in IndexID(try row.string(0))
    }
  }

  /// Writes into an index, or removes it.
  func apply(_ edit: IndexEdit) throws(SQLiteError) {
    switch edit {
    case .remove(let index):
      guard let number = try number(of: index) else { return }
      try connection.statement("DELETE FROM entries WHERE number = ?1").run(.integer(number))
      try connection.statement("DELETE FROM indexes WHERE number = ?1").run(.integer(number))
    case .advance(let index, let documents, let entries, let sequence):
      let known = try number(of: index)
      let number = if let known { known } else { try newNumber() }
      try connection.statement(
        "INSERT OR REPLACE INTO indexes(number, name, sequence, checksum) VALUES (?1, ?2, ?3, ?4)"
      ).run(
        .integer(number), .text(index.text), .integer(sequence),
        .integer(Self.checksum(index, number, sequence)))
      for id in documents {
        try connection.statement("DELETE FROM entries WHERE id = ?1 AND number = ?2")
          .run(.text(id.text), .integer(number))
      }
      for entry in entries {
        try connection.statement("INSERT INTO entries(number, key, id) VALUES (?1, ?2, ?3)")
          .run(.integer(number), .bytes(entry.key), .text(entry.id.text))
      }
    }
  }

  /// Forgets a document in every index.
  func removeEntries(of id: DocumentID) throws(SQLiteError) {
    try connection.statement("DELETE FROM entries WHERE id = ?1").run(.text(id.text))
  }

  /// Walks entries in order, until `visit` answers false.
  func walk(
    _ index: IndexID, _ range: IndexRange, _ visit: (IndexEntry) throws(StoreError) -> Bool
  ) throws(StoreError) {
    guard let number = try storing({ () throws(SQLiteError) in try number(of: index) }) else {
      return
    }
    let statement = try storing { () throws(SQLiteError) in
      let statement = try entries(range)
      try statement.bind(number, at: 1)
      try statement.bind(range.start, at: 2)
      try statement.bind(range.descending ? "" : range.id, at: 3)
      if let end = range.end {
        try statement.bind(end, at: 4)
        try statement.bind(range.descending ? range.id : "", at: 5)
      }
      return statement
    }
    defer { statement.reset() }
    while try storing(statement.step) {
      let entry = try storing { () throws(SQLiteError) in
        IndexEntry(
          id: DocumentID(stored: try statement.row.string(1)), key: statement.row.bytes(0))
      }
      guard try visit(entry) else { return }
    }
  }

  private func entries(_ range: IndexRange) throws(SQLiteError) -> Statement {
    // No id is empty, so that "" stands before all entries of a key.
    switch (range.end == nil, range.descending) {
    case (true, false):
      try connection.statement(
        """
        SELECT key, id FROM entries WHERE number = ?1 AND (key, id) > (?2, ?3) ORDER BY key, id
        """)
    case (true, true):
      try connection.statement(
        """
        SELECT key, id FROM entries WHERE number = ?1 AND (key, id) > (?2, ?3)
        ORDER BY key DESC, id DESC
        """)
    case (false, false):
      try connection.statement(
        """
        SELECT key, id FROM entries
        WHERE number = ?1 AND (key, id) > (?2, ?3) AND (key, id) < (?4, ?5) ORDER BY key, id
        """)
    case (false, true):
      try connection.statement(
        """
        SELECT key, id FROM entries
        WHERE number = ?1 AND (key, id) > (?2, ?3) AND (key, id) < (?4, ?5)
        ORDER BY key DESC, id DESC
        """)
    }
  }

  private func number(of index: IndexID) throws(SQLiteError) -> Int64? {
    try connection.statement("SELECT number FROM indexes WHERE name = ?1")
      .first(.text(index.text)) { row throws(SQLiteError) in row.int64(0) }
  }

  private func newNumber() throws(SQLiteError) -> Int64 {
    try connection.statement("SELECT coalesce(max(number), 0) + 1 FROM indexes").first {
      row throws(SQLiteError) in row.int64(0)
    } ?? 1
  }

  private static func checksum(_ index: IndexID, _ number: Int64, _ sequence: Int64) -> Int64 {
    var checksum = Checksum(.index)
    checksum.append(number)
    checksum.append(index.text)
    checksum.append(sequence)
    return checksum.value()
  }
}
