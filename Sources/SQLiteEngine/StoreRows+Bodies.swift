import Documents
import SQLite
import StoreRecords
import Stores

/// The table `bodies`: what losing leaves and recent ancestors say.
extension StoreRows {
  /// What a revision says; nil when it is not stored. Not verified.
  /// - Parameter first: the document's name among the bodies.
  func body(of first: Int64, _ revision: RevisionID) throws -> StoredBody? {
    try connection.statement(
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

  /// When a revision came; nil when its body is not stored.
  func arrival(of first: Int64, _ revision: RevisionID) throws -> StoredArrival? {
    try connection.statement(
      "SELECT arrival FROM bodies WHERE first = ?1 AND generation = ?2 AND digest = ?3"
    ).first(.integer(first), .integer(revision.generation), .text(revision.digest.text)) {
      row in StoredArrival(bytes: row.bytes(0))
    }
  }

  /// Stores what a revision says.
  /// - Parameter place: the row of a body that goes; nil for a row of its own.
  /// - Returns: by how many bytes the table has grown.
  func insert(
    _ body: StoredBody, of first: Int64, _ revision: RevisionID, insteadOf place: BodyPlace?
  ) throws -> Int64 {
    // A revision that had been forgotten and comes back may have left its body behind.
    let removed = try removeBody(of: first, revision)
    if let place {
      try connection.statement(
        """
        UPDATE bodies SET generation = ?1, digest = ?2, body_checksum = ?3, body = ?4, arrival = ?5
        WHERE number = ?6
        """
      ).run(
        .integer(revision.generation), .text(revision.digest.text), .integer(body.checksum),
        .bytes(body.bytes), body.arrival.binding, .integer(place.number))
    } else {
      try connection.statement(
        """
        INSERT INTO bodies(first, generation, digest, body_checksum, body, arrival)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        """
      ).run(
        .integer(first), .integer(revision.generation), .text(revision.digest.text),
        .integer(body.checksum), .bytes(body.bytes), body.arrival.binding)
    }
    return Int64(body.bytes.count) - removed - (place?.count ?? 0)
  }

  /// The stored bodies of a document below a generation; none is read.
  func bodies(of first: Int64, below generation: Int) throws -> [BodyPlace] {
    try connection.statement(
      """
      SELECT number, generation, digest, length(body) FROM bodies
      WHERE first = ?1 AND generation < ?2
      """
    ).all(.integer(first), .integer(generation)) { row in
      BodyPlace(
        number: row.int64(0),
        // One that is no text any more is no revision's.
        revision: RevisionID(generation: Int(row.int64(1)), digest: (try? row.string(2)) ?? ""),
        count: row.int64(3))
    }
  }

  /// The digests of a document's stored bodies of one generation.
  func bodyDigests(of first: Int64, generation: Int) throws -> [String] {
    try connection.statement("SELECT digest FROM bodies WHERE first = ?1 AND generation = ?2")
      .all(.integer(first), .integer(generation)) { row in
        (try? row.string(0)) ?? ""
      }
  }

  /// Bytes of a document's bodies here; none is read.
  func bodyBytes(of first: Int64) throws -> Int64 {
    try connection.statement(
      "SELECT coalesce(sum(length(body)), 0) FROM bodies WHERE first = ?1"
    ).first(.integer(first)) { row in row.int64(0) } ?? 0
  }

  /// Removes what a revision says.
  /// - Returns: how many bytes that was; 0 where nothing was stored.
  func removeBody(of first: Int64, _ revision: RevisionID) throws -> Int64 {
    try connection.statement(
      """
      DELETE FROM bodies WHERE first = ?1 AND generation = ?2 AND digest = ?3 RETURNING length(body)
      """
    ).all(.integer(first), .integer(revision.generation), .text(revision.digest.text)) {
      row in row.int64(0)
    }.reduce(0, +)
  }

  /// Removes a body.
  /// - Returns: how many bytes that was.
  func removeBody(at place: BodyPlace, of first: Int64) throws -> Int64 {
    try connection.statement("DELETE FROM bodies WHERE number = ?1").run(.integer(place.number))
    return place.count
  }
}

extension StoredArrival {
  /// The value of the column.
  var binding: Binding { bytes.isEmpty ? .null : .bytes(bytes) }
}
