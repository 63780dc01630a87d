import Documents
import SQLite
import Stores

/// Documents, their histories and bodies, and what the header counts of them.
extension StoreScrub {
  /// What the rows add up to.
  private struct Sums {
    var live: Int64 = 0
    var deleted: Int64 = 0
    var bytes: Int64 = 0
  }

  /// Looks at every document, and then at what the header says of them.
  mutating func documentsAndCounts(of owner: Owner) throws(StoreError) {
    var sums = Sums()
    let statement = try storing { () throws(SQLiteError) in
      try rows.connection.statement(
        """
        SELECT sequence, id, first, generation, digest, is_deleted, type, created, updated,
          body_checksum, tree_checksum, checksum, body, tree
        FROM documents ORDER BY sequence
        """)
    }
    defer { statement.reset() }
    while try storing(statement.step) {
      countDocument()
      let sequence = statement.row.int64(0)
      do throws(StoreError) {
        try document(in: statement.row, &sums)
      } catch {
        find("change \(sequence): \(error.words)")
      }
    }
    try header(of: owner, sums)
  }

  private mutating func document(
    in row: borrowing Row, _ sums: inout Sums
  ) throws(StoreError) {
    let found = StoredDocument.reading(row)
    let stored = try found.verified()
    sums.bytes += Int64(found.content.count)
    if stored.isDeleted { sums.deleted += 1 } else { sums.live += 1 }
    var lengths: [Int] = []
    defer { for length in lengths { count(body: length) } }
    try rows.check(stored, found.content, tree: row.bytes(13), into: &lengths)
    let body = try applying { () throws(DocumentError) in
      try DocumentBody(parsing: found.content, limits: .stored)
    }
    guard body.type.map({ Array($0.utf8) }) == stored.type.map({ Array($0.utf8) }) else {
      throw .integrity("the row's type is not the body's")
    }
  }

  private func keptBytes() throws(StoreError) -> Int64 {
    try storing { () throws(SQLiteError) in
      try rows.connection.statement("SELECT coalesce(sum(length(body)), 0) FROM bodies").first {
        row throws(SQLiteError) in row.int64(0)
      } ?? 0
    }
  }

  /// Whose file it is, and whether it counts what is there.
  private mutating func header(of owner: Owner, _ sums: Sums) throws(StoreError) {
    let header = try StoreHeader(readingFrom: rows.connection)
    if let key = owner.key, !key.equalsBytes(of: header.key) {
      find("the file is another store's")
    }
    if let epoch = owner.epoch, !epoch.equalsBytes(of: header.epoch) {
      find("the file is of another life of this store")
    }
    for (title, said, counted) in [
      ("documents", header.live, sums.live), ("tombstones", header.deleted, sums.deleted),
      ("bytes", header.bytes, sums.bytes), ("bytes of other bodies", header.otherBodyBytes, try keptBytes()),
    ] where said != counted {
      find("the header says \(said) \(title), the rows are \(counted)")
    }
    if header.newest > header.lastSequence || header.lastSequence < 0 {
      find("the last change has the number \(header.newest), the header says less")
    }
  }
}
