import Synchronization

/// Limits how many replications copy at the same time. The others wait in the order in which they came, and a replication
/// that has had its turn for a while lets the next one copy.
package final class ReplicationTurns: Sendable {
  /// How many copy at once. Each holds at most two batches in memory.
  package static let atOnce = 8
  /// How long their turns last if others wait.
  package static let length = Duration.seconds(10)

  private struct State {
    var free: Int
    var waiting: [(number: Int, continuation: CheckedContinuation<Void, any Error>)] = []
    var next = 0
    /// Those that were cancelled before they waited.
    var cancelled: Set<Int> = []
  }

  private let state: Mutex<State>
  /// How long a turn lasts if others wait.
  private let length: Duration

  package init(
    atOnce count: Int = ReplicationTurns.atOnce, length: Duration = ReplicationTurns.length
  ) {
    state = Mutex(State(free: count))
    self.length = length
  }

  /// Waits for a turn.
  /// - Throws: `CancellationError`.
  func take() async throws -> Turn {
    try await wait()
    return Turn(self)
  }

  /// How many replications wait.
  package var waitingCount: Int { state.withLock { $0.waiting.count } }

  fileprivate func wait() async throws {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result = state.withLock { state -> Result<Void, any Error>? in
          if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
          if state.free > 0 {
            state.free -= 1
            return .success(())
          }
          state.waiting.append((number, continuation))
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
        guard let index = state.waiting.firstIndex(where: { $0.number == number }) else {
          state.cancelled.insert(number)
          return nil
        }
        return state.waiting.remove(at: index).continuation
      }
      continuation?.resume(throwing: CancellationError())
    }
    state.withLock { _ = $0.cancelled.remove(number) }
  }

  fileprivate func release() {
    let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
      guard !state.waiting.isEmpty else {
        state.free += 1
        return nil
      }
      return state.waiting.removeFirst().continuation
    }
    next?.resume()
  }

  /// The turn of one replication.
  final class Turn: Sendable {
    private let turns: ReplicationTurns
    /// When it was taken; nil while it is not held.
    private let began = Mutex<ContinuousClock.Instant?>(.now)

    fileprivate init(_ turns: ReplicationTurns) { self.turns = turns }

    /// Whether it has lasted long, and others wait.
    var isWanted: Bool {
      let began = began.withLock { $0 }
      return began.map { ContinuousClock.now - $0 >= turns.length } ?? false
        && turns.waitingCount > 0
    }

    /// Gives the turn back; a second call does nothing.
    func give() {
      let isHeld = began.withLock { began in
        defer { began = nil }
        return began != nil
      }
      if isHeld { turns.release() }
    }

    /// Gives the turn back and waits for the next one.
    /// - Throws: `CancellationError`.
    func takeAgain() async throws {
      give()
      try await turns.wait()
      began.withLock { $0 = .now }
    }
  }
}
