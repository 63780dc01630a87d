import Stores

/// A state of a store for reads: a transaction that begins with the first statement. Its end is not awaited.
final class Snapshot: RowSource {
  let store: Int64
  private let epoch: String
  private let connection: Connection
  private var found: StoreRow?
  private var failure: (any Error)?

  /// Creates a snapshot whose transaction has not begun.
  /// - Parameter epoch: the epoch that the store's row must have.
  init(of store: Int64, epoch: String, on connection: Connection) {
    self.store = store
    self.epoch = epoch
    self.connection = connection
  }

  var waited: Int64 { connection.waited }

  func storeRow() throws -> StoreRow {
    if let found { return found }
    _ = try begin([])
    guard let found else { throw ServiceError.absent }
    return found
  }

  func rows(_ call: Call) throws -> Rows {
    try requireWhole()
    guard found != nil else { return try begin([call])[2] }
    do { return try connection.run([call])[0] } catch {
      failure = error
      throw error
    }
  }

  /// Checks that all statements have succeeded. A query may have ignored an error, and its result is wrong then.
  func requireWhole() throws {
    if let failure { throw failure }
  }

  /// Ends the transaction without waiting for the answer.
  func end() {
    if found != nil { connection.rollBack() }
  }

  /// Begins the transaction and reads the store's row, together with the first statement.
  private func begin(_ calls: [Call]) throws -> [Rows] {
    do {
      let rows = try connection.run(
        [Call(.beginReading), Call(StoreRow.find, .integer(store))] + calls)
      found = try StoreRow.requireThere(rows[1].first, epoch: epoch)
      return rows
    } catch {
      connection.rollBack()
      failure = error
      throw error
    }
  }
}
