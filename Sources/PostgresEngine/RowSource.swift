import Documents
import Stores

/// The source of a view's rows. All rows come from one state of a store.
protocol RowSource: AnyObject {
  /// The store's number.
  var store: Int64 { get }
  /// How long the connection has waited for the server so far, in nanoseconds.
  var waited: Int64 { get }
  /// The store's row in this state.
  func storeRow() throws -> StoreRow
  /// The rows that a statement finds. Takes one round trip.
  func rows(_ call: Call) throws -> Rows
  /// The same for a statement that updates of a store usually run with the same values. A transaction may have run it
  /// together with its first statements.
  func repeatedRows(_ call: Call) throws -> Rows
  /// A local document, expired or not; nil when there is none.
  func local(_ id: LocalID) throws -> StoredLocal?
  /// The pieces of a document's history, the oldest first. Not verified.
  /// - Parameter first: the sequence number of the document's first change.
  func pieces(of first: Int64) throws -> [StoredPiece]
}

extension RowSource {
  /// A statement about the store, whose number is its first value.
  func call(_ statement: Statement, _ others: Value...) -> Call {
    Call(statement, of: store, others)
  }

  /// The rows that a statement about the store finds.
  func rows(_ statement: Statement, _ others: Value...) throws -> Rows {
    try rows(Call(statement, of: store, others))
  }

  func local(_ id: LocalID) throws -> StoredLocal? { try storedLocal(id) }

  func repeatedRows(_ call: Call) throws -> Rows { try rows(call) }

  func pieces(of first: Int64) throws -> [StoredPiece] { try pieces(of: [first])[first] ?? [] }

  /// The pieces of several documents' histories, in one round trip.
  func pieces(of firsts: [Int64]) throws -> [Int64: [StoredPiece]] {
    guard !firsts.isEmpty else { return [:] }
    var pieces: [Int64: [StoredPiece]] = [:]
    for row in try rows(.piecesByFirst, .integers(firsts)).all {
      let piece = HistoryPiece(generation: Int(row.integer(1)), bytes: row.bytes(3))
      pieces[row.integer(0), default: []]
        .append(StoredPiece(piece: piece, checksum: row.integer(2)))
    }
    return pieces
  }

  /// The body of a revision that is not the winner; nil when it is not stored. Not verified.
  /// - Parameter first: the sequence number of the document's first change.
  func body(of first: Int64, _ revision: RevisionID) throws -> StoredBody? {
    try rows(
      .bodyOfRevision, .integer(first), .integer(revision.generation), .text(revision.digest.text)
    ).first.map {
      StoredBody(
        bytes: $0.bytes(1), checksum: $0.integer(0), arrival: StoredArrival(bytes: $0.bytes(2)))
    }
  }

  /// Reads a local document from the table.
  /// - Throws: `integrity`.
  func storedLocal(_ id: LocalID) throws -> StoredLocal? {
    let row = try rows(.localByID, .text(id.text)).first
    return try row.map { try StoredLocal($0, id, in: store) }
  }
}

extension Statement {
  fileprivate static let piecesByFirst = Statement(
    """
    SELECT first, generation, checksum, readable(revisions) FROM histories
    WHERE store = $1 AND first = ANY($2) ORDER BY first, generation
    """)
  fileprivate static let bodyOfRevision = Statement(
    """
    SELECT body_checksum, body, arrival FROM bodies
    WHERE store = $1 AND first = $2 AND generation = $3 AND digest = $4
    """)
  fileprivate static let localByID = Statement(
    "SELECT revision, expires, checksum, body FROM locals WHERE store = $1 AND id = $2")
}

extension StoreRow {
  /// Checks the row of an open store, because another node may have erased the store meanwhile.
  /// - Throws: `absent` for an erased store; `damaged` when the row is missing, fails its checksum or has another
  ///   epoch.
  static func requireThere(_ row: Row?, epoch: String) throws -> StoreRow {
    guard let row else { throw ServiceError.damaged("the row of a store is missing") }
    let found = try StoreRow(row)
    guard !found.isErased else { throw ServiceError.absent }
    guard found.header.epoch.utf8.elementsEqual(epoch.utf8) else {
      throw ServiceError.damaged("the row is of another life of this store")
    }
    return found
  }
}
