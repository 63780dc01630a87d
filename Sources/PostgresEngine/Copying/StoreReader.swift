import Documents
import Stores

/// Reads the rows of one store in pages.
struct StoreReader: RowReader {
  /// Where pages are read.
  enum Source: Sendable {
    /// On the connections of the pool. Each page is of the state that the store has then.
    case pool(PostgresDatabase)
    /// In one transaction. All pages are of one state.
    case snapshot(LongSnapshot)
  }

  /// Where pages are read.
  let source: Source
  /// The store's number.
  let number: Int64
  /// What the store's row must say.
  let epoch: String
  /// What is left out, because it is damaged; nil to throw at the first damage.
  var leftOut: LeftOutRows?

  func state() async throws -> CopiedState {
    if let header = leftOut?.header { return CopiedState(header: header) }
    return try await reading { source in
      let row = try source.storeRow()
      var header = row.header
      header.epoch = row.info.epoch
      return CopiedState(header: header, mark: row.written)
    }
  }

  func documents(after sequence: Int64) async throws -> [CopiedDocument] {
    if let leftOut { return try await soundDocuments(after: sequence, leftOut) }
    return try await reading { source in
      let found = try source.rows(Self.documents(of: number, after: sequence)).all.map { row in
        try LoadedDocuments.Found(row, in: number)
      }
      let long = try found.filter { try $0.tree().older > 0 }.map(\.row.first)
      let pieces = try source.pieces(of: long)
      return try found.map { found in
        CopiedDocument(
          row: found.row, tree: try found.whole { pieces[$0] ?? [] }, body: found.content)
      }
    }
  }

  func bodies(of firsts: [Int64], after last: BodyKey?) async throws -> [CopiedBody] {
    let last = last.map { key in
      DamageSearch.BodyPlace(
        first: key.first, generation: Int64(key.revision.generation),
        digest: Array(key.revision.digest.text.utf8))
    }
    if let leftOut { return try await soundBodies(of: firsts, after: last, leftOut) }
    return try await reading { source in
      try source.rows(Self.bodies(of: firsts, in: number, after: last)).all.map(Self.body)
    }
  }

  /// Reads a row of a body.
  /// - Throws: `integrity`.
  static func body(_ row: Row) throws -> CopiedBody {
    guard let digest = row.text(2) else {
      throw ServiceError.integrity("the digest of a stored body is no text")
    }
    return CopiedBody(
      first: row.integer(0),
      revision: RevisionID(generation: Int(clamping: row.integer(1)), digest: digest),
      body: StoredBody(
        bytes: row.bytes(4), checksum: row.integer(3),
        arrival: StoredArrival(bytes: row.bytes(5))))
  }

  func locals(after last: LocalID?) async throws -> [CopiedLocal] {
    let last = Array((last?.text ?? "").utf8)
    if let leftOut { return try await soundLocals(after: last, leftOut) }
    return try await reading { source in
      try source.rows(Self.locals(of: number, after: last)).all.map {
        try Self.local($0, in: number)
      }
    }
  }

  /// Reads a row of a local document.
  /// - Throws: `integrity`.
  static func local(_ row: Row, in store: Int64) throws -> CopiedLocal {
    guard let text = row.text(4) else {
      throw ServiceError.integrity("the id of a local document is no text")
    }
    let id = LocalID(stored: text)
    let found = try StoredLocal(row, id, in: store)
    return CopiedLocal(id: id, document: found.document, expires: found.expires)
  }

  func checkIndexes() async throws {
    if try await reading({ source in try PostgresView.hasDamagedIndexes(in: source) }) {
      throw ServiceError.integrity("a row of an index fails its checksum, or leads to no document")
    }
  }

  func close() async {
    if case .snapshot(let snapshot) = source { await snapshot.close() }
  }

  func reading<Value: Sendable>(
    _ body: @escaping @Sendable (any RowSource) throws -> Value
  ) async throws -> Value {
    switch source {
    case .snapshot(let snapshot): return try await snapshot.reading(number, epoch: epoch, body)
    case .pool(let database):
      return try await database.reading { connection in
        let snapshot = Snapshot(of: number, epoch: epoch, on: connection)
        defer { snapshot.end() }
        return try body(snapshot)
      }
    }
  }

  // The statements. Each finds the next rows, and returns those before which the page had not all of its bytes. The
  // lengths of values are read without the values. A value that PostgreSQL can't read is empty, and fails its checksum.

  /// Finds the documents whose last change comes after a sequence number.
  static func documents(of store: Int64, after sequence: Int64) -> Call {
    Call(
      documents, .integer(store), .integer(sequence), .integer(RowPage.rows),
      .integer(RowPage.bytes))
  }

  /// Finds bodies of some documents, each by the sequence number of its first change.
  static func bodies(
    of firsts: [Int64], in store: Int64, after last: DamageSearch.BodyPlace?
  ) -> Call {
    Call(
      bodies, .integer(store), .integers(firsts), .integer(last?.first ?? .min),
      .integer(last?.generation ?? .min), .bytes(last?.digest ?? []), .integer(RowPage.rows),
      .integer(RowPage.bytes))
  }

  /// Finds the local documents after an id, given by its bytes.
  static func locals(of store: Int64, after id: [UInt8]) -> Call {
    Call(locals, .integer(store), .bytes(id), .integer(RowPage.rows), .integer(RowPage.bytes))
  }

  private static let documents = Statement(
    """
    SELECT \(StoredDocument.columns), readable(d.body), readable(d.tree), readable(d.arrival) FROM (
      SELECT p.*, sum(length(p.body) + coalesce(length(p.tree), 0)) OVER (
        ORDER BY p.sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS earlier
      FROM (
        SELECT * FROM documents WHERE store = $1 AND sequence > $2 ORDER BY sequence LIMIT $3) p) d
    WHERE coalesce(d.earlier, 0) < $4::int8 ORDER BY d.sequence
    """)
  private static let bodies = Statement(
    """
    SELECT b.first, b.generation, b.digest, b.body_checksum, readable(b.body), readable(b.arrival) FROM (
      SELECT p.*, sum(length(p.body)) OVER (
        ORDER BY p.first, p.generation, p.digest
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS earlier
      FROM (
        SELECT * FROM bodies
        WHERE store = $1 AND first = ANY($2) AND (first, generation, digest) > ($3, $4, $5)
        ORDER BY first, generation, digest LIMIT $6) p) b
    WHERE coalesce(b.earlier, 0) < $7::int8 ORDER BY b.first, b.generation, b.digest
    """)
  private static let locals = Statement(
    """
    SELECT l.revision, l.expires, l.checksum, readable(l.body), l.id FROM (
      SELECT p.*, sum(length(p.body)) OVER (
        ORDER BY p.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS earlier
      FROM (SELECT * FROM locals WHERE store = $1 AND id > $2 ORDER BY id LIMIT $3) p) l
    WHERE coalesce(l.earlier, 0) < $4::int8 ORDER BY l.id
    """)
}
