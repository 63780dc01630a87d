import Accounts
import PostgresEngine
import StoreRecords
import Stores

/// Hands over what is in files of a data directory and, for the servers of a database, in the database: the log of erased
/// stores, the keys that sign tokens, the administrator's password and an imported catalogue.
struct FileHandover: Sendable {
  let source: any CopyingEngine
  /// Has all stores of `source` already.
  let target: any CopyingEngine
  /// The data directory of one of the two.
  let directory: String

  /// Hands over. May be repeated.
  /// - Throws: `keys` for a file or a document that is damaged; the errors of both endpoints.
  func run() async throws {
    let stores = DatabaseManager(engine: target, maximumOpen: 1, now: SystemClock.now)
    try await closing(stores.close) { try await run(stores) }
  }

  private func run(_ stores: DatabaseManager) async throws {
    try await source.visitErasures { try await target.noteErasures(of: $0) }
    let secrets = SecretTransfer(
      keys: DataFiles.keys(in: directory), administrator: DataFiles.administrator(in: directory),
      stores: stores)
    if let database = target as? PostgresDatabase {
      try await secrets.writeToStore()
      _ = try await SharedCatalogue(database: database, data: directory).publishImported()
    } else if let database = source as? PostgresDatabase {
      try await secrets.writeToFiles()
      try await SharedCatalogue(database: database, data: directory).catchUp()
    }
  }
}
