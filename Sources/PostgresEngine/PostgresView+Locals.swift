import Documents
import Stores

/// Local documents: the table `locals`.
extension PostgresView {
  /// How many rows one statement reads.
  private static let rowsAtOnce = 100

  func local(_ id: LocalID) throws -> LocalDocument? { try source.local(id)?.document(at: now) }

  func allLocals(_ range: DocumentRange, _ visit: (LocalID, LocalDocument?) throws -> Bool) throws {
    var rest = range
    while true {
      let rows = try source.rows(
        range.descending ? Self.localsDown : Self.localsUp, rest.lowest, rest.beyond,
        .integer(Self.rowsAtOnce)
      ).all
      for row in rows {
        guard let text = row.text(4) else {
          throw ServiceError.integrity("the id of a local document is no text")
        }
        rest = rest.behind(text)
        let id = LocalID(stored: text)
        let found = try unlessDamaged { try StoredLocal(row, id, in: store) }
        guard found?.isOver(at: now) != true else { continue }
        guard try visit(id, found?.document) else { return }
      }
      guard rows.count == Self.rowsAtOnce else { return }
    }
  }

  func localUsage(of prefix: String) throws -> (count: Int64, bytes: Int64) {
    // "0" is the next byte after "/". The ids from `prefix`, which ends with "/", up to that are those with the prefix.
    let row = try source.rows(
      Self.localUsage, .text(prefix), .text(prefix.dropLast() + "0"), .integer(now.milliseconds)
    ).first
    return (row?.integer(0) ?? 0, row?.integer(1) ?? 0)
  }

  func expiredLocals(at moment: Timestamp, limit: Int) throws -> [LocalID] {
    try source.rows(Self.expired, .integer(moment.milliseconds), .integer(max(limit, 0))).all.map {
      row in
      guard let text = row.text(0) else {
        throw ServiceError.integrity("the id of a local document is no text")
      }
      return LocalID(stored: text)
    }
  }

  // MARK: Indexes: the tables `indexes` and `entries`

  func indexedSequence(_ index: IndexID) throws -> Int64? {
    guard let found = try Self.index(index, in: source) else { return nil }
    return found.sequence < 0 ? nil : found.sequence
  }

  func indexes() throws -> [IndexID] {
    try source.rows(Self.indexNames).all.map { row in
      guard let name = row.text(0) else {
        throw ServiceError.integrity("the name of an index is no text")
      }
      return IndexID(name)
    }
  }

  func entries(_ index: IndexID, _ range: IndexRange, _ visit: (IndexEntry) throws -> Bool) throws {
    guard let number = try Self.index(index, in: source)?.number else { return }
    var rest = range
    while true {
      let rows = try source.rows(Self.entries(number, rest, in: store)).all
      for row in rows {
        guard let text = row.text(1) else {
          throw ServiceError.integrity("an entry of an index has no text for its document's id")
        }
        let (key, id) = (row.bytes(0), DocumentID(stored: text))
        let content = row.isNull(3) ? nil : row.bytes(3)
        // An entry with another id would leave its document out of the answer.
        guard Self.checksum(number, key, id, content, in: store).matches(row.integer(2)) else {
          throw ServiceError.integrity("an entry of an index fails its checksum")
        }
        let entry = IndexEntry(id: id, key: key, content: range.wantsContent ? content : nil)
        guard try visit(entry) else { return }
        if range.descending { rest.end = key } else { rest.start = key }
        rest.id = text
      }
      guard rows.count == Self.rowsAtOnce else { return }
    }
  }

  /// The number of an index, and the sequence number up to which it is built; nil if there is no such index.
  /// - Throws: `integrity`.
  static func index(
    _ index: IndexID, in source: any RowSource
  ) throws -> (number: Int64, sequence: Int64)? {
    let row = try source.rows(indexByName, .text(index.text)).first
    guard let row else { return nil }
    let found = (number: row.integer(0), sequence: row.integer(1))
    guard
      checksum(index, found.number, found.sequence, in: source.store).matches(row.integer(2))
    else { throw ServiceError.integrity("what is known of an index fails its checksum") }
    return found
  }

  /// The checksum of an index's row.
  static func checksum(
    _ index: IndexID, _ number: Int64, _ sequence: Int64, in store: Int64
  ) -> Checksum {
    var checksum = Checksum(.index)
    checksum.append(number)
    checksum.append(index.text)
    checksum.append(sequence)
    checksum.append(store)
    return checksum
  }

