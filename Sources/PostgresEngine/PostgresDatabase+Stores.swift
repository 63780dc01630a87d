import Documents
import Stores

/// Creates, finds and erases stores. Each step is a single statement, or a transaction of one store. The order of the
/// steps ensures that a store is absent or complete even if a later step is interrupted.
extension PostgresDatabase {
  /// The row of a store.
  /// - Parameter new: the epoch with which an absent store is created, and the time; nil to create none.
  /// - Parameter isReading: whether to write nothing. Otherwise, what was interrupted is completed: the rows of a store
  ///   whose erasure has begun are removed.
  /// - Returns: nil when the store is absent and not created.
  /// - Throws: `damaged` when the store's row is missing, fails its checksum or belongs to another store.
  static func opened(
    _ name: StoreName, creating new: (epoch: String, now: Timestamp)? = nil,
    isReading: Bool = false, on connection: Connection
  ) throws -> StoreRow? {
    while true {
      let found = try NameRow(name.key, on: connection)
      switch found?.state {
      case .there:
        guard let found else { return nil }
        if let row = try there(found, isReading, on: connection) { return row }
      case .erasing:
        if let found, !isReading { try finishErasing(found, on: connection) }
      case .erased, nil: break
      }
      guard let new else { return nil }
      // If another node has created the store, the next iteration finds it.
      if let made = try make(name, epoch: new.epoch, at: new.now, on: connection) { return made }
    }
  }

  /// The row of the store to which a name refers.
  /// - Returns: nil if the store is erased, or has replaced another one and has that one's name now. The erasure or the
  ///   replacement was interrupted; this function completes it.
  private static func there(
    _ name: NameRow, _ isReading: Bool, on connection: Connection
  ) throws -> StoreRow? {
    let row = try connection.run([Call(StoreRow.find, .integer(name.number))])[0].first
    let found: StoreRow
    do { found = try StoreRow.requireThere(row, epoch: name.epoch) } catch let error as ServiceError
      where error.code == .absent
    {
      if !isReading { try finishErasing(name, on: connection) }
      return nil
    }
    guard !found.header.key.utf8.elementsEqual(name.key.utf8) else { return found }
    guard try hasMoved(name, to: found.header.key, on: connection) else {
      throw ServiceError.damaged("the rows are another store's")
    }
    if !isReading { try mark(name, .erased, on: connection) }
    return nil
  }

  /// Creates a store: its row first, then its name.
  /// - Parameter epoch: the store's epoch.
  /// - Parameter now: the time of its creation.
  /// - Returns: nil if another node has created the store meanwhile, or if the new number is already in use.
  /// - Throws: `absent` for a store that was erased for good: a request may have been admitted before its account ended.
  static func make(
    _ name: StoreName, epoch: String, at now: Timestamp, on connection: Connection
  ) throws -> StoreRow? {
    // The number is random: for a counter, all nodes that create stores would have to lock one row. It has 63 bits and
    // is never 0.
    let number = Int64.random(in: 1...Int64.max)
    var row = StoreRow(number: number, header: StoreHeader(key: name.key, epoch: epoch))
    row.changed = now.milliseconds
    // A number is never used for a second store.
    guard try connection.run([row.inserting])[0].affected == 1 else { return nil }
    var isRegistered = false
    defer { if !isRegistered { _ = try? connection.run([Call(Self.forget, .integer(number))]) } }
    isRegistered = try NameRow(of: row, key: name.key).registerUnlessErased(on: connection)
    return isRegistered ? row : nil
  }

  /// Whether the store to which `name` refers has the name `key` now.
  private static func hasMoved(
    _ name: NameRow, to key: String, on connection: Connection
  ) throws -> Bool {
    guard let other = try NameRow(key, on: connection) else { return false }
    return other.number == name.number && other.state == .there
  }

  /// Whether the store to which `name` refers has another name now.
  /// - Parameter row: the store's row. A store whose row is absent or can't be read has no other name.
  static func hasAnotherName(
    _ name: NameRow, _ row: Row?, on connection: Connection
  ) throws -> Bool {
    guard let key = row.flatMap({ try? StoreRow($0) })?.header.key else { return false }
    return try !key.utf8.elementsEqual(name.key.utf8) && hasMoved(name, to: key, on: connection)
  }

