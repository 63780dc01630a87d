import CPostgres
import NIOConcurrencyHelpers
import Stores

/// The address of the database: a `postgres://` URL in the format that libpq defines
/// (<https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING>).
package struct DatabaseAddress: Sendable {
  /// The connection parameters for libpq.
  private var options: [(keyword: String, value: String)]
  /// The hosts that have not answered lately. All copies of the address share it.
  private let hangs = HostHangs()
  /// What is known of the servers. All copies of the address share it.
  let servers: KnownServers

  /// ``Connection/longestSilence`` of new connections: 8 seconds.
  var longestSilence: Int32 = 8_000

  /// The parameters that the engine sets if the URL does not set them.
  private static let defaults = [
    // Of several hosts, libpq connects to the one that accepts writes. After a failover this is another host.
    ("target_session_attrs", "read-write"),
    // Seconds for each host. 2 is the minimum of libpq.
    ("connect_timeout", "2"),
    // Milliseconds. TCP closes a connection if the server does not confirm sent data for so long.
    ("tcp_user_timeout", "1500"),
    // TCP tests an idle connection after 2 seconds and then every second. It closes it after 2 tests without an answer.
    ("keepalives", "1"), ("keepalives_idle", "2"), ("keepalives_interval", "1"),
    ("keepalives_count", "2"),
    ("application_name", nodeName),
  ]

  /// The `application_name` of a node's connections.
  static let nodeName = "hotel-bookmarks"

  /// Parses a URL.
  /// - Parameter password: replaces a password in the URL, which others may see.
  /// - Throws: `unavailable` for an invalid URL, with libpq's message, which never contains a password.
  package init(url: String, password: String? = nil) throws {
    guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else {
      throw ServiceError(.unavailable, "The database's address is no postgres:// URL")
    }
    if let failure = cpostgres_load() {
      throw ServiceError(
        .unavailable, "The client library of PostgreSQL is missing",
        detail: String(cString: failure))
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
    // The encoding is UTF-8, whatever the URL and the environment say: ids are sent as bytes, and the messages are for
    // the log.
    options.removeAll { $0.keyword == "client_encoding" }
    options.append(("client_encoding", "UTF8"))
    self.options = options
    servers = KnownServers(count: Self.hosts(options).count)
  }

  /// The same address, for a command that is no node.
  package var ofCommand: DatabaseAddress {
    var address = self
    address.options.removeAll { $0.keyword == "application_name" }
    address.options.append(("application_name", Self.nodeName + " move"))
    return address
  }

  /// Hosts and database, for people. Never the password.
  package var description: String {
    func value(_ keyword: String) -> String? { options.first { $0.keyword == keyword }?.value }
    let host = value("host") ?? value("hostaddr") ?? "localhost"
    return "postgres://\(host)/\(value("dbname") ?? value("user") ?? "")"
  }

  /// The same address, but for any server, including one that accepts no writes.
  var ofAnyServer: DatabaseAddress {
    var address = self
    address.options.removeAll { $0.keyword == "target_session_attrs" }
    return address
  }

  /// Connects to the first host that accepts and is no former primary. Blocks for at most `connect_timeout` for each
  /// host. Hosts that have not answered lately are left out if there are others: a server that hangs would cost the whole
  /// timeout each time, while another one has become the primary.
  /// - Parameter registers: whether the connection may use the tables (``ConnectedVersions``).
  /// - Throws: ``PostgresError/lost(_:)`` if no server answers; ``ServiceError`` if the engine can't work with the
  ///   server.
  func connect(registers: Bool = true) throws -> Connection {
    let hosts = Self.hosts(options)
    var failures: [String] = []
    for number in servers.preferringPrimary(hangs.order(of: hosts.count)) {
      guard !servers.isCutOff() else { throw PostgresError.lost("no host answers") }
      let begun = ContinuousClock.now
      do {
        let connection = try connect(hosts[number]) {
          // A commit that waits for a standby is no hang of its server.
          if !servers.answers(number) { hangs.note(number) }
        }
        hangs.clear(number)
        try ServerChecks.prepare(connection)
        if servers.timeline.isNewest(connection.timeline) || connection.timeline == 0 {
          if registers { try ConnectedVersions.register(connection, servers) }
          return connection
        }
        failures.append("timeline \(connection.timeline) is that of a former primary")
      } catch PostgresError.lost(let message) {
        if ContinuousClock.now - begun >= HostHangs.longestAnswer { hangs.note(number) }
        failures.append(message)
      }
    }
    throw PostgresError.lost(failures.joined(separator: "; "))
  }

  /// How many hosts the address has.
  var hostCount: Int { Self.hosts(options).count }

  /// Connects to one host, whatever server is there, to ask what it is.
  /// - Throws: ``PostgresError/lost(_:)``.
  func connectToWatch(_ host: Int) throws -> Connection {
    let connection = try connect(Self.hosts(ofAnyServer.options)[host]) {}
    connection.longestSilence = Int32(KnownServers.longestAnswer / .milliseconds(1))
    return connection
  }

  /// The parameters of each host. In libpq's parameters, hosts and ports are lists; one port holds for all hosts.
  private static func hosts(
    _ options: [(keyword: String, value: String)]
  ) -> [[(keyword: String, value: String)]] {
    func list(_ keyword: String) -> [String] {
      options.first { $0.keyword == keyword }?.value.split(
        separator: ",", omittingEmptySubsequences: false
      ).map(String.init) ?? []
    }
    let lists = ["host", "hostaddr", "port"].map { (keyword: $0, values: list($0)) }
    let others = options.filter { option in !lists.contains { $0.keyword == option.keyword } }
    return (0..<max(1, lists.map(\.values.count).max() ?? 1)).map { number in
      others
        + lists.compactMap { keyword, values in
          let value = values.count == 1 ? values[0] : values.dropFirst(number).first
          return value.map { (keyword, $0) }
        }
    }
  }

  private func connect(
    _ options: [(keyword: String, value: String)], _ noteHang: @escaping () -> Void
  ) throws -> Connection {
    let handle = Self.withCStrings(options.map(\.keyword)) { keywords in
      Self.withCStrings(options.map(\.value)) { values in
        PQconnectdbParams(keywords, values, 0)
      }
    }
    guard let handle else { throw PostgresError.lost("out of memory") }
    guard PQstatus(handle) == CONNECTION_OK else {
      defer { PQfinish(handle) }
      throw PostgresError.lost(PQerrorMessage(handle).map { String(cString: $0) } ?? "")
    }
    return try Connection(handle, servers, longestSilence: longestSilence, noteHang)
  }

  /// Passes texts to `body` as an array of C strings that ends with NULL.
  private static func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    let bytes = texts.map { Array($0.utf8CString) }
    let all = bytes.flatMap { $0 }
    return all.withUnsafeBufferPointer { buffer in
      var offset = 0
      var pointers: [UnsafePointer<CChar>?] = bytes.map { text in
        defer { offset += text.count }
        return buffer.baseAddress?.advanced(by: offset)
      }
      pointers.append(nil)
      return pointers.withUnsafeBufferPointer { list in
        guard let start = list.baseAddress else { preconditionFailure("a list of one or more") }
        return body(start)
      }
    }
  }
}

