import Scheduling
import Stores
import Synchronization

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
      Session(address, in: threads, counters: counters, isCounted: true, keepsHung: use == .writes)
    }
    // An account has a line for each kind. In a common one, either pool would give its permits to the other's callers.
    permits = FairSemaphore(
      use == .reads ? .databaseReads : .databaseWrites, permits: limit - 1,
      queueLimit: Self.callersWaiting, takesProcessor: false)
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

  /// Prevents the use of a connection until its server is done with it.
  private func withdraw(_ permit: Int) {
    counters.count { $0.hung += 1 }
    permits.withdraw(permit)
    Work.background { [self] in
      while await !sessions[permit].isUsable() { try? await Task.sleep(for: Self.checkInterval) }
      counters.count { $0.hung -= 1 }
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
  func newSession() -> Session { Session(address, in: threads, counters: counters) }
}
