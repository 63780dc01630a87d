import Synchronization

/// Lets so many in at once and so many wait, first come first served; one more is turned away.
final class HashingGate: Sendable {
  private struct State {
    var inside = 0
    var queue: [CheckedContinuation<Bool, Never>] = []
  }

  private let state = Mutex(State())
  private let places: Int
  private let seats: Int

  /// A gate with so many places inside and seats to wait on.
  init(places: Int, seats: Int) {
    self.places = max(1, places)
    self.seats = max(0, seats)
  }

  /// Waits for a place, which ``leave()`` gives back.
  /// - Throws: `hashingBusy` when every seat is taken.
  func enter() async throws(AccountError) {
    let isIn = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
      let answer: Bool? = state.withLock { state in
        if state.inside < places {
          state.inside += 1
          return true
        }
        guard state.queue.count < seats else { return false }
        state.queue.append(continuation)
        return nil
      }
      if let answer { continuation.resume(returning: answer) }
    }
    guard isIn else { throw .hashingBusy }
  }

  /// Gives the place to the next who waits.
  func leave() {
    let next: CheckedContinuation<Bool, Never>? = state.withLock { state in
      guard state.queue.isEmpty else { return state.queue.removeFirst() }
      state.inside -= 1
      return nil
    }
    next?.resume(returning: true)
  }
}
