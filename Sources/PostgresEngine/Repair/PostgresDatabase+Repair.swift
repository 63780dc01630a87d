import Documents
package import Stores

/// Repairing the row of a store in `stores`, without which the store can't be opened.
extension PostgresDatabase {
  /// Writes the row of a store again if it is damaged or missing: with the key and the number that the registry has, the
  /// counts of the rows, and another epoch, so that clients with a copy of the store start over.
  /// - Returns: whether the row was written; false for a store that is absent or whose row is sound.
  /// - Throws: `integrity` when the registry's own row is damaged, and not one store has its key; the database's errors.
  package func repairRow(of name: StoreName) async throws -> Bool {
    let now = clock.now()
    return try await repeating { connection in
      let hasRepairedName = try Self.repairName(name.key, on: connection)
      guard let found = try NameRow(name.key, on: connection), found.state == .there else {
        return hasRepairedName
      }
      return try Self.repairRow(found, at: now, on: connection) || hasRepairedName
    }
  }

  /// Writes the registry's row of a name again if it is damaged and one sound row of a store has this key.
  /// - Returns: whether it was written.
  /// - Throws: `integrity` if it can't be.
  private static func repairName(_ key: String, on connection: Connection) throws -> Bool {
    do {
      _ = try NameRow(key, on: connection)
      return false
    } catch let error as ServiceError where error.code == .integrity {
      let found = try soundRows(of: key, on: connection)
      guard let row = found.first, found.count == 1 else { throw error }
      return try NameRow(of: row, key: key).replaceDamaged(on: connection)
    }
  }

  /// The rows of stores with a key that can be read and are not erased. Reads all of `stores`.
  static func soundRows(of key: String, on connection: Connection) throws -> [StoreRow] {
    try connection.run([Call(rowsOfKey, .text(key))])[0].all
      .compactMap { try? StoreRow($0) }.filter { !$0.isErased }
  }

  /// Registers the stores whose rows in `names` are lost again, with their numbers, unless they are in the log of erasures:
  /// then their rows are removed. Whoever erased such a store found no row in `names`, and so left the others.
  /// Removes entries of the log that are no store's key.
  /// - Returns: a line for each store that is registered or removed; one for each that can't be, and one for lost erasures.
  package func registerLostStores() async throws -> (registered: [String], left: [String]) {
    var (registered, left): ([String], [String]) = ([], [])
    for (row, isFree) in try await lostStores() {
      let name = NameRow(of: row, key: row.header.key)
      let outcome = try await repeating { connection -> String? in
        do {
          let isDone =
            try isFree
            ? name.registerUnlessErased(on: connection)
            : Self.repairName(name.key, on: connection)
          return isDone ? "it was registered again" : nil
        } catch let error as ServiceError where isFree && error.code == .absent {
          try Self.finishErasing(name, on: connection)
          return "it was erased before, so its rows were removed"
        } catch let error as ServiceError where error.code == .integrity {
          // Several stores have this key.
          return nil
        }
      }
      if let outcome {
        registered.append("\(name.key): \(outcome)")
      } else {
        left.append(Self.lost(row))
      }
    }
    let unreadable = try await unreadableErasures()
    if !unreadable.isEmpty {
      left.append(
        "\(unreadable.count) entries of the log of erasures could not be read and were removed")
      try await repeating { connection in
        _ = try connection.run([ErasureLog.removing(unreadable)])
      }
    }
    return (registered, left)
  }

  package func registryDamage() async throws -> [String] {
    var lines = try await lostStores().map { Self.lost($0.row) }
    let unreadable = try await unreadableErasures().count
    if unreadable > 0 {
      lines.append("\(unreadable) entries of the log of erasures are no store's key")
    }
    return lines
  }

  private func unreadableErasures() async throws -> [[UInt8]] {
    var unreadable: [[UInt8]] = []
    try await eachErasure { unreadable += $1 }
    return unreadable
  }

  private static func lost(_ row: StoreRow) -> String {
    "\(row.header.key): the registry does not name its rows (number \(row.number))"
  }

  /// The stores with documents to which no row of `names` leads, and whether their names are free.
  private func lostStores() async throws -> [(row: StoreRow, isFree: Bool)] {
    var (found, last): ([(StoreRow, Bool)], Int64?) = ([], 0)
    while let start = last {
      let page = try await reading { connection in
        let end = try connection.run([Call(Self.pageEnd, .integer(start))])[0].first
        guard let end = end?.optionalInteger(0) else {
          return (lost: [(StoreRow, Bool)](), last: Int64?.none)
        }
        let rows = try connection.run([Call(Self.unnamed, .integer(start), .integer(end))])[0].all
        let lost = try rows.compactMap { row -> (StoreRow, Bool)? in
          // A damaged row is reported under its own name.
          guard let row = try? StoreRow(row), let name = StoreName(key: row.header.key),
            name.namespace != StoreName.stagedNamespace
          else { return nil }
          do {
            let name = try NameRow(row.header.key, on: connection)
            // An erasure is under way, or was just completed.
            return name.map { $0.state != .there } ?? false ? nil : (row, name == nil)
          } catch let error as ServiceError where error.code == .integrity { return (row, false) }
        }
        return (lost: lost, last: end)
      }
      found += page.lost
      last = page.last
    }
    return found
  }

  /// The key has no index of its own, so that this reads all of both tables: only for commands.
  private static let unnamed = Statement(
    once: """
      SELECT \(StoreRow.columns) FROM stores s
      WHERE s.number > $1 AND s.number <= $2 AND NOT s.is_erased AND s.last_sequence > 0
        AND NOT EXISTS (
          SELECT 1 FROM names n WHERE n.key = s.key AND n.number = s.number AND n.state = 0)
      """)
  private static let pageEnd = Statement(
    once: """
      SELECT max(number) FROM (
        SELECT number FROM stores WHERE number > $1 ORDER BY number LIMIT 5000) AS page
      """)

  private static let rowsOfKey = Statement(
    once: "SELECT \(StoreRow.columns) FROM stores s WHERE s.key = $1 AND s.number > 0")

  private static func repairRow(
    _ name: NameRow, at now: Timestamp, on connection: Connection
  ) throws -> Bool {
    try connection.undoingFailures {
      let locked = try connection.run([
        Call(.begin), Call(StoreRow.lock, .integer(name.number)),
      ])[1].first
      do {
        _ = try StoreRow.requireThere(locked, epoch: name.epoch)
        _ = try connection.run([Call(.rollback)])
        return false
      } catch let error as ServiceError where error.code == .damaged {}
      // A store that was replaced has another name.
      guard try !hasAnotherName(name, locked, on: connection) else {
        throw ServiceError.damaged("the store has another name")
      }
      var next = name
      next.epoch = StoreHeader.freshEpoch()
      var row = StoreRow(number: name.number, header: StoreHeader(key: name.key, epoch: next.epoch))
      if locked == nil { _ = try connection.run([row.inserting]) }
      let transaction = WriteTransaction(of: row, on: connection)
      try transaction.recount(&row.header)
      // More than was ever written, as far as that is known.
      row.written = max(0, locked?.integer(10) ?? 0) &+ row.header.bytes &+ 1
      row.changed = now.milliseconds
      try transaction.flush([row.updating])
      try next.update(on: connection)
      _ = try connection.run([Call(.commit)])
      return true
    }
  }
}
