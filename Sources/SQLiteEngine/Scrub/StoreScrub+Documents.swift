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
    let found: StoredDocument.Unverified
    do throws(SQLiteError) {
      found = try StoredDocument.reading(row)
    } catch {
      throw StoreError(error)
    }
    let stored = try found.verified()
    sums.bytes += Int64(found.content.count)
    if stored.isDeleted { sums.deleted += 1 } else { sums.live += 1 }
    count(body: found.content.count)
    _ = try stored.document(found.content)
    guard (1...stored.sequence).contains(stored.first) else {
      throw .integrity("its first change has the number \(stored.first)")
    }
    let tree = try stored.tree(row.bytes(13))
    guard let winner = tree.winner, winner.revision == stored.revision,
      winner.isDeleted == stored.isDeleted
    else { throw .integrity("the row's revision is not the tree's winner") }
    let body = try applying { () throws(DocumentError) in
      try DocumentBody(parsing: found.content, limits: .request)
    }
    guard body.type.map({ Array($0.utf8) }) == stored.type.map({ Array($0.utf8) }) else {
      throw .integrity("the row's type is not the body's")
    }
    try bodies(of: stored, tree)
  }

  /// Bodies beside the winner's: each is what was written, and no leaf lacks one.
  private mutating func bodies(
    of document: StoredDocument, _ tree: RevisionTree
  ) throws(StoreError) {
    var missing = Set(tree.nodes.filter(\.isLeaf).map(\.revision))
    missing.remove(document.revision)
    let statement = try storing { () throws(SQLiteError) in
      let statement = try rows.connection.statement(
        "SELECT generation, digest, body_checksum, body FROM bodies WHERE first = ?1")
      try statement.bind(document.first, at: 1)
      return statement
    }
    defer { statement.reset() }
    while try storing(statement.step) {
      let row = statement.row
      let digest = try storing { () throws(SQLiteError) in try row.string(1) }
      let revision = RevisionID(generation: Int(clamping: row.int64(0)), digest: digest)
      let bytes = row.bytes(3)
      count(body: bytes.count)
      guard Checksum.body(document.id, revision, bytes) == row.int64(2) else {
        throw .integrity("the body of one of its revisions fails its checksum")
      }
      missing.remove(revision)
    }
    guard missing.isEmpty else { throw .integrity("the body of a leaf is missing") }
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
      ("bytes", header.bytes, sums.bytes), ("bytes of other bodies", header.kept, try keptBytes()),
    ] where said != counted {
      find("the header says \(said) \(title), the rows are \(counted)")
    }
    if header.newest > header.lastSequence || header.lastSequence < 0 {
      find("the last change has the number \(header.newest), the header says less")
    }
  }
}
