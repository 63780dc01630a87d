import Scheduling
import StoreRecords
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
      counted.open.add(connection == nil ? -1 : 1, ordering: .relaxed)
    }
  }

  /// Closes a connection that can't be used any more.
  mutating func drop(_ counters: DatabaseCounters) {
    connection = nil
    counters.lost.add(1, ordering: .relaxed)
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

/// Connections of a node, up to a limit. When all are in use, callers wait, and those are served first whose accounts have
/// used least.
///
/// A node has a pool for reads and one for writes, so that reads go on while commits wait for a standby.
final class ConnectionPool: Sendable {
  /// What the connections are for.
  enum Use: Sendable {
    /// Statements that write nothing. A connection whose server does not answer is given up.
    case reads
    /// Statements that may commit. A commit that waits for a standby is never given up: the server would not notice that,
    /// and its session would stay. The connection stays one of the pool's until the server is done with it.
    case writes
  }

  /// The limit of both pools' connections if the operator sets none.
  static let standardLimit = 16
  /// How many callers may wait. Further callers get `overloaded`. Requests and feeds have limits of their own, and one
  /// change may wake all feeds at once.
  private static let callersWaiting = 20_000
  /// How long repeatable work is tried again while no server accepts writes: 12 seconds. A failover takes less.
  static let patience = Duration.seconds(12)
  /// The same while no host answers at all: 2 seconds. This node is cut off, and others may not be.
  static let patienceCutOff = Duration.seconds(2)
  /// The pause before the next attempt.
  private static let pause = Duration.milliseconds(50)
  /// How often a connection is checked whose server does not answer.
  private static let checkInterval = Duration.milliseconds(100)

  /// Each session belongs to the caller that has the permit of the same number.
  private let sessions: [Session]
  private let permits: FairSemaphore
  private let address: DatabaseAddress
  private let threads: ThreadPool
  /// Counts for the operator.
  let counters: DatabaseCounters

  /// How many callers wait for a connection.
  var waitingCount: Int { permits.waitingCount }

  /// Creates a pool without connections.
  /// - Parameter limit: the largest number of connections, at least 2: the last one is for callers that have none yet.
  init(
    _ address: DatabaseAddress, for use: Use, limit: Int, threads: ThreadPool,
    counters: DatabaseCounters
  ) {
    let limit = max(2, limit)
    self.address = address
    self.threads = threads
    self.counters = counters
    sessions = (0..<limit).map { _ in
      Session(
        address, in: threads, counters: counters, isCounted: true, keepsHung: use == .writes)
    }
    permits = FairSemaphore(
      .connections, permits: limit - 1, queueLimit: Self.callersWaiting, takesProcessor: false)
  }

  /// Whether a connection and a thread are free for any caller.
  var isFree: Bool { permits.isFree && !threads.isCrowded }

  /// Runs `body` on a connection, once.
  /// - Parameter flow: the flow that waits for a connection.
  /// - Throws: `overloaded` when too many callers wait; `unavailable` after ``close()``, and at once when a server is at
  ///   work for each connection without answering; ``PostgresError``.
  func once<Result: Sendable>(
    for flow: FairSemaphore.Flow = .request,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    let result = try await permits.withPermit(for: flow) { permit in
      counters.inUse.add(1, ordering: .relaxed)
      defer { counters.inUse.subtract(1, ordering: .relaxed) }
      let session = sessions[permit]
      defer { if session.isHung { withdraw(permit) } }
      return try await session.run(body)
    }
    if let result { return result }
    if permits.isExhausted {
      throw ServiceError(
        .unavailable, "The database acknowledges no writes at present",
        detail: "\(sessions.count) commits are under way")
    }
    if Slice.isEnded { throw ServiceError.ended }
    throw ServiceError(.overloaded, "Too many requests wait for the database; try again soon")
  }

  /// Lets nobody use a connection until its server is done with it.
  private func withdraw(_ permit: Int) {
    counters.hung.add(1, ordering: .relaxed)
    permits.withdraw(permit)
    Work.background { [self] in
      while await !sessions[permit].isUsable() { try? await Task.sleep(for: Self.checkInterval) }
      counters.hung.subtract(1, ordering: .relaxed)
      permits.restore(permit)
    }
  }

  /// Runs `body`, and runs it again after a lost connection (on a new one) and after a deadlock. `body` must be
  /// repeatable.
  /// - Parameter flow: as in ``once(for:_:)``. Work that does not wait on the account of the calling task's request is
  ///   repeated even if that request has ended.
  /// - Parameter since: when the caller began to wait.
  /// - Throws: as ``once(for:_:)``.
  func repeating<Result: Sendable>(
    for flow: FairSemaphore.Flow = .request, since: ContinuousClock.Instant = .now,
    _ body: @escaping @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    let isForOthers = if case .request = flow { false } else { true }
    while true {
      do { return try await once(for: flow, body) } catch {
        let patience = address.servers.isCutOff() ? Self.patienceCutOff : Self.patience
        guard Self.isWorthRepeating(error), ContinuousClock.now < since + patience,
          isForOthers || !Slice.isEnded, !Task.isCancelled
        else { throw error }
      }
      await Work.waiting { try? await Task.sleep(for: Self.pause) }
    }
  }

  /// The reason why the engine can't work with the server that answers at an address; nil if no server answers. Servers
  /// that accept no writes are asked, too. Used after a connection has failed.
  func refusal(of address: DatabaseAddress) async -> ServiceError? {
    await Session(address.ofAnyServer, in: threads, counters: counters).refusal()
  }

  /// Whether work that failed with this error may succeed on another connection or at another attempt.
  static func isWorthRepeating(_ error: any Error) -> Bool {
    if let error = error as? PostgresError { return error.isRepeatable }
    // A standby answered before another server became the primary.
    return (error as? ServiceError)?.code == .readOnly
  }

  /// Closes each connection as soon as it is free. Waiting and later callers get an error.
  func close() async {
    for session in sessions { await session.close() }
  }

  /// Creates a session that the pool does not count.
  func newSession() -> Session {
    Session(address, in: threads, counters: counters)
  }
}

/// Counts of one node since it connected to the database.
package struct DatabaseStatistics: Sendable, Equatable {
  /// Committed transactions that wrote something.
  package var commits = 0
  /// Updates that ended without an error.
  package var updates = 0
  /// Commits whose outcome is unknown.
  package var unknown = 0
  /// Connections that were lost.
  package var lost = 0
  /// Connections at present.
  package var connections = 0
  /// Connections whose server is at work and has not answered for ``Connection/longestSilence``.
  package var hung = 0
  /// Damaged values that were repaired without a loss.
  package var repaired = 0
  /// Damaged values that were set aside, or are left.
  package var damaged = 0
  /// Damaged values that were removed, and are written again or needed by nobody.
  package var dropped = 0
  /// Connections that are not in use at present.
  package var idle = 0
  /// Callers that wait for a connection at present.
  package var waiting = 0
}

/// Counters that any thread may increase.
final class DatabaseCounters: Sendable {
  let commits = Atomic(0)
  let updates = Atomic(0)
  let unknown = Atomic(0)
  let lost = Atomic(0)
  /// The cases of damage that were repaired; that could not be repaired without loss; of values that were removed.
  let repaired = Atomic(0), damage = Atomic(0), dropped = Atomic(0)
  /// The connections that nobody can use at present, because a server is at work for them and does not answer.
  let hung = Atomic(0)
  /// The open connections of the pool.
  let open = Atomic(0)
  /// The callers that have a connection of the pool.
  let inUse = Atomic(0)
  private let fullDisk = Mutex<ContinuousClock.Instant?>(nil)

  /// The counts for the operator.
  var statistics: DatabaseStatistics {
    var found = DatabaseStatistics()
    found.commits = commits.load(ordering: .relaxed)
    found.updates = updates.load(ordering: .relaxed)
    found.unknown = unknown.load(ordering: .relaxed)
    found.lost = lost.load(ordering: .relaxed)
    found.connections = open.load(ordering: .relaxed)
    found.repaired = repaired.load(ordering: .relaxed)
    found.damaged = damage.load(ordering: .relaxed)
    found.dropped = dropped.load(ordering: .relaxed)
    found.hung = hung.load(ordering: .relaxed)
    found.idle = max(0, found.connections - found.hung - inUse.load(ordering: .relaxed))
    return found
  }

  /// Notes that the database has just refused a write because its disk is full.
  func noteFullDisk() { fullDisk.withLock { $0 = .now } }

  /// Counts what a repair has found.
  func note(_ outcome: RepairOutcome) {
    repaired.add(outcome.repaired, ordering: .relaxed)
    damage.add(outcome.lost.count + outcome.left, ordering: .relaxed)
    dropped.add(outcome.dropped, ordering: .relaxed)
  }

  /// Whether the database has refused a write because its disk is full, within this time before now.
  func hadFullDisk(within time: Duration) -> Bool {
    fullDisk.withLock { $0.map { ContinuousClock.now - $0 < time } ?? false }
  }
}