  /// Writes the state of a name's store.
  static func mark(_ name: NameRow, _ state: NameRow.State, on connection: Connection) throws {
    var next = name
    next.state = state
    try next.update(on: connection)
  }

  /// Begins an erasure: marks the row of a store in `stores` as erased, after which nobody reads or writes the store. May
  /// be repeated.
  /// - Returns: false if the store has another name now, and its rows stay.
  /// - Throws: `notEmpty` for a store with documents or tombstones, if `onlyIfEmpty`; nothing is changed then.
  static func beginErasing(
    _ name: NameRow, onlyIfEmpty: Bool = false, on connection: Connection
  ) throws -> Bool {
    try inTransaction(of: name.number, on: connection) { row in
      guard try !hasAnotherName(name, row, on: connection) else { return nil }
      if onlyIfEmpty, let row { try StoreRow(row).info.requireEmpty() }
      var erased = StoreRow(
        number: name.number, header: StoreHeader(key: name.key, epoch: name.epoch))
      erased.isErased = true
      return [erased.updating]
    } != nil
  }

  /// Removes some rows of an erased store from one table. One statement for a large store could take longer than a
  /// connection waits for an answer.
  ///
  /// It holds the lock on the store's row: if two processes removed the same rows at once, the second one would find none
  /// of them, although there are others.
  /// - Returns: whether there may be more.
  static func removePart(
    of number: Int64, by removal: Statement, on connection: Connection
  ) throws -> Bool {
    let removed = try inTransaction(of: number, on: connection) { _ in
      [Call(removal, .integer(number), .integer(rowsAtOnce))]
    }
    return (removed?.first?.affected ?? 0) >= rowsAtOnce
  }

  /// Erases a store: begins, removes all its rows but the one in `stores`, and marks the name as erased. May be repeated.
  /// - Throws: as ``beginErasing(_:onlyIfEmpty:on:)``.
  static func finishErasing(
    _ name: NameRow, onlyIfEmpty: Bool = false, on connection: Connection
  ) throws {
    if try beginErasing(name, onlyIfEmpty: onlyIfEmpty, on: connection) {
      for removal in removals {
        while try removePart(of: name.number, by: removal, on: connection) {}
      }
    }
    try mark(name, .erased, on: connection)
  }

  /// Runs statements in a transaction that has the lock on a store's row.
  /// - Parameter calls: gets the store's row, and returns nil to write nothing.
  /// - Returns: what the statements found; nil if there were none.
  static func inTransaction(
    of number: Int64, on connection: Connection, _ calls: (Row?) throws -> [Call]?
  ) throws -> [Rows]? {
    try connection.undoingFailures {
      let locked = try connection.run([Call(.begin), Call(StoreRow.lock, .integer(number))])
      guard let calls = try calls(locked[1].first) else {
        _ = try connection.run([Call(.rollback)])
        return nil
      }
      return try connection.run(calls + [Call(.commit)])
    }
  }

  /// Changes the key in a store's row.
  /// - Throws: `absent` for an erased store, `damaged`.
  static func rename(_ name: NameRow, to key: String, on connection: Connection) throws {
    _ = try inTransaction(of: name.number, on: connection) { row in
      var row = try StoreRow.requireThere(row, epoch: name.epoch)
      row.header.key = key
      return [row.updating]
    }
  }

  /// How many rows one statement removes: 1,000 take about a second with the largest bodies.
  private static let rowsAtOnce = 1_000
  /// The statements that remove some rows of a store, for each table.
  static let removals = [
    ("entries", "number, key, id"), ("indexes", "name"), ("locals", "id"),
    ("histories", "first, generation"), ("bodies", "first, generation, digest"),
    ("documents", "id"),
  ].map { table, key in
    Statement(
      once: """
        DELETE FROM \(table) WHERE store = $1
          AND (\(key)) IN (SELECT \(key) FROM \(table) WHERE store = $1 LIMIT $2)
        """)
  }
  private static let forget = Statement(
    "DELETE FROM stores WHERE number = $1 AND last_sequence = 0")
}
