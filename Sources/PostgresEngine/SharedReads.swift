import DequeModule
import NIOConcurrencyHelpers
import Scheduling

/// Reads of one row each, by any requests. Those that come while others are under way share the next round trip.
///
/// A round trip costs a node and the database more than the search for a row: with 32 connections a read takes half the
/// processor time of both (<doc:MeasuredChanges>). The statements of a round trip have nothing else in common: each sees
/// the newest committed state, and each can be repeated alone.
final class SharedReads: Sendable {
  /// How many round trips may be under way: two, so that a connection that hangs does not stop all reads.
  static let roundTripsAtOnce = 2
  /// The largest number of reads in one round trip.
  static let readsPerRoundTrip = 32
  /// The length in bytes of the longest row, body and history, that such a read returns. A longer one would delay the
  /// other reads.
  static let longestRow = 65_536
  /// How long a connection is used for one round trip after the other. Then other callers of the pool may have it.
  private static let turn = Duration.milliseconds(10)

  /// A read that waits for a round trip.
  fileprivate struct Waiting: Sendable {
    let call: Call
    let work: Work?
    let since = ContinuousClock.now
    let continuation: CheckedContinuation<Rows, any Error>
  }

  private struct State {
    var underWay = 0
    var waiting = Deque<Waiting>()

    /// Whether another round trip may begin.
    mutating func begin() -> Bool {
      guard underWay < SharedReads.roundTripsAtOnce else { return false }
      underWay += 1
      return true
    }
  }

  private let pool: ConnectionPool
  private let state = NIOLockedValueBox(State())

  /// Creates a queue without reads.
  init(on pool: ConnectionPool) { self.pool = pool }

  /// Runs a statement that finds one row of a bounded length.
  /// - Throws: ``PostgresError``. One that the server refused may be the fault of another statement of the same round
  ///   trip. Also the errors of ``ConnectionPool/repeating(for:since:_:)``.
  func rows(_ call: Call) async throws -> Rows {
    // A request that would have to wait, as an overdrawn one may, must not make others wait for its round trip.
    let mayBeAlone = !(Work.current?.account.isOverdrawn ?? false) && pool.isFree
    let isAlone = state.withLockedValue { mayBeAlone && $0.waiting.isEmpty && $0.begin() }
    guard isAlone else { return try await wait(call) }
    defer { if !endIfNothingWaits() { startAnswering() } }
    do {
      return try await pool.repeating { connection in try connection.run([call])[0] }
    } catch {
      failOverdue(error)
      throw error
    }
  }

  private func wait(_ call: Call) async throws -> Rows {
    try await Work.waiting({
      try await withCheckedThrowingContinuation { continuation in
        let read = Waiting(call: call, work: Work.current, continuation: continuation)
        let begins = state.withLockedValue { state in
          state.waiting.append(read)
          return state.begin()
        }
        if begins { startAnswering() }
      }
    })
  }

  private func endIfNothingWaits() -> Bool {
    state.withLockedValue { state in
      guard state.waiting.isEmpty else { return false }
      state.underWay -= 1
      return true
    }
  }

  private func startAnswering() {
    Work.background { [self] in
      repeat { await answer() } while !endIfNothingWaits()
    }
  }

  private func answer() async {
    let batch = ReadBatch()
    let since = state.withLockedValue { $0.waiting.first?.since } ?? .now
    do {
      try await pool.repeating(for: .everybody, since: since) { connection in
        let end = ContinuousClock.now + Self.turn
        repeat {
          if batch.isEmpty { batch.fill(self.take(atMost: Self.readsPerRoundTrip)) }
          if batch.isEmpty { return }
          try batch.run(on: connection)
        } while ContinuousClock.now < end
      }
    } catch {
      // Without a connection nothing was taken. Some reads must get the error, so that the caller's loop ends.
      if batch.isEmpty { batch.fill(take(atMost: Self.readsPerRoundTrip)) }
      batch.fail(error)
      failOverdue(error)
    }
  }

  /// Fails the reads that have waited for as long as work is repeated.
  private func failOverdue(_ error: any Error) {
    let limit = ContinuousClock.now - ConnectionPool.patience
    let overdue = state.withLockedValue { state in
      state.waiting.prefix { $0.since <= limit }.count
    }
    let reads = ReadBatch()
    reads.fill(take(atMost: overdue))
    reads.fail(error)
  }

  private func take(atMost most: Int) -> [Waiting] {
    state.withLockedValue { state in
      let count = min(state.waiting.count, most)
      defer { state.waiting.removeFirst(count) }
      return Array(state.waiting.prefix(count))
    }
  }
}

/// The reads of one round trip. Confined to one task at a time: that of ``SharedReads/answer()``, which passes the batch
/// to a connection's thread and waits.
///
/// Unchecked, because the compiler cannot see that. Proof: `answer` creates the batch. Only the closure that is awaited
/// there captures it, and the function uses it after that. There is no other reference.
private final class ReadBatch: @unchecked Sendable {
  private var reads: [SharedReads.Waiting] = []

  var isEmpty: Bool { reads.isEmpty }

  func fill(_ reads: [SharedReads.Waiting]) { self.reads = reads }

  /// Sends the statements, and gives each read its rows. The processor time is divided among their requests.
  /// - Throws: ``PostgresError``. No read has been answered then.
  func run(on connection: Connection) throws {
    let found = try connection.charging(reads.map(\.work)) { try connection.run(reads.map(\.call)) }
    for (read, rows) in zip(reads, found) { read.continuation.resume(returning: rows) }
    reads = []
  }

  func fail(_ error: any Error) {
    for read in reads { read.continuation.resume(throwing: error) }
    reads = []
  }
}
