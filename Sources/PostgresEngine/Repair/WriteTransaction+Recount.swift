import Documents
import Stores

/// Repairing rows that do not belong to documents.
extension WriteTransaction {
  /// How many rows one statement removes, as in an erasure.
  private static let rowsAtOnce = 1_000
  /// A repair computes for seconds between two statements.
  static let longIdle = Statement(
    "SELECT set_config('idle_in_transaction_session_timeout', '120s', true)")

  /// Repairs a local document, or removes it.
  /// - Parameter id: the bytes of the id, as found.
  func repairLocal(_ id: [UInt8], _ repair: inout DocumentRepair<WriteTransaction>) throws {
    let row = try rows(Self.localAt, .bytes(id)).first
    guard let row else { return }
    let found = RowValues(
      kind: .local,
      values: [
        .text(id), .integer(row.integer(0)), .optionalInteger(row.optionalInteger(1)),
        .integer(store),
      ], content: row.bytes(3), checksum: row.integer(2))
    guard !found.isSound else { return }
    let repaired = found.repaired().flatMap { $0.values.last == found.values.last ? $0 : nil }
    guard repaired != nil || repair.extent == .everything else {
      repair.outcome.left += 1
      return
    }
    self.repair(call(Self.takeOutLocalAt, .bytes(id)))
    self.repair(call(Self.removeLocalAt, .bytes(id)))
    guard let repaired, let text = String(validating: repaired.bytes(0), as: UTF8.self) else {
      repair.outcome.dropped += 1
      return
    }
    var expires: Int64?
    if case .optionalInteger(let end) = repaired.values[2] { expires = end }
    let document = LocalDocument(revision: repaired.integer(1), body: repaired.content)
    self.repair(.putting(StoredLocal(document, expires: expires), LocalID(stored: text), in: store))
    repair.outcome.repaired += 1
  }

  /// Removes all indexes. Queries build them again.
  func removeIndexes() throws {
    let removal = call(Self.removeSomeEntries, .integer(Self.rowsAtOnce))
    while try rows(removal).affected >= Self.rowsAtOnce {}
    repair(call(Self.removeAllIndexes))
  }

  /// Counts all rows again, because damaged rows may have been counted wrongly. Also removes bodies and pieces of
  /// histories that belong to no document.
  func recount(_ header: inout StoreHeader) throws {
    repair(call(Self.removeStrayBodies))
    repair(call(Self.removeStrayPieces))
    guard let row = try rows(Self.counts).first else { return }
    (header.live, header.deleted) = (row.integer(0), row.integer(1))
    (header.bytes, header.newest) = (row.integer(2), row.integer(3))
    header.otherBodyBytes = row.integer(4)
    header.lastSequence = max(header.lastSequence, header.newest)
  }

  private static let localAt = Statement(
    "SELECT revision, expires, checksum, readable(body) FROM locals WHERE store = $1 AND id = $2")
  private static let takeOutLocalAt = Statement(
    takingOut("locals", ["body"], "id = uuid_send(gen_random_uuid())", "id = $2"))
  private static let removeLocalAt = Statement("DELETE FROM locals WHERE store = $1 AND id = $2")
  private static let removeSomeEntries = Statement(
    """
    DELETE FROM entries WHERE store = $1 AND (number, key, id) IN (
      SELECT number, key, id FROM entries WHERE store = $1 LIMIT $2)
    """)
  private static let removeAllIndexes = Statement("DELETE FROM indexes WHERE store = $1")
  private static let removeStrayBodies = Statement(removeStray(of: "bodies"))
  private static let removeStrayPieces = Statement(removeStray(of: "histories"))
  private static func removeStray(of table: String) -> String {
    """
    DELETE FROM \(table) WHERE store = $1
      AND first NOT IN (SELECT first FROM documents WHERE store = $1)
    """
  }
  private static let counts = Statement(
    """
    SELECT count(*) FILTER (WHERE NOT is_deleted), count(*) FILTER (WHERE is_deleted),
      coalesce(sum(length(body)), 0)::int8, coalesce(max(sequence), 0)::int8,
      (SELECT coalesce(sum(length(body)), 0)::int8 FROM bodies WHERE store = $1)
    FROM documents WHERE store = $1
    """)
}