/// Which hosts of an address have not answered lately.
///
/// Such a host is left out for some seconds. After that, one caller tries it again, after the other hosts.
final class HostHangs: Sendable {
  /// An attempt to connect that failed after this long has met a host that does not answer.
  static let longestAnswer = Duration.milliseconds(1_500)
  /// How long a host is left out: three seconds.
  private static let pause = Duration.seconds(3)

  private let until = NIOLockedValueBox<[Int: ContinuousClock.Instant]>([:])

  /// Notes that a host has not answered.
  func note(_ host: Int, at now: ContinuousClock.Instant = .now) {
    until.withLockedValue { $0[host] = now + Self.pause }
  }

  /// Notes that a host has answered.
  func clear(_ host: Int) { until.withLockedValue { $0[host] = nil } }

  /// The hosts to try, in order; at least one.
  /// - Parameter count: how many hosts the address has.
  func order(of count: Int, at now: ContinuousClock.Instant = .now) -> [Int] {
    until.withLockedValue { until in
      let sound = (0..<count).filter { until[$0] == nil }
      let again = (0..<count).filter { until[$0].map { $0 <= now } ?? false }
      for host in again { until[host] = now + Self.pause }
      return sound.isEmpty && again.isEmpty ? Array(0..<count) : sound + again
    }
  }
}

