import Documents
import StoreRecords
package import Stores

/// The log of erased stores, which backups contain. It contains only keys of stores of guests, users and lists, whose ids
/// are random and identify no person. Like the log of a data directory, it remains for good. No store of the log is
/// created again.
extension PostgresDatabase {
  /// The keys of one page of ``visitErasures(_:)``.
  private static let pageSize: Int64 = 1_000

  /// Records only stores of guests, users and lists.
  package func noteErasure(of name: StoreName) async throws {
    guard name.isPersonal else { return }
    try await repeating { connection in
      guard try name.isUser || NameRow(name.key, on: connection)?.state == .there else { return }
      _ = try connection.run([Call(Self.insertErasures, .list([Array(name.key.utf8)]))])
    }
  }

  package func noteErasures(of names: [StoreName]) async throws {
    let keys = names.filter(\.isPersonal).map { Array($0.key.utf8) }
    try await repeating { connection in
      _ = try connection.run([Call(Self.insertErasures, .list(keys))])
    }
  }

  package func visitErasures(_ take: ([StoreName]) async throws -> Void) async throws {
    var last = ""
    while true {
      let keys = try await repeating { [last] connection in
        try connection.run([Call(Self.listErasures, .text(last), .integer(Self.pageSize))])[0].all
          .map { $0.text(0) ?? "" }
      }
      guard let end = keys.last else { return }
      last = end
      try await take(
        keys.map { key in
          guard let name = StoreName(key: key), name.isPersonal else {
            throw ServiceError.integrity("an entry of the log of erasures is no store's key")
          }
          return name
        })
    }
  }

  /// Erases a store that was just created if another node has erased it for good: a request there may have been admitted
  /// before the account ended. The log is read after the store is registered, so that either this node finds the entry,
  /// or the other one finds the store.
  /// - Throws: `absent` for a store that was erased.
  static func endIfErased(_ name: NameRow, on connection: Connection) throws {
    guard StoreName(key: name.key)?.isPersonal ?? false,
      try connection.run([Call(findErasure, .text(name.key))])[0].first != nil
    else { return }
    try finishErasing(name, on: connection)
    throw ServiceError.absent
  }

  private static let findErasure = Statement(
    "find_erasure", "SELECT 1 FROM erasures WHERE key = $1")
  private static let insertErasures = Statement(
    "insert_erasures",
    "INSERT INTO erasures SELECT unnest($1::bytea[]) ON CONFLICT DO NOTHING")
  private static let listErasures = Statement(
    "list_erasures", "SELECT key FROM erasures WHERE key > $1 ORDER BY key LIMIT $2")
}
