import Documents
import SQLite
import Stores

/// The table `bodies`: the bodies of leaves that are not the winner, and of recent ancestors.
extension StoreRows {
  /// The body of a revision; nil when it is not stored. The checksum is not verified.
  /// - Parameter first: the sequence number of the document's first change, which identifies the document in this
  ///   table.
  func body(of first: Int64, _ revision: RevisionID) throws -> StoredBody? {
    guard try has(.bodies) else { return nil }
    return try connection.statement(
      """
      SELECT body_checksum, body, arrival FROM bodies
      WHERE first = ?1 AND generation = ?2 AND digest = ?3
      """
    ).first(.integer(first), .integer(revision.generation), .text(revision.digest.text)) {
      row in
      StoredBody(
        bytes: row.bytes(1), checksum: row.int64(0), arrival: StoredArrival(bytes: row.bytes(2)))
    }
  }

  /// The arrival of a revision; nil when its body is not stored.
  func arrival(of first: Int64, _ revision: RevisionID) throws -> StoredArrival? {
    guard try has(.bodies) else { return nil }
    return try connection.statement(
      "SELECT arrival FROM bodies WHERE first = ?1 AND generation = ?2 AND digest = ?3"
    ).first(.integer(first), .integer(revision.generation), .text(revision.digest.text)) {
      row in StoredArrival(bytes: row.bytes(0))
    }
  }

  /// Stores the body of a revision that has none here.
  /// - Parameter former: an existing row that the body replaces; nil to insert a row.
  /// - Returns: the number of bytes by which the table's bodies have grown.
  func insert(
    _ body: StoredBody, of first: Int64, _ revision: RevisionID, replacing former: StoredBodyKey?
  ) throws -> Int64 {
    try make(.bodies)
    if let former {
      try connection.run(
        """
        UPDATE bodies SET generation = ?1, digest = ?2, body_checksum = ?3, body = ?4, arrival = ?5
        WHERE number = ?6
        """,
        .integer(revision.generation), .text(revision.digest.text), .integer(body.checksum),
        .bytes(body.bytes), body.arrival.binding, .integer(former.number))
    } else {
      try connection.run(
        """
        INSERT INTO bodies(first, generation, digest, body_checksum, body, arrival)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        """,
        .integer(first), .integer(revision.generation), .text(revision.digest.text),
        .integer(body.checksum), .bytes(body.bytes), body.arrival.binding)
    }
    return Int64(body.bytes.count) - (former?.count ?? 0)
  }

  /// The keys of a document's stored bodies below a generation. No body is read.
  func bodies(of first: Int64, below generation: Int) throws -> [StoredBodyKey] {
    guard try has(.bodies) else { return [] }
    return try connection.statement(
      """
      SELECT number, generation, digest, length(body) FROM bodies
      WHERE first = ?1 AND generation < ?2
      """
    ).all(.integer(first), .integer(generation)) { row in
      StoredBodyKey(
        number: row.int64(0),
        // A damaged digest that is not text belongs to no revision.
        revision: RevisionID(generation: Int(row.int64(1)), digest: (try? row.string(2)) ?? ""),
        count: row.int64(3))
    }
  }

  /// The digests of a document's stored bodies of one generation.
  func bodyDigests(of first: Int64, generation: Int) throws -> [String] {
    guard try has(.bodies) else { return [] }
    return try connection.statement(
      "SELECT digest FROM bodies WHERE first = ?1 AND generation = ?2"
    )
    .all(.integer(first), .integer(generation)) { row in (try? row.string(0)) ?? "" }
  }

  /// The bytes of a document's bodies in this table. No body is read.
  func bodyBytes(of first: Int64) throws -> Int64 {
    guard try has(.bodies) else { return 0 }
    return try connection.integer(
      "SELECT coalesce(sum(length(body)), 0) FROM bodies WHERE first = ?1", .integer(first)) ?? 0
  }

  /// Removes the body of a revision.
  /// - Returns: the bytes of the body; 0 when none was stored.
  func removeBody(of first: Int64, _ revision: RevisionID) throws -> Int64 {
    guard try has(.bodies) else { return 0 }
    return try connection.statement(
      """
      DELETE FROM bodies WHERE first = ?1 AND generation = ?2 AND digest = ?3 RETURNING length(body)
      """
    ).all(.integer(first), .integer(revision.generation), .text(revision.digest.text)) {
      row in row.int64(0)
    }.reduce(0, +)
  }

  /// Removes a body by its key.
  /// - Returns: the bytes of the body.
  func removeBody(with key: StoredBodyKey, of first: Int64) throws -> Int64 {
    try connection.run("DELETE FROM bodies WHERE number = ?1", .integer(key.number))
    return key.count
  }
}

extension StoredArrival {
  /// The value for the column `arrival`.
  var binding: Binding { bytes.isEmpty ? .null : .bytes(bytes) }
}
