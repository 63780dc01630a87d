import Documents
import Stores

/// A store's rows as they are stored, verified or not, and their repair.
///
/// The number of a row of `bodies` is its place in the table (`ctid`). Nobody else changes it while the transaction has the
/// lock on the store's row; a row that the transaction itself replaces gets another one.
extension WriteTransaction: RepairTables {
  /// The offset of a row in its page takes so many bits of a place.
  private static let offsetBits: Int64 = 16

  func damagedDocument(at number: Int64) throws -> DamagedDocument? {
    let row = try rows(Self.documentAt, .integer(number)).first
    guard let row else { return nil }
    let body = StoredDocument.columnCount
    let head = RowValues(
      kind: .head,
      values: [
        .integer(row.integer(0)), .text(row.bytes(1)), .integer(row.integer(2)),
        .integer(row.integer(3)), .text(row.bytes(4)), .integer(row.flag(5) ? 1 : 0),
        .optionalText(row.isNull(6) ? nil : row.bytes(6)), .integer(row.integer(7)),
        .integer(row.integer(8)), .integer(row.integer(9)),
        .optionalInteger(row.optionalInteger(10)), .integer(store),
      ], checksum: row.integer(11))
    return DamagedDocument(
      head: head, body: RowValues(kind: .body, values: [], content: row.bytes(body), checksum: 0),
      tree: row.isNull(body + 1)
        ? nil : RowValues(kind: .tree, values: [], content: row.bytes(body + 1), checksum: 0),
      others: try bodiesAsFound(of: head.integer(2), id: head.text(1)))
  }

  func bodiesAsFound(of first: Int64, id: String) throws -> [(number: Int64, row: RowValues)] {
    try rows(Self.bodiesAt, .integer(first)).all.map { row in
      (
        row.integer(0),
        RowValues(
          kind: .body,
          values: [.text(Array(id.utf8)), .integer(row.integer(1)), .text(row.bytes(2))],
          content: row.bytes(4), checksum: row.integer(3))
      )
    }
  }

  func replace(_ number: Int64, with document: DamagedDocument) throws {
    guard let row = document.head.document else { return }
    let arrival = try rows(Self.documentAt, .integer(number)).first?.bytes(
      StoredDocument.columnCount + 2)
    try takeOutUnremovable(at: number)
    repair(call(Self.removeAt, .integer(number)))
    let others = try rows(Self.sameAs, .text(row.id.text), .integer(row.sequence))
    guard others.count == 0 else {
      throw ServiceError.damaged("the row of change \(number) is another document's")
    }
    let body = StoredBody(
      bytes: document.body.content, checksum: row.bodyChecksum,
      arrival: StoredArrival(bytes: arrival ?? []))
    repair(.putting(row, body: body, tree: document.tree?.content, in: store))
    for (place, other) in document.others where other.isSound {
      guard let revision = other.revision else { continue }
      repair(
        call(
          Self.putBodyAt, Self.place(place), .integer(revision.generation),
          .text(revision.digest.text), .integer(other.checksum), .bytes(other.content)))
    }
  }

  /// Also removes the document from all indexes, as far as its id can be read.
  func removeRow(at number: Int64) throws {
    repair(call(Self.removeEntriesAt, .integer(number)))
    try takeOutUnremovable(at: number)
    repair(call(Self.removeAt, .integer(number)))
  }

  func takeOutUnremovable(at number: Int64) throws {
    repair(call(Self.takeOutAt, .integer(number)))
  }

  func removeBody(at number: Int64) throws {
    repair(call(Self.takeOutBodyAt, Self.place(number)))
    repair(call(Self.removeBodyAt, Self.place(number)))
  }

  func arrivalsAsFound(of document: StoredDocument) throws -> [ArrivalFound] {
    let winner = try rows(Self.documentAt, .integer(document.sequence)).first.map { row in
      ArrivalFound(
        number: document.sequence, isWinner: true, revision: document.revision,
        arrival: StoredArrival(bytes: row.bytes(StoredDocument.columnCount + 2)))
    }
    let others = try rows(Self.bodiesAt, .integer(document.first)).all.map {
      row in
      ArrivalFound(
        number: row.integer(0), isWinner: false,
        revision: RevisionID(
          generation: Int(clamping: row.integer(1)), digest: row.text(2) ?? ""),
        arrival: StoredArrival(bytes: row.bytes(5)))
    }
    return (winner.map { [$0] } ?? []) + others
  }

