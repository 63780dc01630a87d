import Documents
package import StoreRecords
package import Stores

/// Copying stores to another engine, and from it.
extension PostgresDatabase: CopyingEngine {
  package func rowReader(
    of name: StoreName, whileUsed: Bool
  ) async throws -> (any RowReader)? {
    let row = try await repeating { connection in
      try Self.opened(name, on: connection)
    }
    return row.map { row in
      StoreReader(
        source: whileUsed ? .snapshot(LongSnapshot(on: session())) : .pool(self),
        number: row.number, epoch: row.header.epoch)
    }
  }

  package func rowWriter(of name: StoreName, epoch: String) async throws -> any RowWriter {
    let staged = StoreName.staged(name)
    try await removeCopy(staged)
    let number = try await repeating { connection in
      guard let row = try Self.make(staged, epoch: epoch, at: self.clock.now(), on: connection)
      else {
        throw ServiceError.unreachable("another process copies the same store")
      }
      return row.number
    }
    return StoreDraft(self, of: name, number: number, epoch: epoch)
  }

  /// Erases all staged stores. Their names are removed too, because a copy of many stores leaves one for each.
  package func removeUnfinishedCopies() async throws {
    while true {
      let names = try await names(in: StoreName.stagedNamespace, after: nil, limit: 500)
      if names.isEmpty { break }
      for name in names { try await removeCopy(name) }
    }
    try await repeating { connection in
      _ = try connection.run([
        Call(
          Self.forgetNames, .text(StoreName.stagedNamespace + "/"),
          .text(StoreName.stagedNamespace + "0"))
      ])
    }
  }

  /// Erases a staged store. Its rows are removed in parts first: a copy may have been interrupted after gigabytes, and one
  /// statement that removes all of them would exceed the time that a connection waits for an answer.
  ///
  /// A copy that was published before its old name was forgotten keeps its rows; only the old name is removed.
  func removeCopy(_ name: StoreName) async throws {
    let found = try await repeating { connection -> NameRow? in
      guard let found = try NameRow(name.key, on: connection), found.state != .erased else {
        return nil
      }
      let row = try connection.run([Call(StoreRow.find, .integer(found.number))])[0].first
      return try Self.hasAnotherName(found, row, on: connection) ? nil : found
    }
    if let found {
      for part in Self.parts {
        while try await repeating({ connection in
          let calls = [Call(part, .integer(found.number), .integer(Self.rowsOfPart))]
          return try connection.run(calls)[0].affected > 0
        }) {}
      }
    }
    _ = try await erase(name)
  }

  /// How many rows one statement removes: 1,000 take about a second with the largest bodies.
  private static let rowsOfPart = 1_000
  private static let parts = [
    Statement(
      "remove_part_of_documents",
      """
      DELETE FROM documents WHERE store = $1
        AND id IN (SELECT id FROM documents WHERE store = $1 LIMIT $2)
      """),
    Statement(
      "remove_part_of_bodies",
      """
      DELETE FROM bodies WHERE store = $1 AND (first, generation, digest) IN (
        SELECT first, generation, digest FROM bodies WHERE store = $1 LIMIT $2)
      """),
    Statement(
      "remove_part_of_locals",
      """
      DELETE FROM locals WHERE store = $1
        AND id IN (SELECT id FROM locals WHERE store = $1 LIMIT $2)
      """),
  ]

  private static let forgetNames = Statement(
    "forget_names", "DELETE FROM names WHERE key >= $1 AND key < $2 AND state = 2")
}
