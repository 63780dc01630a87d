import Documents
import SQLite
import Scheduling
import Stores

/// Repairs a store's file. The rules are those of ``DocumentRepair``; here is what finds damage piece by
/// piece, and the SQL.
typealias StoreRepair = DocumentRepair<StoreRows>

extension DocumentRepair where Rows == StoreRows {
  /// The most rows of a piece.
  private static var rowsAtOnce: Int { 256 }
  /// The most local documents of a piece. All of them are read before the first is checked.
  static var localsAtOnce: Int { 32 }
  /// The bytes of bodies after which a piece ends: 1 MiB, which are hashed in a few milliseconds.
  private static var bytesAtOnce: Int { 1 << 20 }

  /// Checks the documents after a sequence number until the slice is over or the piece is full.
  /// - Returns: the sequence numbers of damaged documents, and the last number checked; nil at the end.
  func damaged(after start: Int64, within slice: Slice) throws -> (numbers: [Int64], last: Int64?) {
    let statement = try rows.connection.statement(
      StoredDocument.selected, ", body, tree FROM documents WHERE sequence > ?1 ORDER BY sequence")
    try statement.bind(start, at: 1)
    defer { statement.reset() }
    var numbers: [Int64] = []
    var lengths: [Int] = []
    var (count, bytes) = (0, 0)
    while try statement.step() {
      let last = statement.row.int64(0)
      if try !isSound(statement.row, &lengths) { numbers.append(last) }
      bytes += lengths.reduce(0, +)
      lengths = []
      count += 1
      if slice.isOver || count == Self.rowsAtOnce || bytes >= Self.bytesAtOnce {
        return (numbers, last)
      }
    }
    return (numbers, nil)
  }

  private func isSound(_ row: borrowing Row, _ lengths: inout [Int]) throws -> Bool {
    let found = StoredDocument.reading(row)
    do {
      let document = try found.verified()
      try rows.check(document, found.content, tree: row.bytes(13), into: &lengths)
      try rows.checkArrivals(of: document)
      return try rows.isIndexed(document)
    } catch {
      guard ServiceError(engine: error).code == .integrity else { throw error }
      return false
    }
  }
}

/// The arrivals of revisions, unverified.
extension StoreRows {
  /// The arrivals of a document's revisions: first the winner's, then those of the other revisions that have a body.
  func arrivalsAsFound(of document: StoredDocument) throws -> [ArrivalFound] {
    let winner = try arrival(at: document.sequence).map { arrival in
      ArrivalFound(
        number: document.sequence, isWinner: true, revision: document.revision, arrival: arrival)
    }
    guard try has(.bodies) else { return winner.map { [$0] } ?? [] }
    let others = try connection.statement(
      "SELECT number, generation, digest, arrival FROM bodies WHERE first = ?1"
    ).all(.integer(document.first)) { row in
      ArrivalFound(
        number: row.int64(0), isWinner: false,
        revision: RevisionID(
          generation: Int(clamping: row.int64(1)), digest: (try? row.string(2)) ?? ""),
        arrival: StoredArrival(bytes: row.bytes(3)))
    }
    return (winner.map { [$0] } ?? []) + others
  }

  /// The arrival of the winner in the row with this sequence number.
  func arrival(at number: Int64) throws -> StoredArrival? {
    try connection.statement("SELECT arrival FROM documents WHERE sequence = ?1")
      .first(.integer(number)) { row in StoredArrival(bytes: row.bytes(0)) }
  }

  func put(_ arrival: StoredArrival, for found: ArrivalFound) throws {
    let statement =
      found.isWinner
      ? try connection.statement("UPDATE documents SET arrival = ?1 WHERE sequence = ?2")
      : try connection.statement("UPDATE bodies SET arrival = ?1 WHERE number = ?2")
    try statement.run(arrival.binding, .integer(found.number))
  }
}
