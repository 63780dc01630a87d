import Documents
import StoreRecords
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
      let rows = try connection.run([Call(rowsOfKey, .text(key))])[0].all
      let found = rows.compactMap { try? StoreRow($0) }.filter { !$0.isErased }
      guard let row = found.first, found.count == 1 else { throw error }
      return try NameRow(of: row, key: key).replaceDamaged(on: connection)
    }
  }

  private static let rowsOfKey = Statement(
    "", "SELECT \(StoreRow.columns) FROM stores s WHERE s.key = $1 AND s.number > 0")

  private static func repairRow(
    _ name: NameRow, at now: Timestamp, on connection: Connection
  ) throws -> Bool {
    do {
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
      var row = StoreRow(
        number: name.number, header: StoreHeader(key: name.key, epoch: next.epoch))
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
    } catch {
      if !connection.isBroken { connection.runLater(Call(.rollback)) }
      throw error
    }
  }
}
