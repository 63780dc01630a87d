import DequeModule
import Lanes
import NIOConcurrencyHelpers
import StoreRecords
import Stores
import Synchronization

/// A place for one connection, on the threads of a pool: whatever is done on the connection blocks one of these.
actor Session {
  private let place: InlineExecutor
  private let address: DatabaseAddress
  private let counters: DatabaseCounters
  private var connection: Connection?

  nonisolated var unownedExecutor: UnownedSerialExecutor { place.asUnownedSerialExecutor() }

  /// A place without a connection yet.
  init(_ address: DatabaseAddress, in threads: LanePool, counters: DatabaseCounters) {
    self.address = address
    self.counters = counters
    place = InlineExecutor(threads)
  }

  /// Does something on the connection, which is made if there is none that stands.
  func run<Result: Sendable>(
    _ body: @Sendable (Connection) throws -> Result
  ) throws -> Result {
    let connection = try connected()
    defer { if connection.isBroken { drop() } }
    return try body(connection)
  }

  /// Why the server is none to work with; nil where it is, or does not answer.
  func refusal() -> ServiceError? {
    do {
      _ = try address.connect()
      return nil
    } catch { return error as? ServiceError }
  }

  /// Closes the connection.
  func close() { connection = nil }

  private func drop() {
    connection = nil
    counters.lost.add(1, ordering: .relaxed)
  }

  private func connected() throws -> Connection {
    if let connection, connection.isAlive { return connection }
    if connection != nil { drop() }
    let new = try address.connect()
    connection = new
    return new
  }
}

/// The connections of a node: so many at most, whoever comes later waits in line.
final class ConnectionPool: Sendable {
  /// Connections at most, unless the operator says otherwise.
  static let standardLimit = 16
  /// How many may wait for a connection, for each that there may be.
  private static let waitersPerConnection = 64
  /// How long work that may be repeated is repeated while no server takes writes: 12 seconds. A failover takes less.
  static let patience = Duration.seconds(12)
  /// The pause before it is tried again.
  private static let pause = Duration.milliseconds(50)

  private struct State {
    /// Sessions that nobody uses; the one that was used last stands last.
    var idle: [Session] = []
    /// How many sessions there are.
    var count = 0
    /// Who waits for one.
    var waiting = Deque<CheckedContinuation<Session?, Never>>()
    var isClosed = false
  }

  private let state = NIOLockedValueBox(State())
  private let address: DatabaseAddress
  private let threads: LanePool
  private let limit: Int
  /// Counts for the operator.
  let counters = DatabaseCounters()

  /// Counts for the operator, with those of this moment.
  var statistics: DatabaseStatistics {
    var found = DatabaseStatistics()
    found.commits = counters.commits.load(ordering: .relaxed)
    found.updates = counters.updates.load(ordering: .relaxed)
    found.unknown = counters.unknown.load(ordering: .relaxed)
    found.lost = counters.lost.load(ordering: .relaxed)
    (found.connections, found.idle, found.waiting) = state.withLockedValue {
      ($0.count, $0.idle.count, $0.waiting.count)
    }
    return found
  }

  /// A pool without connections yet.
  init(_ address: DatabaseAddress, limit: Int, threads: LanePool) {
    self.address = address
    self.limit = max(1, limit)
    self.threads = threads
  }

  /// Does something on a connection, once.
  /// - Throws: `overloaded` when too many wait, `unavailable` after ``close()``, ``PostgresError``.
  func once<Result: Sendable>(
    _ body: @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    let session = try await acquire()
    defer { release(session) }
    return try await session.run(body)
  }

  /// Does something that may be repeated: also on a new connection after one was lost, and after a deadlock.
  /// - Parameter isForOthers: whether it is done for others, too, than the request of the calling task: it is repeated
  ///   also when nobody waits for that one any more.
  /// - Throws: as ``once(_:)``.
  func repeating<Result: Sendable>(
    isForOthers: Bool = false, _ body: @Sendable (Connection) throws -> Result
  ) async throws -> Result {
    let deadline = ContinuousClock.now + Self.patience
    while true {
      do { return try await once(body) } catch {
        guard Self.isWorthRepeating(error), ContinuousClock.now < deadline,
          isForOthers || !Slice.isEnded, !Task.isCancelled
        else { throw error }
      }
      try? await Task.sleep(for: Self.pause)
    }
  }

  /// Why a server that answers is none to work with, for who could not connect; nil where none answers.
  func refusal(of address: DatabaseAddress) async -> ServiceError? {
    await Session(address.ofAnyServer, in: threads, counters: counters).refusal()
  }

  /// Whether what failed so may succeed on another connection, or at another try.
  static func isWorthRepeating(_ error: any Error) -> Bool {
    if let error = error as? PostgresError { return error.isRepeatable }
    // A standby that answered before another server became the primary.
    return (error as? ServiceError)?.code == .readOnly
  }

  /// Closes all connections as soon as they are free, and refuses whoever comes later.
  func close() async {
    let (idle, waiting) = state.withLockedValue { state in
      defer { (state.idle, state.waiting) = ([], []) }
      state.isClosed = true
      return (state.idle, state.waiting)
    }
    for continuation in waiting { continuation.resume(returning: nil) }
    for session in idle { await session.close() }
  }

  private enum Turn { case session(Session), wait, refused(ServiceError) }

  private func acquire() async throws -> Session {
    let turn = state.withLockedValue { state -> Turn in
      if state.isClosed { return .refused(.closed) }
      if let session = state.idle.popLast() { return .session(session) }
      guard state.count == limit else {
        state.count += 1
        return .session(Session(address, in: threads, counters: counters))
      }
      guard state.waiting.count < limit * Self.waitersPerConnection else {
        return .refused(
          ServiceError(.overloaded, "Too many requests wait for the database; try again soon"))
      }
      return .wait
    }
    switch turn {
    case .session(let session): return session
    case .refused(let error): throw error
    case .wait: break
    }
    let session = await withCheckedContinuation { continuation in
      let session = state.withLockedValue { state -> Session?? in
        if state.isClosed { return .some(nil) }
        if let session = state.idle.popLast() { return .some(session) }
        state.waiting.append(continuation)
        return nil
      }
      if let session { continuation.resume(returning: session) }
    }
    guard let session else { throw ServiceError.closed }
    return session
  }

  private func release(_ session: Session) {
    let (next, isClosed) = state.withLockedValue { state in
      let next = state.waiting.popFirst()
      if next == nil, !state.isClosed { state.idle.append(session) }
      return (next, state.isClosed)
    }
    next?.resume(returning: session)
    if next == nil, isClosed { Task { await session.close() } }
  }
}
