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
      _ = try connection.transact(ErasureLog.adding([name.key]))
    }
  }

  package func noteErasures(of names: [StoreName]) async throws {
    let keys = names.filter(\.isPersonal).map(\.key)
    try await repeating { connection in _ = try connection.transact(ErasureLog.adding(keys)) }
  }

  package func visitErasures(_ take: ([StoreName]) async throws -> Void) async throws {
    var last = ""
    while true {
      let keys = try await reading { [last] connection in
        try connection.run([ErasureLog.list(after: last, limit: Self.pageSize)])[0].all
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
}
