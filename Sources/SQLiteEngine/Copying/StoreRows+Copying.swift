import Documents
import SQLite
import Stores

/// All rows of a store in pages, for a copy in another engine, and the rows of such a copy.
extension StoreRows {
  /// Documents whose last change comes after a sequence number, with their whole histories.
  /// - Throws: `integrity` for columns, a tree or a piece that fails its checksum.
  func copiedDocuments(after sequence: Int64) throws -> [CopiedDocument] {
    var (documents, bytes): ([CopiedDocument], Int) = ([], 0)
    try connection.statement(
      StoredDocument.selected,
      ", body, tree, arrival FROM documents WHERE sequence > ?1 ORDER BY sequence LIMIT ?2"
    ).visit(.integer(sequence), .integer(RowPage.rows)) { row in
      let (document, content) = try StoredDocument.reading(row).withContent()
      let (encoded, arrival) = (row.bytes(13), StoredArrival(bytes: row.bytes(14)))
      let body = StoredBody(bytes: content, checksum: document.bodyChecksum, arrival: arrival)
      let tree = try document.whole(document.tree(encoded)) { try pieces(of: document.first) }
      documents.append(CopiedDocument(row: document, tree: tree, body: body))
      bytes += body.bytes.count + encoded.count
      return bytes < RowPage.bytes
    }
    return documents
  }

  /// Bodies of some documents, by document, generation and digest. Their checksums are not verified.
  /// - Throws: `integrity` for a digest that is not text.
  func copiedBodies(of firsts: [Int64], after last: BodyKey?) throws -> [CopiedBody] {
    var (bodies, bytes): ([CopiedBody], Int) = ([], 0)
    guard try has(.bodies) else { return [] }
    var isFull: Bool { bodies.count >= RowPage.rows || bytes >= RowPage.bytes }
    for first in firsts.sorted() where !isFull && first >= last?.first ?? .min {
      let start = first == last?.first ? last?.revision : nil
      try connection.statement(
        """
        SELECT generation, digest, body_checksum, body, arrival FROM bodies
        WHERE first = ?1 AND (generation, digest) > (?2, ?3) ORDER BY generation, digest
        """
      ).visit(
        .integer(first), .integer(start?.generation ?? 0), .text(start?.digest.text ?? "")
      ) { row in
        guard let digest = try? row.string(1) else {
          throw ServiceError.integrity("the digest of a stored body is no text")
        }
        let body = StoredBody(
          bytes: row.bytes(3), checksum: row.int64(2), arrival: StoredArrival(bytes: row.bytes(4)))
        let revision = RevisionID(generation: Int(row.int64(0)), digest: digest)
        bodies.append(CopiedBody(first: first, revision: revision, body: body))
        bytes += body.bytes.count
        return !isFull
      }
    }
    return bodies
  }

  /// Local documents, expired ones included, in byte order of their ids.
  /// - Throws: `integrity` for an id that is not text, and for a document that fails its checksum.
  func copiedLocals(after last: LocalID?) throws -> [CopiedLocal] {
    guard try has(.locals) else { return [] }
    var (locals, bytes): ([CopiedLocal], Int) = ([], 0)
    try connection.statement(
      "SELECT id, revision, expires, checksum, body FROM locals WHERE id > ?1 ORDER BY id LIMIT ?2"
    ).visit(.text(last?.text ?? ""), .integer(RowPage.rows)) { row in
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
      return bytes < RowPage.bytes
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
