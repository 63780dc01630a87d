import Lanes
import SQLite
import Stores

/// Makes the files of new stores from one blank database that is kept in memory, on a lane: making its tables
/// took as long as all that a new store needs besides.
actor NewStores {
  private let lane: Lane
  private let connection: Connection

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  /// Makes the blank database.
  init(_ blank: BlankDatabase, lane: Lane) throws(SQLiteError) {
    self.lane = lane
    connection = try Connection.inMemory()
    try blank.schema.create(in: connection)
  }

  /// The bytes of a new store's file.
  func image(_ header: StoreHeader) throws(StoreError) -> [UInt8] {
    try storing { () throws(SQLiteError) in
      try connection.begin()
      do throws(SQLiteError) {
        try header.write(to: connection)
        let bytes = try BlankDatabase.image(of: connection)
        // So that no store's file has anything of the one before.
        try connection.rollback()
        return bytes
      } catch {
        try connection.rollback()
        throw error
      }
    }
  }
}
