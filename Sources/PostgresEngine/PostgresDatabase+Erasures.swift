package import Stores

/// The log of erased stores, which backups contain. It contains only keys of stores of guests, users and lists, whose ids
/// are random and identify no person. Like the log of a data directory, it remains for good. No store of the log is
/// created again.
extension PostgresDatabase {
  /// The keys of one page of ``visitErasures(_:)``.
  private static let pageSize: Int64 = 1_000

  /// Records only stores of guests, users and lists; also one without a row in `names`. That row may have been lost, and a
  /// repair would register the store's other rows again.
  package func noteErasure(of name: StoreName) async throws {
    guard name.isPersonal else { return }
    try await repeating { connection in
      guard try name.isUser || NameRow(name.key, on: connection)?.state ?? .there == .there else {
        return
      }
      _ = try connection.transact(ErasureLog.adding([name.key]))
    }
  }

  package func noteErasures(of names: [StoreName]) async throws {
    let keys = names.filter(\.isPersonal).map(\.key)
    try await repeating { connection in _ = try connection.transact(ErasureLog.adding(keys)) }
  }

  package func visitErasures(_ take: ([StoreName]) async throws -> Void) async throws {
    try await eachErasure { names, _ in try await take(names) }
  }

  /// Visits the log in pages: the stores, and the entries that are no store's key.
  func eachErasure(
    _ take: (_ names: [StoreName], _ unreadable: [[UInt8]]) async throws -> Void
  ) async throws {
    var last: [UInt8] = []
    while true {
      let rows = try await reading { [last] connection in
        try connection.run([ErasureLog.list(after: last, limit: Self.pageSize)])[0].all
      }
      guard let end = rows.last else { return }
      last = end.bytes(0)
      var (names, unreadable): ([StoreName], [[UInt8]]) = ([], [])
      for row in rows {
        if let name = row.text(0).flatMap({ StoreName(key: $0) }), name.isPersonal {
          names.append(name)
        } else {
          unreadable.append(row.bytes(0))
        }
      }
      try await take(names, unreadable)
    }
  }
}
