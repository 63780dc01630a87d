import Documents
import SQLite
import Stores

/// The table `locals`: the local documents, which are never replicated.
extension StoreRows {
  /// The most expired local documents that one update removes, so that no single update removes a large backlog.
  static let expiredAtOnce = 100

  /// The number of ids of local documents that one statement reads.
  private static let idsAtOnce = 100

  /// The checksum of a local document's row.
  static func checksum(_ id: LocalID, _ document: LocalDocument, expires: Int64?) -> Checksum {
    var checksum = Checksum(.local)
    checksum.append(id.text)
    checksum.append(document.revision)
    checksum.append(expires)
    checksum.content = document.body
    return checksum
  }

  /// A local document; nil when it does not exist or has expired at `now`.
  /// - Throws: `integrity` when it fails its checksum.
  func local(_ id: LocalID, at now: Timestamp) throws -> LocalDocument? {
    guard try has(.locals) else { return nil }
    let found = try connection.statement(
      "SELECT revision, expires, checksum, body FROM locals WHERE id = ?1"
    ).first(.text(id.text)) { row in
      (
        document: LocalDocument(revision: row.int64(0), body: row.bytes(3)),
        expires: row.isNull(1) ? nil : row.int64(1), checksum: row.int64(2)
      )
    }
    guard let found else { return nil }
    guard Self.checksum(id, found.document, expires: found.expires).matches(found.checksum) else {
      throw ServiceError.integrity("a local document fails its checksum")
    }
    if let expires = found.expires, expires <= now.milliseconds { return nil }
    return found.document
  }

  /// Visits the local documents of a range that have not expired at `now`, until `visit` returns false. A document that
  /// fails its checksum is nil.
  /// - Throws: `integrity` for an id that is not text.
  func walkLocals(
    _ range: DocumentRange, at now: Timestamp,
    _ visit: (LocalID, LocalDocument?) throws -> Bool
  ) throws {
    var rest = range
    while true {
      let ids = try localIDs(rest)
      for text in ids {
        guard let text else {
          throw ServiceError.integrity("the id of a local document is no text")
        }
        guard rest.contains(text) else { continue }
        let id = LocalID(stored: text)
        // The outer nil is one that can't be read, the inner one that has expired.
        let found = try unlessDamaged { try .some(local(id, at: now)) }
        if case .some(.none) = found { continue }
        guard try visit(id, found ?? nil) else { return }
      }
      guard ids.count == Self.idsAtOnce, case .some(.some(let last)) = ids.last else { return }
      rest = rest.behind(last)
    }
  }

  /// The first ids of a range; nil for an id that is not text. The excluded far end may be among them.
  private func localIDs(_ range: DocumentRange) throws -> [String?] {
    guard try has(.locals) else { return [] }
    return try connection.statement(
      "SELECT id FROM locals WHERE id >= ?1 AND id <= ?2",
      range.descending ? "ORDER BY id DESC LIMIT ?3" : "ORDER BY id LIMIT ?3"
    ).all(
      .text(range.start ?? ""), range.end.map { .text($0) } ?? .bytes([]),
      .integer(Self.idsAtOnce)
    ) { row in try? row.string(0) }
  }

  /// Writes or removes a local document.
  func apply(_ edit: LocalEdit) throws {
    guard let document = edit.document else {
      guard try has(.locals) else { return }
      try connection.run("DELETE FROM locals WHERE id = ?1", .text(edit.id.text))
      return
    }
    try make(.locals)
    let expires = edit.expires?.milliseconds
    try connection.run(
      """
      INSERT OR REPLACE INTO locals(id, revision, expires, checksum, body)
      VALUES (?1, ?2, ?3, ?4, ?5)
      """,
      .text(edit.id.text), .integer(document.revision), expires.map { .integer($0) } ?? .null,
      .integer(Self.checksum(edit.id, document, expires: expires).value), .bytes(document.body))
  }

  /// Removes at most ``expiredAtOnce`` of the local documents that have expired at `now`.
  func removeExpiredLocals(at now: Timestamp) throws {
    guard try has(.locals) else { return }
    try connection.run(
      """
      DELETE FROM locals WHERE id IN (
        SELECT id FROM locals WHERE expires IS NOT NULL AND expires <= ?1 LIMIT ?2)
      """,
      .integer(now.milliseconds), .integer(Self.expiredAtOnce))
  }
}