  /// The checksum of an entry's row.
  static func checksum(
    _ number: Int64, _ key: [UInt8], _ id: DocumentID, _ content: [UInt8]?, in store: Int64
  ) -> Checksum {
    var checksum = Checksum(.indexEntry)
    checksum.append(number)
    checksum.append(bytes: key)
    checksum.append(id.text)
    checksum.append(optionalBytes: content)
    checksum.append(store)
    return checksum
  }

  /// The call that reads the next page of a range. No id is empty, so that "" sorts before all entries of a key.
  private static func entries(_ number: Int64, _ range: IndexRange, in store: Int64) -> Call {
    let start = Value.bytes(range.start)
    let startID = Value.text(range.descending ? "" : range.id)
    guard let end = range.end else {
      return Call(
        range.descending ? entriesDown : entriesUp, .integer(store), .integer(number), start,
        startID, .integer(rowsAtOnce))
    }
    return Call(
      range.descending ? entriesDownTo : entriesUpTo, .integer(store), .integer(number), start,
      startID, .integer(rowsAtOnce), .bytes(end), .text(range.descending ? range.id : ""))
  }

  private static let localsUp = Statement(locals("id"))
  private static let localsDown = Statement(locals("id DESC"))

  private static func locals(_ order: String) -> String {
    """
    SELECT revision, expires, checksum, body, id FROM locals
    WHERE store = $1 AND id >= $2 AND id < $3 ORDER BY \(order) LIMIT $4
    """
  }

  private static let localUsage = Statement(
    """
    SELECT count(*), coalesce(sum(length(body)), 0)::int8 FROM locals
    WHERE store = $1 AND id >= $2 AND id < $3 AND (expires IS NULL OR expires > $4)
    """)
  private static let expired = Statement(
    """
    SELECT id FROM locals WHERE store = $1 AND expires IS NOT NULL AND expires <= $2 LIMIT $3
    """)
  private static let indexByName = Statement(
    "SELECT number, sequence, checksum FROM indexes WHERE store = $1 AND name = $2")
  private static let indexNames = Statement(
    "SELECT name FROM indexes WHERE store = $1 ORDER BY name")

  private static let entriesUp = Statement(entries("key, id"))
  private static let entriesDown = Statement(entries("key DESC, id DESC"))
  private static let entriesUpTo = Statement(entries("key, id", "AND (key, id) < ($6, $7)"))
  private static let entriesDownTo = Statement(
    entries("key DESC, id DESC", "AND (key, id) < ($6, $7)"))

  private static func entries(_ order: String, _ end: String = "") -> String {
    """
    SELECT key, id, checksum, content FROM entries
    WHERE store = $1 AND number = $2 AND (key, id) > ($3, $4) \(end) ORDER BY \(order) LIMIT $5
    """
  }
}

/// A row of `locals`.
struct StoredLocal {
  /// The document, expired or not.
  let document: LocalDocument
  /// When the document expires, in milliseconds since 1970; nil for never.
  let expires: Int64?

  /// Creates a row to write.
  init(_ document: LocalDocument, expires: Int64?) {
    self.document = document
    self.expires = expires
  }

  /// Reads the columns revision, expiry, checksum and body.
  /// - Parameter start: the index of the first of these columns.
  /// - Throws: `integrity`.
  init(_ row: Row, at start: Int = 0, _ id: LocalID, in store: Int64) throws {
    document = LocalDocument(revision: row.integer(start), body: row.bytes(start + 3))
    expires = row.optionalInteger(start + 1)
    guard checksum(of: id, in: store).matches(row.integer(start + 2)) else {
      throw ServiceError.integrity("a local document fails its checksum")
    }
  }

  /// The document; nil if it has expired at `now`.
  func document(at now: Timestamp) -> LocalDocument? { isOver(at: now) ? nil : document }

  /// Whether the document has expired.
  func isOver(at now: Timestamp) -> Bool { expires.map { $0 <= now.milliseconds } ?? false }

  /// The checksum of the row.
  func checksum(of id: LocalID, in store: Int64) -> Checksum {
    var checksum = Checksum(.local)
    checksum.append(id.text)
    checksum.append(document.revision)
    checksum.append(expires)
    checksum.append(store)
    checksum.content = document.body
    return checksum
  }
}
