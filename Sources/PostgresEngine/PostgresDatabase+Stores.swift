import Documents
import StoreRecords
import Stores

/// Making, finding and removing stores: single statements and transactions of one store each, in an order of which every
/// beginning is whole.
extension PostgresDatabase {
  /// The row of a store that is there or is made.
  /// - Returns: nil when the store is absent and `creating` is false.
  /// - Throws: `damaged` for one whose row is missing, foreign or not sound.
  static func opened(
    _ name: StoreName, creating: Bool, on connection: Connection
  ) throws -> StoreRow? {
    while true {
      let found = try NameRow(name.key, on: connection)
      switch found?.state {
      case .there:
        guard let found else { return nil }
        if let row = try there(found, on: connection) { return row }
      case .erasing:
        if let found { try finishErasing(found, on: connection) }
      case .erased, nil: break
      }
      guard creating else { return nil }
      // Where another node is faster, its store is found in the next round.
      if let made = try make(name, on: connection) { return made }
    }
  }

  /// The row of a store that has a name.
  /// - Returns: nil where the store has taken another one's place, which was interrupted; that is finished then.
  private static func there(_ name: NameRow, on connection: Connection) throws -> StoreRow? {
    let row = try connection.run([Call(StoreRow.find, .integer(name.number))])[0].first
    let found = try StoreRow.requireThere(row, epoch: name.epoch)
    guard !found.header.key.utf8.elementsEqual(name.key.utf8) else { return found }
    guard try hasMoved(name, to: found.header.key, on: connection) else {
      throw ServiceError.damaged("the rows are another store's")
    }
    try mark(name, .erased, on: connection)
    return nil
  }

  /// Makes a store: its row first, then its name.
  /// - Returns: nil where another node has made one meanwhile.
  private static func make(_ name: StoreName, on connection: Connection) throws -> StoreRow? {
    var generator = SystemRandomNumberGenerator()
    let epoch = Hex.string(generator.next(), generator.next())
    // Drawn, not counted: no row is shared by those who make stores. 63 bits, and never 0.
    let number = Int64.random(in: 1...Int64.max, using: &generator)
    let row = StoreRow(number: number, header: StoreHeader(key: name.key, epoch: epoch))
    // A number that was ever used stays another store's.
    guard try connection.run([row.inserting])[0].affected == 1 else { return nil }
    let entry = NameRow(key: name.key, number: number, epoch: epoch, state: .there)
    if try entry.register(on: connection) { return row }
    _ = try? connection.run([Call(Self.forget, .integer(number))])
    return nil
  }

  /// Whether a store whose name was given to another store bears that other's name by now.
  private static func hasMoved(
    _ name: NameRow, to key: String, on connection: Connection
  ) throws -> Bool {
    guard let other = try NameRow(key, on: connection) else { return false }
    return other.number == name.number && other.state == .there
  }

  /// Writes what became of a name's store.
  static func mark(
    _ name: NameRow, _ state: NameRow.State, on connection: Connection
  ) throws {
    var next = name
    next.state = state
    try next.update(on: connection)
  }

  /// Removes all rows of a store but its own, which says that it is erased; may be repeated. Not those of one that has
  /// another name by now.
  static func finishErasing(_ name: NameRow, on connection: Connection) throws {
    do {
      let rows = try connection.run([
        Call(.begin), Call(StoreRow.lock, .integer(name.number)),
      ])
      // One that can't be read any more is removed all the same.
      let found = rows[1].first.flatMap { try? StoreRow($0) }
      let key = found?.header.key ?? name.key
      if try key.utf8.elementsEqual(name.key.utf8)
        || !hasMoved(name, to: key, on: connection)
      {
        var row = StoreRow(
          number: name.number, header: StoreHeader(key: name.key, epoch: name.epoch))
        row.isErased = true
        let removals = Self.removals.map { Call($0, .integer(name.number)) }
        _ = try connection.run(removals + [row.updating, Call(.commit)])
      } else {
        _ = try connection.run([Call(.rollback)])
      }
    } catch {
      if !connection.isBroken { connection.runLater(Call(.rollback)) }
      throw error
    }
    var next = name
    next.state = .erased
    try next.update(on: connection)
  }

  /// Has a store's row bear another key.
  /// - Throws: `absent`, `damaged`.
  static func rename(_ name: NameRow, to key: String, on connection: Connection) throws {
    do {
      let rows = try connection.run([
        Call(.begin), Call(StoreRow.lock, .integer(name.number)),
      ])
      var row = try StoreRow.requireThere(rows[1].first, epoch: name.epoch)
      row.header.key = key
      _ = try connection.run([row.updating, Call(.commit)])
    } catch {
      if !connection.isBroken { connection.runLater(Call(.rollback)) }
      throw error
    }
  }

  private static let removals = ["entries", "indexes", "locals", "bodies", "documents"].map {
    Statement("", "DELETE FROM \($0) WHERE store = $1")
  }
  private static let forget = Statement(
    "forget_store", "DELETE FROM stores WHERE number = $1 AND last_sequence = 0")
}
