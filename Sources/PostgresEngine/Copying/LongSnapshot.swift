import NIOConcurrencyHelpers
import Stores

/// One state of the database for as long as a copy of a store takes: a transaction on a connection of its own. Others may
/// write meanwhile.
struct LongSnapshot: Sendable {
  /// How long the transaction may wait for the next statement: a minute. Meanwhile the copy writes a page to a disk.
  private static let idleTimeout = Statement(
    "SELECT set_config('idle_in_transaction_session_timeout', '60s', false)")

  private let session: Session
  /// The server's process with the transaction; nil before it begins.
  private let backend = NIOLockedValueBox<Int32?>(nil)

  /// A snapshot that has not begun.
  init(on session: Session) { self.session = session }

  /// Reads rows of a store. The first call begins the transaction.
  /// - Throws: `unavailable` when the connection was lost, because the state is lost with it; `absent`, `damaged`.
  func reading<Value: Sendable>(
    _ store: Int64, epoch: String, _ body: @escaping @Sendable (any RowSource) throws -> Value
  ) async throws -> Value {
    do {
      return try await session.run { connection in
        switch backend.withLockedValue({ $0 }) {
        case nil:
          // Not together: a statement before it in the same pipeline has begun a transaction already.
          _ = try connection.run([Call(Self.idleTimeout)])
          _ = try connection.run([Call(.beginReading)])
          backend.withLockedValue { $0 = connection.backend }
        case connection.backend: break
        default: throw ServiceError.unreachable("the connection of a snapshot was lost")
        }
        return try body(OpenSnapshot(of: store, epoch: epoch, on: connection))
      }
    } catch { throw ServiceError.translated(error) }
  }

  /// Ends the transaction.
  func close() async { await session.close() }
}

/// The rows of one store in a transaction that has begun.
private final class OpenSnapshot: RowSource {
  let store: Int64
  private let epoch: String
  private let connection: Connection

  init(of store: Int64, epoch: String, on connection: Connection) {
    self.store = store
    self.epoch = epoch
    self.connection = connection
  }

  var waited: Int64 { connection.waited }

  func storeRow() throws -> StoreRow {
    let row = try rows(Call(StoreRow.find, .integer(store))).first
    return try StoreRow.requireThere(row, epoch: epoch)
  }

  func rows(_ call: Call) throws -> Rows { try connection.run([call])[0] }
}
