import Documents
import SQLite
import StoreRecords
import Stores

/// What the pages of a damaged store show, put in order.
struct SalvagedStore {
  private var pages: SalvagedPages
  private let now: Timestamp
  /// The header, where it can be read.
  private(set) var header: StoreHeader?
  /// The newest row of each document, by its id.
  private var newest: [[UInt8]: Int64] = [:]
  /// Local documents.
  private(set) var locals: [RowValues] = []
  /// The ids that the index of the ids has, with the numbers of their rows; nil where there is no such index.
  private var index: [[UInt8]: Int64]?
  /// Whether all of the index could be read.
  private var isIndexWhole = false

  /// Nothing read yet.
  init(_ pages: SalvagedPages, now: Timestamp) {
    self.pages = pages
    self.now = now
  }

  /// Whether there is no row.
  var isEmpty: Bool { newest.isEmpty && locals.isEmpty && header == nil }

  /// Reads what is there, but for bodies.
  mutating func read() throws {
    var (newest, locals, headers): ([[UInt8]: Int64], [RowValues], [[Record.Value]]) = ([:], [], [])
    var root: Int?
    pages.noteOverflow()
    try pages.visit { row in
      switch SalvagedRow(row) {
      case .document(let document, _):
        guard let document = Self.mended(document, now) else { return }
        let (id, number) = (document.head.bytes(1), document.head.integer(0))
        newest[id] = max(newest[id] ?? .min, number)
      case .local(let local):
        if let mended = local.isSound ? local : local.mended() { locals.append(mended) }
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

  /// The document with its columns computed back where that is possible; nil where they are lost.
  private static func mended(_ found: DamagedDocument, _ now: Timestamp) -> DamagedDocument? {
    var document = found
    _ = document.mendHead(now: now)
    return document.head.isSound && document.head.document != nil ? document : nil
  }

  /// Writes each document at its last change. One that the whole index of the ids does not know was removed: a page that
  /// holds nothing any more still showed it.
  mutating func writeDocuments(to rows: StoreRows) throws {
    let (newest, index, isIndexWhole, now) = (newest, index, isIndexWhole, now)
    try pages.visit { row in
      guard case .document(let found, let arrival)? = SalvagedRow(row),
        let document = Self.mended(found, now), let stored = document.head.document,
        newest[document.head.bytes(1)] == stored.sequence
      else { return }
      if isIndexWhole, index?[document.head.bytes(1)] != stored.sequence { return }
      guard try rows.isAbsent(stored) else { return }
      let body = StoredBody(
        bytes: document.body.content, checksum: stored.bodyChecksum, arrival: arrival)
      try rows.insert(stored, body: body, tree: document.tree?.content)
    }
  }

  /// Writes the bodies beside the winners' of the documents that are there, and the pieces of their histories.
  mutating func writeBodies(to rows: StoreRows) throws {
    try pages.visit { row in
      switch SalvagedRow(row) {
      case .body(let values, let number): try rows.insertBody(values, number: number)
      case .piece(let piece, let first): try rows.insert(piece, of: first)
      default: break
      }
    }
  }

  /// Whether the new rows are all that the old header counts, and no page is lost.
  func isWhole(_ counted: StoreHeader, epoch: String) -> Bool {
    guard let header, pages.unread.isEmpty else { return false }
    return header.live == counted.live && header.deleted == counted.deleted
      && header.bytes == counted.bytes && header.otherBodyBytes == counted.otherBodyBytes
      && header.newest == counted.newest && header.epoch.equalsBytes(of: epoch)
  }

  /// The ids that the index of the ids has and the new rows lack, in byte order.
  func lostIDs(among rows: StoreRows) throws -> [String] {
    try (index ?? [:]).keys.filter { id in
      guard let id = String(validating: id, as: UTF8.self) else { return false }
      return try rows.head(DocumentID(stored: id)) == nil
    }
    .sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
  }
}

extension StoreRows {
  /// Whether neither the id nor the number of a document is taken.
  fileprivate func isAbsent(_ document: StoredDocument) throws -> Bool {
    let taken = try connection.statement(
      "SELECT 1 FROM documents WHERE id = ?1 OR sequence = ?2 LIMIT 1"
    ).first(.text(document.id.text), .integer(document.sequence)) { _ in true }
    return taken == nil
  }

  /// Adds the row of a body beside a winner's. Those of no document go when the rows are counted; what the others say is
  /// checked when the store is looked through.
  fileprivate func insertBody(_ values: [Record.Value], number: Int64) throws {
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
