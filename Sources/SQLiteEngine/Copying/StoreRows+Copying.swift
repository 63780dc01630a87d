import Documents
import SQLite
import StoreRecords
import Stores

/// All rows of a store in pages, for a copy in another engine, and the rows of such a copy.
extension StoreRows {
  /// Documents whose last change comes after a sequence number, with their whole histories.
  /// - Throws: `integrity` for columns, a tree or a piece that fails its checksum.
  func copiedDocuments(after sequence: Int64) throws -> [CopiedDocument] {
    let statement = try connection.statement(
      StoredDocument.selected,
      ", body, tree, arrival FROM documents WHERE sequence > ?1 ORDER BY sequence LIMIT ?2")
    try statement.bind(sequence, at: 1)
    try statement.bind(Int64(RowPage.rows), at: 2)
    defer { statement.reset() }
    var (documents, bytes): ([CopiedDocument], Int) = ([], 0)
    while bytes < RowPage.bytes, try statement.step() {
      let (row, content) = try StoredDocument.reading(statement.row).withContent()
      let encoded = statement.row.bytes(13)
      let body = StoredBody(
        bytes: content, checksum: row.bodyChecksum,
        arrival: StoredArrival(bytes: statement.row.bytes(14)))
      let tree = try row.whole(row.tree(encoded)) { try pieces(of: row.first) }
      documents.append(CopiedDocument(row: row, tree: tree, body: body))
      bytes += body.bytes.count + encoded.count
    }
    return documents
  }

  /// Bodies of some documents, by document, generation and digest. Their checksums are not verified.
  /// - Throws: `integrity` for a digest that is not text.
  func copiedBodies(of firsts: [Int64], after last: BodyKey?) throws -> [CopiedBody] {
    var (bodies, bytes): ([CopiedBody], Int) = ([], 0)
    guard try has(.bodies) else { return [] }
    for first in firsts.sorted() where first >= last?.first ?? .min {
      let start = first == last?.first ? last?.revision : nil
      let statement = try connection.statement(
        """
        SELECT generation, digest, body_checksum, body, arrival FROM bodies
        WHERE first = ?1 AND (generation, digest) > (?2, ?3) ORDER BY generation, digest
        """)
      try statement.bind(first, at: 1)
      try statement.bind(Int64(start?.generation ?? 0), at: 2)
      try statement.bind(start?.digest.text ?? "", at: 3)
      defer { statement.reset() }
      while try statement.step() {
        guard bodies.count < RowPage.rows, bytes < RowPage.bytes else { return bodies }
        let row = statement.row
        guard let digest = try? row.string(1) else {
          throw ServiceError.integrity("the digest of a stored body is no text")
        }
        let body = StoredBody(
          bytes: row.bytes(3), checksum: row.int64(2), arrival: StoredArrival(bytes: row.bytes(4)))
        let revision = RevisionID(generation: Int(row.int64(0)), digest: digest)
        bodies.append(CopiedBody(first: first, revision: revision, body: body))
        bytes += body.bytes.count
      }
    }
    return bodies
  }

  /// Local documents, expired ones included, in byte order of their ids.
  /// - Throws: `integrity` for an id that is not text, and for a document that fails its checksum.
  func copiedLocals(after last: LocalID?) throws -> [CopiedLocal] {
    guard try has(.locals) else { return [] }
    let statement = try connection.statement(
      """
      SELECT id, revision, expires, checksum, body FROM locals WHERE id > ?1 ORDER BY id LIMIT ?2
      """)
    try statement.bind(last?.text ?? "", at: 1)
    try statement.bind(Int64(RowPage.rows), at: 2)
    defer { statement.reset() }
    var (locals, bytes): ([CopiedLocal], Int) = ([], 0)
    while bytes < RowPage.bytes, try statement.step() {
      let row = statement.row
      guard let text = try? row.string(0) else {
        throw ServiceError.integrity("the id of a local document is no text")
      }
      let local = CopiedLocal(
        id: LocalID(stored: text),
        document: LocalDocument(revision: row.int64(1), body: row.bytes(4)),
        expires: row.isNull(2) ? nil : row.int64(2))
      let sum = Self.checksum(local.id, local.document, expires: local.expires)
      guard sum.matches(row.int64(3)) else {
        throw ServiceError.integrity("a local document fails its checksum")
      }
      locals.append(local)
      bytes += local.document.body.count
    }
    return locals
  }

  /// Inserts the rows of a page, in the caller's transaction. Long histories are divided into pieces.
  func insert(_ page: RowPage) throws {
    switch page {
    case .documents(let documents):
      for document in documents {
        let newest = try writeHistory(
          document.tree, of: document.row.id, document.row.first, replacing: nil)
        let (row, tree) = document.encoded(with: newest)
        try insert(row, body: document.body, tree: tree)
      }
    case .bodies(let bodies):
      for body in bodies {
        _ = try insert(body.body, of: body.first, body.revision, replacing: nil)
      }
    case .locals(let locals):
      for local in locals { try apply(local.edit) }
    }
  }
}
