import Documents
import Stores

/// How many rows a walk reads at once. The first page is small, because many queries stop early. The pages grow while
/// they have few bytes.
private struct PageSize {
  /// The number of rows of the first page, and of the largest.
  static let bounds = (first: 16, last: 256)
  /// Below this number of bytes, the next page is larger. Above twice this number, it is smaller.
  static let bytes = 512 << 10

  private(set) var rows = bounds.first

  mutating func grow(after bytes: Int) {
    if bytes < Self.bytes { rows = min(rows * 4, Self.bounds.last) }
    if bytes > 2 * Self.bytes { rows = max(rows / 4, 4) }
  }
}

extension DocumentRange {
  /// The lower bound of the ids.
  var lowest: Value { .text(start ?? "") }
  /// The upper bound, which is above all ids of the range. The byte 255 does not occur in UTF-8.
  var beyond: Value {
    guard let end else { return .bytes([0xFF]) }
    return .bytes(Array(end.utf8) + (includesEnd ? [0] : []))
  }
}

/// Walks over documents.
extension PostgresView {
  func documents(_ range: DocumentRange, _ visit: (Document) throws -> Bool) throws {
    var (rest, page) = (range, PageSize())
    while true {
      let rows = try source.rows(
        range.descending ? Self.downwards : Self.upwards, rest.lowest, rest.beyond,
        .flag(range.includesDeleted), .integer(page.rows)
      ).all
      var (bytes, last): (Int, DocumentID?) = (0, nil)
      for row in rows {
        let document = try StoredDocument(row, in: store)
          .document(row.bytes(StoredDocument.columnCount))
        guard try visit(document) else { return }
        bytes += document.body.count
        last = document.id
      }
      guard rows.count == page.rows, let last else { return }
      rest = rest.behind(last.text)
      page.grow(after: bytes)
    }
  }

  func changes(after sequence: Int64, limit: Int) throws -> [Change] {
    try changes(source.call(Self.changesAfter, .integer(sequence), .integer(max(limit, 0))))
  }

  func changes(upTo sequence: Int64, limit: Int) throws -> [Change] {
    try changes(source.call(Self.changesUpTo, .integer(sequence), .integer(max(limit, 0))))
  }

  func changes(ofType type: String, after sequence: Int64, limit: Int) throws -> [Change] {
    try source.repeatedRows(
      source.call(Self.changesOfType, .text(type), .integer(sequence), .integer(max(limit, 0)))
    ).all.map { try StoredDocument($0, in: store).change }
  }

  func changedDocuments(
    after sequence: Int64, limit: Int, _ visit: (Document) throws -> Bool
  ) throws {
    var (sequence, left, page) = (sequence, max(limit, 0), PageSize())
    while left > 0 {
      let rows = try source.rows(
        Self.changedAfter, .integer(sequence), .integer(min(left, page.rows))
      ).all
      var bytes = 0
      for row in rows {
        let head = try StoredDocument(row, in: store)
        let document = try head.document(row.bytes(StoredDocument.columnCount))
        guard try visit(document) else { return }
        bytes += document.body.count
        sequence = head.sequence
      }
      guard rows.count == min(left, page.rows) else { return }
      left -= rows.count
      page.grow(after: bytes)
    }
  }

  func changeCount(after sequence: Int64) throws -> Int64 {
    let header = try source.storeRow().header
    if sequence <= 0 { return header.live + header.deleted }
    if sequence >= header.newest { return 0 }
    return try source.rows(Self.countAfter, .integer(sequence)).first?.integer(0) ?? 0
  }

  func count(_ range: DocumentRange, among ids: Int) throws -> (count: Int, last: DocumentID?) {
    let row = try source.rows(
      range.descending ? Self.countDownwards : Self.countUpwards, range.lowest, range.beyond,
      .flag(range.includesDeleted), .integer(max(ids, 0))
    ).first
    guard let row, row.integer(0) > 0 else { return (0, nil) }
    let last = row.integer(0) == Int64(ids) ? row.text(2).map { DocumentID(stored: $0) } : nil
    return (Int(row.integer(1)), last)
  }

  private func changes(_ call: Call) throws -> [Change] {
    try source.rows(call).all.map { try StoredDocument($0, in: store).change }
  }

  private static let upwards = Statement(walk("ORDER BY d.id"))
  private static let downwards = Statement(walk("ORDER BY d.id DESC"))

  private static func walk(_ order: String) -> String {
    """
    SELECT \(StoredDocument.columns), d.body FROM documents d
    WHERE d.store = $1 AND d.id >= $2 AND d.id < $3 AND (NOT d.is_deleted OR $4)
    \(order) LIMIT $5
    """
  }

  private static let changesAfter = Statement(
    """
    SELECT \(StoredDocument.columns) FROM documents d WHERE d.store = $1 AND d.sequence > $2
    ORDER BY d.sequence LIMIT $3
    """)
  private static let changesUpTo = Statement(
    """
    SELECT \(StoredDocument.columns) FROM documents d WHERE d.store = $1 AND d.sequence <= $2
    ORDER BY d.sequence DESC LIMIT $3
    """)
  private static let changesOfType = Statement(
    """
    SELECT \(StoredDocument.columns) FROM documents d
    WHERE d.store = $1 AND substring(d.type from 1 for 256) = substring($2::bytea from 1 for 256)
      AND d.type = $2 AND NOT d.is_deleted AND d.type IS NOT NULL AND d.sequence > $3
    ORDER BY d.sequence LIMIT $4
    """)
  private static let changedAfter = Statement(
    """
    SELECT \(StoredDocument.columns), d.body FROM documents d
    WHERE d.store = $1 AND d.sequence > $2 ORDER BY d.sequence LIMIT $3
    """)
  private static let countAfter = Statement(
    "SELECT count(*) FROM documents WHERE store = $1 AND sequence > $2")

  private static let countUpwards = Statement(count("id", last: "id DESC"))
  private static let countDownwards = Statement(count("id DESC", last: "id"))

  /// Counts the ids among the first `$5` of the range and those of them that are wanted, and selects the last id.
  private static func count(_ order: String, last: String) -> String {
    """
    WITH page AS (
      SELECT id, is_deleted FROM documents WHERE store = $1 AND id >= $2 AND id < $3
      ORDER BY \(order) LIMIT $5)
    SELECT count(*), count(*) FILTER (WHERE NOT is_deleted OR $4),
      (SELECT id FROM page ORDER BY \(last) LIMIT 1) FROM page
    """
  }
}
