import Stores

/// A row of `names`, which gives the number of the store with a name. The row stays when the store is erased. When the
/// name is used again, the row gets another number, so that every node notices the new store.
struct NameRow: Sendable {
  /// The state of a name's store.
  enum State: Int64, Sendable {
    /// The store exists.
    case there = 0
    /// The store is erased, and its rows are being removed.
    case erasing = 1
    /// The store is erased, and its rows are removed.
    case erased = 2
  }

  /// The store's key.
  let key: String
  /// The store's number.
  var number: Int64
  /// The store's epoch.
  var epoch: String
  /// The state of the store.
  var state: State

  /// The checksum of the columns.
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
  /// Reads the row of a name; nil if the name was never used.
  /// - Throws: `integrity` when the row differs from what was written.
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

  /// The row of a store that exists.
  init(of row: StoreRow, key: String) {
    self.init(key: key, number: row.number, epoch: row.header.epoch, state: .there)
  }

  /// Inserts the row, or replaces the row of an erased store, whatever the log of erasures says.
  /// - Returns: whether the row was written; false if another node was faster.
  func register(on connection: Connection) throws -> Bool {
    try connection.run([call(Self.insert)])[0].affected == 1
  }

  /// Inserts the row, or replaces the row of an erased store, unless the store was erased for good.
  ///
  /// The log of erasures is read in the same transaction, under a lock that its writers take, too. So either the log has
  /// the store, and no node ever sees the row, or whoever erases the store finds the row.
  /// - Returns: as ``register(on:)``.
  /// - Throws: `absent` for a store of the log.
  func registerUnlessErased(on connection: Connection) throws -> Bool {
    guard StoreName(key: key)?.isPersonal ?? false else { return try register(on: connection) }
    let rows = try connection.transact([
      ErasureLog.lock(of: [key]), ErasureLog.find(key), call(Self.insertUnlessErased),
    ])
    guard rows[1].first == nil else { throw ServiceError.absent }
    return rows[2].affected == 1
  }

  /// Replaces the epoch and the state in the database's row.
  /// - Returns: whether there was a row with this key and number.
  @discardableResult
  func update(on connection: Connection) throws -> Bool {
    try connection.run([call(Self.replace)])[0].affected == 1
  }

  /// Replaces all columns of the database's row.
  /// - Returns: whether there was a row with this key.
  func replaceDamaged(on connection: Connection) throws -> Bool {
    try connection.run([call(Self.replaceAll)])[0].affected == 1
  }

  /// The keys of a namespace, in byte order.
  /// A row with an unknown state is damaged; it is listed, so that whoever reads the store says so.
  /// - Parameter isWhole: whether to leave out stores whose rows are being removed.
  /// - Throws: `integrity` for a key that is not text.
  static func keys(
    in namespace: String, after key: String?, limit: Int, isWhole: Bool, on connection: Connection
  ) throws -> [String] {
    // A key is either the namespace alone or the namespace, "/" and an id. "0" is the next byte after "/".
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
    "SELECT number, epoch, state, checksum FROM names WHERE key = $1")
  private static let insert = Statement(
    """
    INSERT INTO names AS n(key, number, epoch, state, checksum) VALUES ($1, $2, $3, $4, $5)
    \(replacingErased)
    """)
  private static let insertUnlessErased = Statement(
    """
    INSERT INTO names AS n(key, number, epoch, state, checksum)
    SELECT $1::bytea, $2::int8, $3::bytea, $4::int8, $5::int8
    WHERE NOT EXISTS (SELECT 1 FROM erasures e WHERE e.key = $1)
    \(replacingErased)
    """)
  private static let replacingErased = """
    ON CONFLICT (key) DO UPDATE SET
      number = excluded.number, epoch = excluded.epoch, state = excluded.state,
      checksum = excluded.checksum
    WHERE n.state = 2
    """
  private static let replace = Statement(
    "UPDATE names SET epoch = $3, state = $4, checksum = $5 WHERE key = $1 AND number = $2")
  private static let replaceAll = Statement(
    once: "UPDATE names SET number = $2, epoch = $3, state = $4, checksum = $5 WHERE key = $1")
  private static let list = Statement(
    """
    SELECT key FROM names
    WHERE key >= $1 AND key < $2 AND key > $3 AND (state <= $4 OR state > 2)
    ORDER BY key LIMIT $5
    """)
}
