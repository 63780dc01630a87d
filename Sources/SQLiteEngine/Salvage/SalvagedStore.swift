import Documents
import SQLite
import StoreRecords
import Stores

/// The data of a store, read from the pages of its damaged file.
struct SalvagedStore {
  private var pages: SalvagedPages
  private let now: Timestamp
  /// The header; nil when it can't be read.
  private(set) var header: StoreHeader?
  /// The number of each document's newest row, by the document's id.
  private var newest: [[UInt8]: Int64] = [:]
  /// The local documents that match their checksums, after repair if necessary.
  private(set) var locals: [RowValues] = []
  /// The ids in the index of ids and the numbers of their rows; nil when the file has no such index.
  private var index: [[UInt8]: Int64]?
  /// Whether every page of the index could be read.
  private var isIndexWhole = false

  /// Creates a store that has not been read yet.
  init(_ pages: SalvagedPages, now: Timestamp) {
    self.pages = pages
    self.now = now
  }

  /// Whether no row could be read.
  var isEmpty: Bool { newest.isEmpty && locals.isEmpty && header == nil }

  /// Reads everything except bodies.
  mutating func read() throws {
    var (newest, locals, headers): ([[UInt8]: Int64], [RowValues], [[Record.Value]]) = ([:], [], [])
    var root: Int?
    pages.noteOverflow()
    try pages.visit { row in
      switch SalvagedRow(row) {
      case .document(let document, _):
        guard let document = Self.repaired(document, now) else { return }
        let (id, number) = (document.head.bytes(1), document.head.integer(0))
        newest[id] = max(newest[id] ?? .min, number)
      case .local(let local):
        if let repaired = local.isSound ? local : local.repaired() { locals.append(repaired) }
      case .header(let values): headers.append(values)
      case .root(name: "sqlite_autoindex_documents_1", let page): root = page
      case .body, .piece, .entry, .root, nil: break
      }
    }
    self.newest = newest
    self.locals = locals
    if let root {
      let (rows, isWhole) = pages.rows(below: root)
      index = Dictionary(
        rows.compactMap { row in
          guard row.values.count == 2, let id = row.values[0].bytes,
            let number = row.values[1].integer
          else { return nil }
          return (id, number)
        }, uniquingKeysWith: max)
      isIndexWhole = isWhole && !rows.isEmpty
    }
    header = headers.lazy.compactMap(StoreHeader.init(salvaged:)).max {
      $0.lastSequence < $1.lastSequence
    }
  }

  /// The document with its columns repaired if necessary; nil when they are lost.
  private static func repaired(_ found: DamagedDocument, _ now: Timestamp) -> DamagedDocument? {
    var document = found
    _ = document.repairHead(now: now)
    return document.head.isSound && document.head.document != nil ? document : nil
  }

  /// Writes the newest row of each document. If the index of ids is complete, rows that are not in it are left out:
  /// they were removed and are still visible on a page that is no longer used.
  mutating func writeDocuments(to rows: StoreRows) throws {
    let (newest, index, isIndexWhole, now) = (newest, index, isIndexWhole, now)
    try pages.visit { row in
      guard case .document(let found, let arrival)? = SalvagedRow(row),
        let document = Self.repaired(found, now), let stored = document.head.document,
        newest[document.head.bytes(1)] == stored.sequence
      else { return }
      if isIndexWhole, index?[document.head.bytes(1)] != stored.sequence { return }
      guard try rows.isAbsent(stored) else { return }
      let body = StoredBody(
        bytes: document.body.content, checksum: stored.bodyChecksum, arrival: arrival)
      try rows.insert(stored, body: body, tree: document.tree?.content)
    }
  }

  /// Writes the bodies of revisions that are not winners, and the pieces of histories.
  mutating func writeBodies(to rows: StoreRows) throws {
    try pages.visit { row in
      switch SalvagedRow(row) {
      case .body(let values, let number): try rows.insertBody(values, number: number)
      case .piece(let piece, let first): try rows.insert(piece, of: first)
      default: break
      }
    }
  }

  /// Whether the new rows match the old header's counts, no page is lost, and the old header has this epoch.
  func isWhole(_ counted: StoreHeader, epoch: String) -> Bool {
    guard let header, pages.unread.isEmpty else { return false }
    return header.live == counted.live && header.deleted == counted.deleted
      && header.bytes == counted.bytes && header.otherBodyBytes == counted.otherBodyBytes
      && header.newest == counted.newest && header.epoch.equalsBytes(of: epoch)
  }

  /// The ids that are in the index of ids but not among the new rows, in byte order.
  func lostIDs(among rows: StoreRows) throws -> [String] {
    try (index ?? [:]).keys.filter { id in
      guard let id = String(validating: id, as: UTF8.self) else { return false }
      return try rows.head(DocumentID(stored: id)) == nil
    }
    .sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
  }
}

extension StoreRows {
  /// Whether no row has the document's id or sequence number.
  fileprivate func isAbsent(_ document: StoredDocument) throws -> Bool {
    let taken = try connection.statement(
      "SELECT 1 FROM documents WHERE id = ?1 OR sequence = ?2 LIMIT 1"
    ).first(.text(document.id.text), .integer(document.sequence)) { _ in true }
    return taken == nil
  }

  /// Adds the body of a revision that is not the winner. Bodies that belong to no document are removed by
  /// ``recount(_:)``; the checksums of the others are verified when the store is checked later.
  fileprivate func insertBody(_ values: [Record.Value], number: Int64) throws {
    try make(.bodies)
    let arrival = values.count > 6 ? values[6].bytes : nil
    try connection.statement(
      """
      INSERT OR IGNORE INTO bodies(
        number, first, generation, digest, body_checksum, body, arrival)
      VALUES (?1, ?2, ?3, CAST(?4 AS TEXT), ?5, ?6, ?7)
      """
    ).run(
      .integer(number), .integer(values[1].integer ?? 0), .integer(values[2].integer ?? 0),
      .bytes(values[3].bytes ?? []), .integer(values[4].integer ?? 0),
      .bytes(values[5].bytes ?? []), arrival.map { .bytes($0) } ?? .null)
  }
}