  func put(_ arrival: StoredArrival, for found: ArrivalFound) throws {
    repair(
      found.isWinner
        ? call(Self.putArrivalAt, .integer(found.number), .filled(arrival.bytes))
        : call(Self.putBodyArrivalAt, Self.place(found.number), .filled(arrival.bytes)))
  }

  func newestHistory(of id: DocumentID) throws -> (row: StoredDocument, newest: RevisionTree)? {
    let row = try rows(Self.documentLike, .text(id.text)).first
    return try row.map { row in
      let found = try LoadedDocuments.Found(row, in: store)
      return (found.row, try found.tree())
    }
  }

  func replaceHistory(of row: StoredDocument, with tree: [UInt8]) throws {
    repair(
      call(
        Self.putTreeAt, .integer(row.sequence), .bytes(tree), .integer(row.treeChecksum),
        .integer(row.checksum(in: store).value)))
  }

  private static func place(_ number: Int64) -> Value {
    .text("(\(number >> offsetBits),\(number & (1 << offsetBits - 1)))")
  }
}

extension WriteTransaction {
  private static let documentAt = Statement(document(by: "sequence"))
  private static let documentLike = Statement(document(by: "id"))
  private static func document(by key: String) -> String {
    """
    SELECT \(StoredDocument.columns), readable(d.body), readable(d.tree), readable(d.arrival)
    FROM documents d WHERE d.store = $1 AND d.\(key) = $2
    """
  }
  private static let bodiesAt = Statement(
    """
    SELECT (ctid::text::point)[0]::int8 << 16 | (ctid::text::point)[1]::int8, generation, digest,
      body_checksum, readable(body), readable(arrival)
    FROM bodies WHERE store = $1 AND first = $2
    """)
  private static let sameAs = Statement(
    """
    SELECT 1::int8 FROM documents WHERE store = $1 AND id = $2 UNION ALL
    SELECT 1::int8 FROM documents WHERE store = $1 AND sequence = $3
    """)
  private static let removeAt = Statement(
    "DELETE FROM documents WHERE store = $1 AND sequence = $2")
  /// Gives a row to store 0, which no one reads, if a value of it can't be read: PostgreSQL would look for the value to
  /// remove it, and refuse.
  static func takingOut(
    _ table: String, _ values: [String], _ key: String, _ place: String
  ) -> String {
    let unreadable = values.map { "length(\($0)) > 0 AND length(readable(\($0))) = 0" }
    return """
      UPDATE \(table) SET store = 0, \(key)
      WHERE store = $1 AND \(place) AND (\(unreadable.joined(separator: " OR ")))
      """
  }
  private static let takeOutAt = Statement(
    takingOut(
      "documents", ["body", "tree", "arrival"],
      "id = uuid_send(gen_random_uuid()), sequence = (random() * 9e18)::int8", "sequence = $2"))
  private static let takeOutBodyAt = Statement(
    takingOut(
      "bodies", ["body", "arrival"], "digest = uuid_send(gen_random_uuid())",
      "ctid = convert_from($2, 'UTF8')::tid"))
  private static let removeEntriesAt = Statement(
    """
    DELETE FROM entries WHERE store = $1
      AND id = (SELECT id FROM documents WHERE store = $1 AND sequence = $2)
    """)
  private static let removeBodyAt = Statement(
    "DELETE FROM bodies WHERE store = $1 AND ctid = convert_from($2, 'UTF8')::tid")
  private static let putBodyAt = Statement(
    """
    UPDATE bodies SET generation = $3, digest = $4, body_checksum = $5, body = $6
    WHERE store = $1 AND ctid = convert_from($2, 'UTF8')::tid
    """)
  private static let putArrivalAt = Statement(
    "UPDATE documents SET arrival = $3 WHERE store = $1 AND sequence = $2")
  private static let putBodyArrivalAt = Statement(
    """
    UPDATE bodies SET arrival = $3
    WHERE store = $1 AND ctid = convert_from($2, 'UTF8')::tid
    """)
  private static let putTreeAt = Statement(
    """
    UPDATE documents SET tree = $3, tree_checksum = $4, checksum = $5
    WHERE store = $1 AND sequence = $2
    """)
}
