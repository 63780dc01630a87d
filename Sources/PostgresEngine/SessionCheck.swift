import Stores

/// Finds out whether a pooler stands between this node and the database that gives each transaction another session of the
/// server, such as PgBouncer with `pool_mode=transaction`.
///
/// The engine needs sessions of its own: for their settings, prepared statements, `LISTEN`, and locks.
enum SessionCheck {
  /// How often a host is tried. A pooler may use its sessions in any order.
  private static let attempts = 3

  private static let process = Statement(once: "SELECT pg_backend_pid()::int8")
  private static let begin = Statement(once: "BEGIN")

  /// - Throws: `unavailable` if a host's answers come from shared sessions. Hosts that don't answer are left out.
  static func requireOwnSessions(at address: DatabaseAddress) async throws {
    for host in 0..<address.hostCount {
      guard let one = try? address.connectToWatch(host), sharesSessions(one, host, address)
      else { continue }
      throw ServiceError(
        .unavailable,
        """
        A pooler in front of the database gives each transaction another session, such as PgBouncer with \
        pool_mode=transaction; use pool_mode=session, or the server's own address
        """)
    }
  }

  /// Two transactions at a time have two sessions. With a pooler, the second one may have that of a connection whose
  /// transaction has ended. The server's own processes have the ids that libpq was told, so nothing more is asked then.
  private static func sharesSessions(
    _ one: Connection, _ host: Int, _ address: DatabaseAddress
  ) -> Bool {
    guard let own = try? one.run([Call(process)])[0].first?.integer(0), own != Int64(one.backend)
    else { return false }
    for _ in 0..<attempts {
      guard let other = try? address.connectToWatch(host) else { return false }
      // With pool_mode=statement there are no transactions, and the pooler ends the connection.
      guard let found = try? other.run([Call(begin), Call(process)])[1].first?.integer(0)
      else { return true }
      let again = try? one.run([Call(process)])[0].first?.integer(0)
      if found == own || again != own { return true }
    }
    return false
  }
}
