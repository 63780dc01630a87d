package import Stores

/// Copying stores to another engine, and from it.
extension PostgresDatabase: CopyingEngine {
  package func rowReader(of name: StoreName, whileUsed: Bool) async throws -> (any RowReader)? {
    try await row(of: name).map { row in
      StoreReader(
        source: whileUsed ? .snapshot(LongSnapshot(on: session())) : .pool(self),
        number: row.number, epoch: row.header.epoch)
    }
  }

  package func soundRowReader(
    of name: StoreName
  ) async throws -> (reader: any RowReader, damage: [String])? {
    let found = try await reading { connection in try NameRow(name.key, on: connection) }
    guard let found, found.state == .there else { return nil }
    let reader = StoreReader(
      source: .snapshot(LongSnapshot(on: session())), number: found.number, epoch: found.epoch,
      leftOut: LeftOutRows())
    do { return (reader, try await reader.findDamage(of: name.key)) } catch {
      await reader.close()
      guard (error as? ServiceError)?.code == .absent else { throw error }
      return nil
    }
  }

  package func rowWriter(of name: StoreName, epoch: String) async throws -> any RowWriter {
    let staged = StoreName.staged(name)
    try await eraseCopy(staged)
    let number = try await repeating { connection in
      guard let row = try Self.make(staged, epoch: epoch, at: self.clock.now(), on: connection)
      else { throw ServiceError.unreachable("another process copies the same store") }
      return row.number
    }
    return StoreDraft(self, of: name, number: number, epoch: epoch)
  }

  /// Erases all staged stores. A copy that was published before its old name was forgotten keeps its rows. The names are
  /// removed too, because a copy of many stores leaves one for each.
  package func removeUnfinishedCopies() async throws {
    while true {
      let names = try await names(in: StoreName.stagedNamespace, after: nil, limit: 500)
      if names.isEmpty { break }
      for name in names { try await eraseCopy(name) }
    }
    try await repeating { connection in
      _ = try connection.run([
        Call(
          Self.forgetNames, .text(StoreName.stagedNamespace + "/"),
          .text(StoreName.stagedNamespace + "0"))
      ])
    }
  }

  /// Erases a staged store, also one whose row in `names` is damaged: then by its other rows, which have its key.
  private func eraseCopy(_ name: StoreName) async throws {
    do { _ = try await erase(name) } catch let error as ServiceError where error.code == .integrity
    {
      try await repeating { connection in
        for row in try Self.soundRows(of: name.key, on: connection) {
          try Self.finishErasing(NameRow(of: row, key: name.key), on: connection)
        }
        _ = try connection.run([Call(Self.forgetName, .text(name.key))])
      }
    }
  }

  private static let forgetName = Statement(once: "DELETE FROM names WHERE key = $1")
  private static let forgetNames = Statement(
    "DELETE FROM names WHERE key >= $1 AND key < $2 AND state = 2")
}
