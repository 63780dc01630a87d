package import Stores

/// Marks of moves: rows of `names` whose keys are the kinds of ``MoveMark``. No store has such a name. The row's epoch is
/// the text for people.
extension PostgresDatabase {
  package func moveMark() async throws -> MoveMark? {
    try await reading { connection in
      for kind in MoveMark.Kind.allCases {
        guard let row = try NameRow(kind.rawValue, on: connection), row.state == .there else {
          continue
        }
        return MoveMark(kind, detail: row.epoch)
      }
      return nil
    }
  }

  package func setMoveMark(_ mark: MoveMark?) async throws {
    try await repeating { connection in
      if let mark {
        let row = NameRow(key: mark.kind.rawValue, number: 0, epoch: mark.detail, state: .there)
        if try !row.register(on: connection) { try row.update(on: connection) }
      }
      for kind in MoveMark.Kind.allCases where kind != mark?.kind {
        _ = try connection.run([Call(Self.forgetMark, .text(kind.rawValue))])
      }
    }
  }

  /// How many connections nodes have to the database at present. Nodes are known by their `application_name`.
  package func nodeConnections() async throws -> Int64 {
    try await reading { connection in
      try connection.run([Call(Self.nodes, .text(DatabaseAddress.nodeName))])[0]
        .first?.integer(0) ?? 0
    }
  }

  private static let forgetMark = Statement("DELETE FROM names WHERE key = $1")
  private static let nodes = Statement(
    """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND convert_to(application_name, 'UTF8') = $1
    """)
}
