import NIOConcurrencyHelpers

/// Holds tasks until a test opens it. The test can wait for a number of tasks to arrive.
final class AsyncLatch: Sendable {
  private struct State {
    var isOpen = false
    var arrived = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = NIOLockedValueBox(State())

  /// Counts the arrival of a task, and waits until the latch is open.
  func wait() async {
    await withCheckedContinuation { continuation in
      let ready = state.withLockedValue { state -> [CheckedContinuation<Void, Never>] in
        state.arrived += 1
        let count = state.arrived
        var ready = state.watchers.filter { $0.count <= count }.map(\.continuation)
        state.watchers.removeAll { $0.count <= count }
        if state.isOpen { ready.append(continuation) } else { state.waiting.append(continuation) }
        return ready
      }
      for continuation in ready { continuation.resume() }
    }
  }

  /// Waits until a number of tasks have arrived.
  func waitForArrivals(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLockedValue { state in
        guard state.arrived < count else { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// Opens the latch. It stays open.
  func open() {
    let waiting = state.withLockedValue { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}
