import Documents
import StoreRecords
import Stores

/// The row of `names`: which store a name stands for. A row stays when its store is erased, and is given another number
/// when the name is used again, so that every node can tell.
struct NameRow: Sendable {
  /// What became of the store.
  enum State: Int64, Sendable {
    /// It is there.
    case there = 0
    /// It is gone, and its rows are being removed.
    case erasing = 1
    /// It is gone with all its rows.
    case erased = 2
  }

  /// The store's key.
  let key: String
  /// The store's number.
  var number: Int64
  /// Which life of the store this is.
  var epoch: String
  /// What became of it.
  var state: State

  /// What the row must add up to.
  var checksum: Checksum {
    var checksum = Checksum(.entry)
    checksum.append(key)
    checksum.append(epoch)
    checksum.append(state.rawValue)
    checksum.append(number)
    return checksum
  }
}

extension NameRow {
  /// Finds the row of a name; nil for a name that was never used.
  /// - Throws: `integrity`.
  init?(_ key: String, on connection: Connection) throws {
    guard let row = try connection.run([Call(Self.find, .text(key))])[0].first else { return nil }
    guard let epoch = row.text(1), let state = State(rawValue: row.integer(2)) else {
      throw ServiceError.integrity("an entry of the registry is not what was written")
    }
    self.init(key: key, number: row.integer(0), epoch: epoch, state: state)
    guard checksum.matches(row.integer(3)) else {
      throw ServiceError.integrity("an entry of the registry fails its checksum")
    }
  }

  /// Writes the row where there is none, or where the name's store is erased.
  /// - Returns: whether it was; not where another node was faster.
  func register(on connection: Connection) throws -> Bool {
    try connection.run([call(Self.insert)])[0].affected == 1
  }

  /// Writes the row in the place of what is there.
  /// - Returns: whether the row was there, with this number.
  @discardableResult
  func update(on connection: Connection) throws -> Bool {
    try connection.run([call(Self.replace)])[0].affected == 1
  }

  /// The names of a namespace, in byte order.
  /// - Parameter isWhole: whether stores are left out whose rows are being removed.
  static func keys(
    in namespace: String, after key: String?, limit: Int, isWhole: Bool, on connection: Connection
  ) throws -> [String] {
    // A key is its namespace alone or goes on with "/", which "0" follows.
    try connection.run([
      Call(
        list, .text(namespace), .text(namespace + "0"), .text(key ?? ""),
        .integer(isWhole ? State.there.rawValue : State.erasing.rawValue),
        .integer(max(limit, 0)))
    ])[0].all.map { row in
      guard let text = row.text(0) else {
        throw ServiceError.integrity("an entry of the registry is no text")
      }
      return text
    }
  }

  private func call(_ statement: Statement) -> Call {
    Call(
      statement, .text(key), .integer(number), .text(epoch), .integer(state.rawValue),
      .integer(checksum.value))
  }

  private static let find = Statement(
    "find_name", "SELECT number, epoch, state, checksum FROM names WHERE key = $1")
  private static let insert = Statement(
    "insert_name",
    """
    INSERT INTO names AS n(key, number, epoch, state, checksum) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (key) DO UPDATE SET
      number = excluded.number, epoch = excluded.epoch, state = excluded.state,
      checksum = excluded.checksum
    WHERE n.state = 2
    """)
  private static let replace = Statement(
    "replace_name",
    "UPDATE names SET epoch = $3, state = $4, checksum = $5 WHERE key = $1 AND number = $2")
  private static let list = Statement(
    "list_names",
    """
    SELECT key FROM names WHERE key >= $1 AND key < $2 AND key > $3 AND state <= $4
    ORDER BY key LIMIT $5
    """)
}
