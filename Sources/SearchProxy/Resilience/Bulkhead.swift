import Synchronization

/// Bounds how much of something runs at once; who comes too late waits for a short while, in order.
package final class Bulkhead: Sendable {
  private struct Waiter {
    let ticket: UInt64
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var running = 0
    var lastTicket: UInt64 = 0
    var waiting: [Waiter] = []
    /// Tickets whose owners have not begun to wait yet, and may.
    var drawn: Set<UInt64> = []
  }

  private let limit: Int
  private let waitingLimit: Int
  private let patience: Duration
  private let state = Mutex(State())

  /// - Parameter limit: how many run at once, at least 1.
  /// - Parameter waitingLimit: how many wait at once; one more is refused.
  /// - Parameter patience: how long each waits.
  package init(limit: Int, waitingLimit: Int, patience: Duration) {
    self.limit = max(1, limit)
    self.waitingLimit = waitingLimit
    self.patience = patience
  }

  /// Takes a place, waiting for one if need be.
  /// - Returns: false when there is none in time; otherwise the caller gives it back by ``leave()``.
  package func enter() async -> Bool {
    let ticket: UInt64? = state.withLock { state in
      if state.running < limit {
        state.running += 1
        return nil
      }
      state.lastTicket += 1
      state.drawn.insert(state.lastTicket)
      return state.lastTicket
    }
    guard let ticket else { return true }
    let timer = Task { [patience] in
      try? await Task.sleep(for: patience)
      self.expire(ticket)
    }
    defer { timer.cancel() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in self.wait(ticket, continuation) }
    } onCancel: {
      expire(ticket)
    }
  }

  /// Takes a place if one is free right now.
  package func enterAtOnce() -> Bool {
    state.withLock { state in
      guard state.running < limit else { return false }
      state.running += 1
      return true
    }
  }

  /// Gives a place back, to the one who has waited longest if there is one.
  package func leave() {
    let next: Waiter? = state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.running -= 1
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.continuation.resume(returning: true)
  }

  private func wait(_ ticket: UInt64, _ continuation: CheckedContinuation<Bool, Never>) {
    let answer: Bool? = state.withLock { state in
      // Its time may be over, or its owner gone, before it begins to wait.
      guard state.drawn.remove(ticket) != nil else { return false }
      if state.running < limit {
        state.running += 1
        return true
      }
      guard state.waiting.count < waitingLimit else { return false }
      state.waiting.append(Waiter(ticket: ticket, continuation: continuation))
      return nil
    }
    if let answer { continuation.resume(returning: answer) }
  }

  private func expire(_ ticket: UInt64) {
    let waiter: Waiter? = state.withLock { state in
      guard state.drawn.remove(ticket) == nil else { return nil }
      guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else {
        return nil
      }
      return state.waiting.remove(at: index)
    }
    waiter?.continuation.resume(returning: false)
  }
}
