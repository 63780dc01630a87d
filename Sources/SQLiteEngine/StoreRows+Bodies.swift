import Documents
import SQLite
import Stores

/// The table `bodies`: what losing leaves and recent ancestors say.
extension StoreRows {
  /// A stored body that is not the winner's.
  struct StoredBody {
    /// The bytes, `{…}`.
    let bytes: [UInt8]
    /// What it must add up to; see ``Checksum/body(_:_:_:)``.
    let checksum: Int64
  }

  /// What a revision says; nil when it is not stored. Not verified.
  /// - Parameter first: the document's name among the bodies.
  func body(of first: Int64, _ revision: RevisionID) throws(SQLiteError) -> StoredBody? {
    try connection.statement(
      """
      SELECT body_checksum, body FROM bodies WHERE first = ?1 AND generation = ?2 AND digest = ?3
      """
    ).first(.integer(first), .integer(revision.generation), .text(revision.digest.text)) {
      row throws(SQLiteError) in
      StoredBody(bytes: row.bytes(1), checksum: row.int64(0))
    }
  }

  /// Stores what a revision says.
  /// - Returns: by how many bytes the table has grown.
  func insert(
    _ body: StoredBody, of first: Int64, _ revision: RevisionID
  ) throws(SQLiteError) -> Int64 {
    // A revision that had been forgotten and comes back may have left its body behind.
    let removed = try removeBody(of: first, revision)
    try connection.statement(
      """
      INSERT INTO bodies(first, generation, digest, body_checksum, body) VALUES (?1, ?2, ?3, ?4, ?5)
      """
    ).run(
      .integer(first), .integer(revision.generation), .text(revision.digest.text),
      .integer(body.checksum), .bytes(body.bytes))
    return Int64(body.bytes.count) - removed
  }

  /// The stored revisions of a document below a generation.
  func bodies(of first: Int64, below generation: Int) throws(SQLiteError) -> [RevisionID] {
    try connection.statement(
      "SELECT generation, digest FROM bodies WHERE first = ?1 AND generation < ?2"
    ).all(.integer(first), .integer(generation)) { row throws(SQLiteError) in
      RevisionID(generation: Int(row.int64(0)), digest: try row.string(1))
    }
  }

  /// The digests of a document's stored bodies of one generation.
  func bodyDigests(of first: Int64, generation: Int) throws(SQLiteError) -> [String] {
    try connection.statement("SELECT digest FROM bodies WHERE first = ?1 AND generation = ?2")
      .all(.integer(first), .integer(generation)) { row throws(SQLiteError) in try row.string(0) }
  }

  /// Bytes of a document's bodies here; none is read.
  func bodyBytes(of first: Int64) throws(SQLiteError) -> Int64 {
    try connection.statement(
      "SELECT coalesce(sum(length(body)), 0) FROM bodies WHERE first = ?1"
    ).first(.integer(first)) { row throws(SQLiteError) in row.int64(0) } ?? 0
  }

  /// Removes what a revision says.
  /// - Returns: how many bytes that was; 0 where nothing was stored.
  func removeBody(of first: Int64, _ revision: RevisionID) throws(SQLiteError) -> Int64 {
    try connection.statement(
      """
      DELETE FROM bodies WHERE first = ?1 AND generation = ?2 AND digest = ?3 RETURNING length(body)
      """
    ).all(.integer(first), .integer(revision.generation), .text(revision.digest.text)) {
      row throws(SQLiteError) in row.int64(0)
    }.reduce(0, +)
  }
}