/// The requirements for a server, and the settings of a session.
enum ServerChecks {
  /// The oldest version of PostgreSQL in which libpq and the server have all features that the engine uses.
  static let oldestVersion: Int64 = 14

  private static let state = Statement(
    """
    SELECT current_setting('server_version_num')::int8, convert_to(current_setting('server_encoding'), 'UTF8'),
      pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on',
      CASE WHEN pg_is_in_recovery() THEN 0
        ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8 END
    """)

  /// Turns `synchronous_commit` on if it is `off`: a commit that is answered before it is on the disk would be lost in
  /// a power failure. This corresponds to SQLite's `synchronous=FULL`.
  private static let durability = Statement(
    """
    SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'
    """)

  /// Limits how long a writer waits for another node's transaction on the same store: 7 seconds, less than
  /// ``Connection/longestSilence``.
  private static let lockTimeout = Statement("SELECT set_config('lock_timeout', '7s', false)")

  /// Limits how long a node that stops within a transaction can block a store: 5 seconds. The server then ends the
  /// session.
  private static let idleTimeout = Statement(
    "SELECT set_config('idle_in_transaction_session_timeout', '5s', false)")

  /// Lets the server plan each statement once for all values, and with indexes only. Every statement searches in an
  /// index, which costs less than to plan it for its values. A sequential scan is planned for a table that is small, and
  /// used when it is large. A bitmap scan visits all dead versions of a document that is written often; an index scan
  /// marks them, and the next one passes them over.
  private static let planning = Statement(
    """
    SELECT set_config('plan_cache_mode', 'force_generic_plan', false),
      set_config('enable_bitmapscan', 'off', false), set_config('enable_seqscan', 'off', false)
    """)

  /// Checks the server of a new connection and applies the settings of a session.
  /// - Throws: `unavailable` for a version before 14 or an encoding other than UTF-8, `readOnly` for a server that
  ///   accepts no writes.
  static func prepare(_ connection: Connection) throws {
    let found = try connection.run([
      Call(state), Call(durability), Call(lockTimeout), Call(idleTimeout), Call(planning),
    ])
    guard let row = found.first?.first else { throw PostgresError.lost("no state") }
    try check(version: row.integer(0), encoding: row.text(1) ?? "", isReadOnly: row.flag(2))
    connection.timeline = row.integer(3)
  }

  /// The timeline of a server that accepts writes; nil for another one.
  static func primary(_ connection: Connection) throws -> Int64? {
    let row = try connection.run([Call(state)]).first?.first
    guard let row, !row.flag(2) else { return nil }
    return row.integer(3)
  }

  /// Checks whether the engine can work with a server.
  /// - Throws: as ``prepare(_:)``.
  static func check(version: Int64, encoding: String, isReadOnly: Bool) throws {
    guard version >= oldestVersion * 10_000 else {
      throw ServiceError(
        .unavailable,
        "The database's server is PostgreSQL \(version / 10_000); \(oldestVersion) or later is needed"
      )
    }
    guard encoding == "UTF8" else {
      throw ServiceError(.unavailable, "The database's encoding is \(encoding); it has to be UTF8")
    }
    guard !isReadOnly else { throw ServiceError.readOnly("the server is read-only") }
  }
}
