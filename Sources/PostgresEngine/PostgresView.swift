import Documents
import Scheduling
import Stores

/// A view of one state of a store for rules and queries. It reads rows from a ``RowSource``.
struct PostgresView: RowView {
  let source: any RowSource
  /// The present time, which decides whether a local document has expired.
  let now: Timestamp
  /// The documents that an update may change, as it has read them; nil outside updates.
  let loaded: LoadedDocuments?
  /// The size of the store, as far as it is known.
  let sizes: StoreSize
  /// The request that reads.
  private let work: Work?
  /// When the view was made, and how long its connection had waited by then.
  private let begun: (at: Int64, waited: Int64)

  /// Makes the view of a read, or of an update, that begins now.
  init(
    source: any RowSource, now: Timestamp, loaded: LoadedDocuments? = nil, sizes: StoreSize,
    work: Work?
  ) {
    (self.source, self.now, self.loaded, self.sizes) = (source, now, loaded, sizes)
    self.work = work
    begun = (SliceClock.now, source.waited)
  }

  var slice: Slice { Slice(of: work, from: begun.at, waited: source.waited - begun.waited) }

  /// The store's number, for checksums and statements.
  var store: Int64 { source.store }

  func document(_ id: DocumentID) throws -> Document? {
    if let known = try loaded?.loaded(id) { return try known.map { try $0.row.document($0.body) } }
    guard let row = try row(Self.documentByID, id) else { return nil }
    return try StoredDocument(row, in: store).document(row.bytes(StoredDocument.columnCount))
  }

  /// Always 0, because a store has no file.
  func fileBytes() throws -> Int64 { 0 }

  func holds(moreThan bytes: Int64) throws -> Bool { try sizes.exceeds(bytes, in: source) }

  func info() throws -> StoreInfo { try source.storeRow().info }

  private func row(_ statement: Statement, _ id: DocumentID) throws -> Row? {
    try source.rows(statement, .text(id.text)).first
  }

  // MARK: The rows of documents

  func found(_ id: DocumentID) throws -> LoadedDocuments.Found? {
    try row(Self.wholeByID, id).map { try LoadedDocuments.Found($0, in: store) }
  }

  func head(_ id: DocumentID) throws -> StoredDocument? {
    try row(Self.headByID, id).map { try StoredDocument($0, in: store) }
  }

  func history(_ id: DocumentID) throws -> (row: StoredDocument, newest: RevisionTree)? {
    guard let found = try row(Self.treeByID, id) else { return nil }
    let row = try StoredDocument(found, in: store)
    return (row, try row.tree(found.bytes(StoredDocument.columnCount)))
  }

  func pieces(of first: Int64) throws -> [StoredPiece] { try source.pieces(of: first) }

  func storedBody(of first: Int64, _ revision: RevisionID) throws -> StoredBody? {
    try source.body(of: first, revision)
  }

  func arrival(of first: Int64, _ revision: RevisionID) throws -> StoredArrival? {
    try source.rows(
      Self.arrivalOfBody, .integer(first), .integer(revision.generation),
      .text(revision.digest.text)
    ).first.map { StoredArrival(bytes: $0.bytes(0)) }
  }

  func bodyDigests(of first: Int64, generation: Int) throws -> [String] {
    try source.rows(Self.digests, .integer(first), .integer(generation))
      .all.map { $0.text(0) ?? "" }
  }

  func bodyBytes(of first: Int64) throws -> Int64 {
    try source.rows(Self.bodyBytes, .integer(first)).first?.integer(0) ?? 0
  }

  private static let documentByID = Statement(
    "SELECT \(StoredDocument.columns), d.body FROM documents d WHERE d.store = $1 AND d.id = $2")
  private static let treeByID = Statement(
    "SELECT \(StoredDocument.columns), d.tree FROM documents d WHERE d.store = $1 AND d.id = $2")
  private static let headByID = Statement(
    "SELECT \(StoredDocument.columns) FROM documents d WHERE d.store = $1 AND d.id = $2")
  /// A document with body, tree and arrival.
  static let wholeByID = Statement(
    """
    SELECT \(StoredDocument.columns), d.body, d.tree, d.arrival FROM documents d
    WHERE d.store = $1 AND d.id = $2
    """)
  private static let arrivalOfBody = Statement(
    """
    SELECT arrival FROM bodies
    WHERE store = $1 AND first = $2 AND generation = $3 AND digest = $4
    """)
  private static let digests = Statement(
    "SELECT digest FROM bodies WHERE store = $1 AND first = $2 AND generation = $3")
  private static let bodyBytes = Statement(
    """
    SELECT coalesce(sum(length(body)), 0)::int8 FROM bodies WHERE store = $1 AND first = $2
    """)
}
