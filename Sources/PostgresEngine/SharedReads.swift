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
  private struct Waiting: Sendable {
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
    let taken = NIOLockedValueBox<[Waiting]>([])
    let since = state.withLockedValue { $0.waiting.first?.since } ?? .now
    do {
      try await pool.repeating(for: .everybody, since: since) { connection in
        let end = ContinuousClock.now + Self.turn
        repeat {
          let reads = self.batch(in: taken)
          if reads.isEmpty { return }
          // The processor time is divided among their requests.
          let found = try connection.charging(reads.map(\.work)) {
            try connection.run(reads.map(\.call))
          }
          for (read, rows) in zip(reads, found) { read.continuation.resume(returning: rows) }
          taken.withLockedValue { $0 = [] }
        } while ContinuousClock.now < end
      }
    } catch {
      // Without a connection nothing was taken. Some reads must get the error, so that the caller's loop ends.
      for read in batch(in: taken) { read.continuation.resume(throwing: error) }
      failOverdue(error)
    }
  }

  /// The reads of a round trip: those that an attempt before has taken, or those that wait by now.
  private func batch(in taken: NIOLockedValueBox<[Waiting]>) -> [Waiting] {
    taken.withLockedValue { taken in
      if taken.isEmpty { taken = take(atMost: Self.readsPerRoundTrip) }
      return taken
    }
  }

  /// Fails the reads that have waited for as long as work is repeated.
  private func failOverdue(_ error: any Error) {
    let limit = ContinuousClock.now - ConnectionPool.patience
    let overdue = state.withLockedValue { state in
      state.waiting.prefix { $0.since <= limit }.count
    }
    for read in take(atMost: overdue) { read.continuation.resume(throwing: error) }
  }

  private func take(atMost most: Int) -> [Waiting] {
    state.withLockedValue { state in
      let count = min(state.waiting.count, most)
      defer { state.waiting.removeFirst(count) }
      return Array(state.waiting.prefix(count))
    }
  }
}
