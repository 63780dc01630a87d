import Documents
import Stores

/// The statements of an update.
extension WriteTransaction {
  /// The largest number of expired local documents that one update removes, so that no update has to remove a large
  /// backlog.
  static let expiredAtOnce = 100

  // `LATERAL` and `LIMIT` make the server look up each id in the primary key. With `id = ANY($2)` it may read all rows of
  // the store by another index and compare their ids, because it expects few rows in each store.
  static let documentsByID = Statement(
    """
    SELECT d.* FROM unnest($2::bytea[]) AS wanted(id) CROSS JOIN LATERAL (
      SELECT \(StoredDocument.columns), d.body, d.tree, d.arrival FROM documents d
      WHERE d.store = $1 AND d.id = wanted.id LIMIT 1) d
    """)
  /// The sizes of bodies from the winner's generation on, and of those that are too old after some edits: `$3` is
  /// ``BodySizes/firstKept(through:)``.
  static let bodySizesByID = Statement(
    """
    SELECT b.* FROM unnest($2::bytea[]) AS wanted(id)
    CROSS JOIN LATERAL (
      SELECT d.first, d.generation FROM documents d
      WHERE d.store = $1 AND d.id = wanted.id LIMIT 1) d
    CROSS JOIN LATERAL (
      SELECT \(size) FROM bodies b
      WHERE b.store = $1 AND b.first = d.first AND b.generation < d.generation + $3
      UNION ALL
      SELECT \(size) FROM bodies b
      WHERE b.store = $1 AND b.first = d.first AND b.generation >= d.generation) b
    """)
  private static let size = "b.first, b.generation, b.digest, length(b.body)::int8"
  static let bodySizesOfOne = Statement(
    """
    SELECT generation, digest, length(body)::int8 FROM bodies WHERE store = $1 AND first = $2
    """)

  fileprivate static let putDocument = Statement(
    into: "documents", key: ["store", "id"],
    [
      "sequence", "first", "generation", "digest", "is_deleted", "type", "created", "updated",
      "body_checksum", "tree_checksum", "checksum", "body", "tree", "arrival",
    ])
  static let removeDocument = Statement("DELETE FROM documents WHERE store = $1 AND id = $2")
  static let newest = Statement(
    "SELECT coalesce(max(sequence), 0)::int8 FROM documents WHERE store = $1")

  fileprivate static let putBody = Statement(
    into: "bodies", key: ["store", "first", "generation", "digest"],
    ["body_checksum", "body", "arrival"])
  static let removeBody = Statement(
    "DELETE FROM bodies WHERE store = $1 AND first = $2 AND generation = $3 AND digest = $4")

  fileprivate static let putPiece = Statement(
    into: "histories", key: ["store", "first", "generation"],
    ["checksum", "revisions"])
  static let removePiece = Statement(
    "DELETE FROM histories WHERE store = $1 AND first = $2 AND generation = $3")
  static let removePieces = Statement(
    "DELETE FROM histories WHERE store = $1 AND first = $2 AND generation < $3")

  static let someLocals = Statement(
    """
    SELECT revision, expires, checksum, body, id FROM locals WHERE store = $1 AND id = ANY($2)
    """)
  fileprivate static let putLocal = Statement(
    into: "locals", key: ["store", "id"],
    ["revision", "expires", "checksum", "body"])
  static let removeLocal = Statement("DELETE FROM locals WHERE store = $1 AND id = $2")
  static let removeExpired = Statement(
    """
    DELETE FROM locals WHERE store = $1 AND id = ANY(ARRAY(
      SELECT id FROM locals
      WHERE store = $1 AND expires IS NOT NULL AND expires <= $2 LIMIT $3))
    """)

  static let putIndex = Statement(
    into: "indexes", key: ["store", "name"], ["number", "sequence", "checksum"])
  static let removeIndex = Statement("DELETE FROM indexes WHERE store = $1 AND name = $2")
  static let newIndexNumber = Statement(
    "SELECT (coalesce(max(number), 0) + 1)::int8 FROM indexes WHERE store = $1")

  static let addEntries = Statement(
    """
    INSERT INTO entries(store, number, key, id, checksum, content)
    SELECT $1, $2, e.key, e.id, e.checksum, e.content
    FROM unnest($3::bytea[], $4::bytea[], $5::bigint[], $6::bytea[])
      AS e(key, id, checksum, content)
    """)
  // Looked up one by one: see ``documentsByID``.
  static let removeOfDocuments = Statement(
    """
    DELETE FROM entries WHERE (store, number, key, id) IN (
      SELECT e.* FROM unnest($3::bytea[]) AS wanted(id) CROSS JOIN LATERAL (
        SELECT store, number, key, id FROM entries
        WHERE store = $1 AND id = wanted.id AND number = $2 OFFSET 0) e)
    """)
  static let removeEntries = Statement("DELETE FROM entries WHERE store = $1 AND id = $2")
  static let removeSome = Statement(
    """
    DELETE FROM entries WHERE store = $1 AND number = $2 AND (key, id) IN (
      SELECT key, id FROM entries WHERE store = $1 AND number = $2 LIMIT $3)
    """)
  static let hasEntries = Statement(
    "SELECT 1::int8 FROM entries WHERE store = $1 AND number = $2 LIMIT 1")
}

/// The calls that write one row.
extension Call {
  /// Writes a document's row, in the place of the document's former row.
  static func putting(
    _ row: StoredDocument, body: StoredBody, tree: [UInt8]?, in store: Int64
  ) -> Call {
    Call(
      WriteTransaction.putDocument, .integer(store), .text(row.id.text), .integer(row.sequence),
      .integer(row.first), .integer(row.revision.generation), .text(row.revision.digest.text),
      .flag(row.isDeleted), .text(row.type), .integer(row.created), .integer(row.updated),
      .integer(row.bodyChecksum), .integer(row.treeChecksum),
      .integer(row.checksum(in: store).value), .bytes(body.bytes),
      tree.map { .bytes($0) } ?? .null, .filled(body.arrival.bytes))
  }

  /// Writes the body of a revision that is not the winner.
  /// - Parameter first: the document's key in the table of bodies.
  static func putting(
    _ body: StoredBody, of first: Int64, _ revision: RevisionID, in store: Int64
  ) -> Call {
    Call(
      WriteTransaction.putBody, .integer(store), .integer(first), .integer(revision.generation),
      .text(revision.digest.text), .integer(body.checksum), .bytes(body.bytes),
      .filled(body.arrival.bytes))
  }

  /// Writes a piece of a history.
  static func putting(_ stored: StoredPiece, of first: Int64, in store: Int64) -> Call {
    Call(
      WriteTransaction.putPiece, .integer(store), .integer(first),
      .integer(stored.piece.generation), .integer(stored.checksum), .bytes(stored.piece.bytes))
  }

  /// Writes a local document.
  static func putting(_ local: StoredLocal, _ id: LocalID, in store: Int64) -> Call {
    Call(
      WriteTransaction.putLocal, .integer(store), .text(id.text),
      .integer(local.document.revision), .integer(local.expires),
      .integer(local.checksum(of: id, in: store).value), .bytes(local.document.body))
  }
}
