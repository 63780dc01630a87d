import Scheduling
import Synchronization

/// Limits how many operations run at once. Further callers wait in order, for a short time.
package final class Bulkhead: Sendable {
  private typealias Waiter = (ticket: UInt64, continuation: CheckedContinuation<Bool, Never>)

  private struct State {
    var running = 0
    var lastTicket: UInt64 = 0
    var waiting: [Waiter] = []
    /// Tickets whose owners have not begun to wait yet and have neither expired nor been cancelled.
    var issued: Set<UInt64> = []
  }

  private let limit: Int
  private let waitingLimit: Int
  private let timeout: Duration
  private let state = Mutex(State())

  /// - Parameter limit: how many operations run at once, at least 1.
  /// - Parameter waitingLimit: how many callers wait at once; one more is refused.
  /// - Parameter timeout: how long each caller waits.
  package init(limit: Int, waitingLimit: Int, timeout: Duration) {
    self.limit = max(1, limit)
    self.waitingLimit = waitingLimit
    self.timeout = timeout
  }

  /// Takes a slot, and waits for one if none is free.
  /// - Returns: false when no slot became free in time. Otherwise the caller must return the slot by ``release()``.
  package func acquire() async -> Bool {
    let ticket: UInt64? = state.withLock { state in
      if state.running < limit {
        state.running += 1
        return nil
      }
      state.lastTicket += 1
      state.issued.insert(state.lastTicket)
      return state.lastTicket
    }
    guard let ticket else { return true }
    let timer = Task { [timeout] in
      try? await Task.sleep(for: timeout)
      self.expire(ticket)
    }
    defer { timer.cancel() }
    return await withTaskCancellationHandler {
      await Work.waiting {
        await withCheckedContinuation { continuation in self.wait(ticket, continuation) }
      }
    } onCancel: {
      expire(ticket)
    }
  }

  /// Takes a slot if one is free now.
  package func tryAcquire() -> Bool {
    state.withLock { state in
      guard state.running < limit else { return false }
      state.running += 1
      return true
    }
  }

  /// Returns a slot. The caller that has waited longest gets it.
  package func release() {
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
      // The ticket may have expired, or its task been cancelled, before the wait begins.
      guard state.issued.remove(ticket) != nil else { return false }
      if state.running < limit {
        state.running += 1
        return true
      }
      guard state.waiting.count < waitingLimit else { return false }
      state.waiting.append((ticket, continuation))
      return nil
    }
    if let answer { continuation.resume(returning: answer) }
  }

  private func expire(_ ticket: UInt64) {
    let waiter: Waiter? = state.withLock { state in
      guard state.issued.remove(ticket) == nil else { return nil }
      guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
      return state.waiting.remove(at: index)
    }
    waiter?.continuation.resume(returning: false)
  }
}
