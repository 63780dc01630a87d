import Scheduling
import Stores
import Synchronization

/// Owns at most one connection. Its work blocks a thread of a pool.
final class Session: Sendable {
  /// Whether the server has not answered for ``Connection/longestSilence``, and may still be at work.
  var isHung: Bool { hung.load(ordering: .acquiring) }

  private let address: DatabaseAddress
  private let counters: DatabaseCounters
  private let keepsHung: Bool
  private let hung = Atomic(false)
  private let holder: Confined<ConnectionHolder>

  /// Creates a session without a connection.
  /// - Parameter isCounted: whether its connection is one of the pool's for the operator.
  init(
    _ address: DatabaseAddress, in threads: ThreadPool, counters: DatabaseCounters,
    isCounted: Bool = false, keepsHung: Bool = false
  ) {
    self.address = address
    self.counters = counters
    self.keepsHung = keepsHung
    holder = Confined(to: threads) { clock in
      ConnectionHolder(clock: clock, counted: isCounted ? counters : nil)
    }
  }

  /// Runs `body` on the connection. Connects first if there is no open connection.
  func run<Result: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    try await holder.run { [self] holder in
      let connection = try holder.connected(to: address, counters)
      defer {
        if connection.hasLackedSpace {
          counters.noteFullDisk()
          connection.hasLackedSpace = false
        }
        if keepsHung, connection.isHung {
          hung.store(true, ordering: .releasing)
        } else if connection.isBroken {
          holder.drop(counters)
        }
      }
      connection.forgetOldPlans()
      return try body(connection)
    }
  }

  /// Connects to the server and returns the reason why the engine can't work with it. Returns nil if the engine can, or
  /// if the server does not answer.
  func refusal() async -> ServiceError? {
    await holder.run { [address] holder in
      do {
        _ = try holder.clock.blocking { try address.connect() }
        return nil
      } catch { return error as? ServiceError }
    }
  }

  /// Closes the connection, for good.
  func close() async {
    await holder.run { holder in
      holder.connection = nil
      holder.isClosed = true
    }
  }

  /// Whether ``run(_:)`` can be called: the connection is not hung any more. It is closed then.
  func isUsable() async -> Bool {
    await holder.run { [self] holder in
      if let connection = holder.connection, connection.isHung {
        guard connection.isOver else { return false }
        holder.drop(counters)
      }
      hung.store(false, ordering: .releasing)
      return true
    }
  }
}

/// The connection of a session, if there is one.
private struct ConnectionHolder {
  let clock: CallClock
  /// Counts open connections; nil if this one does not count.
  let counted: DatabaseCounters?
  var isClosed = false
  var connection: Connection? {
    didSet {
      guard let counted, (connection == nil) != (oldValue == nil) else { return }
      counted.count { $0.connections += connection == nil ? -1 : 1 }
    }
  }

  /// Closes a connection that can't be used any more.
  mutating func drop(_ counters: DatabaseCounters) {
    connection = nil
    counters.count { $0.lost += 1 }
  }

  mutating func connected(
    to address: DatabaseAddress, _ counters: DatabaseCounters
  ) throws -> Connection {
    if isClosed { throw ServiceError.closed }
    if let connection, connection.isAlive { return connection }
    if connection != nil { drop(counters) }
    let new = try clock.blocking { try address.connect() }
    new.clock = clock
    connection = new
    return new
  }
}
