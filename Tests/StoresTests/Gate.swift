import NIOConcurrencyHelpers

/// A door that tasks wait at until a test opens it, and that tells the test how many have come.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var arrived = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = NIOLockedValueBox(State())

  /// Waits until the door is open.
  func pass() async {
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

  /// Waits until so many tasks have come to the door.
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

  /// Opens the door for good.
  func open() {
    let waiting = state.withLockedValue { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}
