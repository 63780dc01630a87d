import CPostgres
import Lanes
import Stores

/// Where the database is and how it is reached: a `postgres://` URL, of which libpq knows the rest
/// (<https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING>).
package struct DatabaseAddress: Sendable {
  /// What libpq is told, by keyword.
  private var options: [(keyword: String, value: String)]

  /// What the engine sets unless the URL says otherwise.
  private static let defaults = [
    // Of several hosts the one that takes writes: after a failover, another one than before.
    ("target_session_attrs", "read-write"),
    // Seconds for each host; the least that libpq takes.
    ("connect_timeout", "2"),
    // Milliseconds after which a connection is dead whose peer confirms nothing that was sent.
    ("tcp_user_timeout", "1500"),
    // One on which nothing was sent is asked after two seconds, each second, twice.
    ("keepalives", "1"), ("keepalives_idle", "2"), ("keepalives_interval", "1"),
    ("keepalives_count", "2"),
    ("application_name", "hotel-bookmarks"),
  ]

  /// Reads a URL.
  /// - Parameter password: instead of one in the URL, which others may see.
  /// - Throws: `unavailable` with libpq's words for what it can't read; these never hold a password.
  package init(url: String, password: String? = nil) throws {
    guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else {
      throw ServiceError(.unavailable, "The database's address is no postgres:// URL")
    }
    var message: UnsafeMutablePointer<CChar>?
    guard let parsed = PQconninfoParse(url, &message) else {
      defer { PQfreemem(message) }
      throw ServiceError(
        .unavailable, "The database's address can't be read",
        detail: message.map { String(cString: $0) } ?? "")
    }
    defer { PQconninfoFree(parsed) }
    var options: [(keyword: String, value: String)] = []
    var entry = parsed
    while let keyword = entry.pointee.keyword {
      if let value = entry.pointee.val {
        options.append((String(cString: keyword), String(cString: value)))
      }
      entry = entry.successor()
    }
    if let password {
      options.removeAll { $0.keyword == "password" }
      options.append(("password", password))
    }
    for (keyword, value) in Self.defaults where !options.contains(where: { $0.keyword == keyword })
    {
      options.append((keyword, value))
    }
    // Whatever the surroundings say: ids are sent as bytes, and the messages are for the log.
    options.removeAll { $0.keyword == "client_encoding" }
    options.append(("client_encoding", "UTF8"))
    self.options = options
  }

  /// The same, where a server will do that takes no writes.
  var ofAnyServer: DatabaseAddress {
    var address = self
    address.options.removeAll { $0.keyword == "target_session_attrs" }
    return address
  }

  /// Connects, which blocks for `connect_timeout` and each host.
  /// - Throws: ``PostgresError/lost(_:)`` where nobody answers; ``ServiceError`` for a server that the engine refuses.
  func connect() throws -> Connection {
    let handle = LanePool.blocking {
      Self.withCStrings(options.map(\.keyword)) { keywords in
        Self.withCStrings(options.map(\.value)) { values in
          PQconnectdbParams(keywords, values, 0)
        }
      }
    }
    guard let handle else { throw PostgresError.lost("out of memory") }
    guard PQstatus(handle) == CONNECTION_OK else {
      defer { PQfinish(handle) }
      throw PostgresError.lost(PQerrorMessage(handle).map { String(cString: $0) } ?? "")
    }
    let connection = try Connection(handle)
    try ServerChecks.prepare(connection)
    return connection
  }

  /// Texts as C wants a list of them: ended by NULL.
  private static func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    let bytes = texts.map { Array($0.utf8CString) }
    let all = bytes.flatMap { $0 }
    return all.withUnsafeBufferPointer { buffer in
      var place = 0
      var pointers: [UnsafePointer<CChar>?] = bytes.map { text in
        defer { place += text.count }
        return buffer.baseAddress?.advanced(by: place)
      }
      pointers.append(nil)
      return pointers.withUnsafeBufferPointer { list in
        guard let start = list.baseAddress else { preconditionFailure("a list of one or more") }
        return body(start)
      }
    }
  }
}

/// What a server must be, and how its sessions are set.
enum ServerChecks {
  /// The oldest version of PostgreSQL whose libpq and server know all that the engine uses.
  static let oldestVersion: Int64 = 14

  private static let state = Statement(
    "state",
    """
    SELECT current_setting('server_version_num')::int8, convert_to(current_setting('server_encoding'), 'UTF8'),
      pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'
    """)

  /// A commit that is not on the disk when it is answered would be lost with the power, as with `synchronous=FULL`.
  private static let durability = Statement(
    "durability",
    """
    SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'
    """)

  /// A writer waits so long for another node's transaction on the same store.
  private static let lockTimeout = Statement(
    "lock_timeout", "SELECT set_config('lock_timeout', '10s', false)")

  /// A node that stops in the middle of a transaction holds its store back so long.
  private static let idleTimeout = Statement(
    "idle_timeout", "SELECT set_config('idle_in_transaction_session_timeout', '5s', false)")

  /// Checks a new connection's server and sets the session.
  /// - Throws: `unavailable` for a version before 14 or another encoding than UTF-8, `readOnly` for a standby.
  static func prepare(_ connection: Connection) throws {
    let found = try connection.run([
      Call(state), Call(durability), Call(lockTimeout), Call(idleTimeout),
    ])
    guard let row = found.first?.first else { throw PostgresError.lost("no state") }
    try check(version: row.integer(0), encoding: row.text(1) ?? "", isReadOnly: row.flag(2))
  }

  /// Decides whether a server is one that the engine works on.
  static func check(version: Int64, encoding: String, isReadOnly: Bool) throws {
    guard version >= oldestVersion * 10_000 else {
      throw ServiceError(
        .unavailable,
        "The database's server is PostgreSQL \(version / 10_000); \(oldestVersion) or later is needed"
      )
    }
    guard encoding == "UTF8" else {
      throw ServiceError(
        .unavailable, "The database's encoding is \(encoding); it has to be UTF8")
    }
    guard !isReadOnly else {
      throw ServiceError(
        .readOnly, "The storage takes no writes at present", detail: "the server is read-only")
    }
  }
}
