import NIOConcurrencyHelpers

/// A clock whose time changes only when a test advances it.
package final class ManualClock: Clock, Sendable {
  /// A point in the clock's time, from its start.
  package struct Instant: InstantProtocol {
    /// The time since the clock's start.
    package let offset: Swift.Duration

    package func advanced(by duration: Swift.Duration) -> Instant {
      Instant(offset: offset + duration)
    }
    package func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
    package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper {
    let deadline: Instant
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var now = Instant(offset: .zero)
    var last: UInt64 = 0
    var cancelled: Set<UInt64> = []
    var sleepers: [UInt64: Sleeper] = [:]
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = NIOLockedValueBox(State())

  package init() {}

  package var now: Instant { state.withLockedValue { $0.now } }
  package var minimumResolution: Swift.Duration { .zero }

  /// Advances the clock and wakes the tasks whose deadline is reached.
  package func advance(by duration: Swift.Duration) {
    let due = state.withLockedValue { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for key in due.keys { state.sleepers[key] = nil }
      return due.values.map(\.continuation)
    }
    for continuation in due { continuation.resume(returning: true) }
  }

  /// Returns when at least this many tasks sleep.
  package func waitForSleepers(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLockedValue { state in
        guard state.sleepers.count < count else { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  package func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
    let key = state.withLockedValue { state in
      state.last += 1
      return state.last
    }
    let wasWoken = await withTaskCancellationHandler {
      await withCheckedContinuation { sleep(key, until: deadline, $0) }
    } onCancel: {
      cancel(key)
    }
    state.withLockedValue { state in _ = state.cancelled.remove(key) }
    guard wasWoken else { throw CancellationError() }
  }

  private func sleep(
    _ key: UInt64, until deadline: Instant, _ continuation: CheckedContinuation<Bool, Never>
  ) {
    let (answer, watchers) = state.withLockedValue { state in
      if state.cancelled.contains(key) {
        return (false as Bool?, [CheckedContinuation<Void, Never>]())
      }
      if deadline <= state.now { return (true, []) }
      state.sleepers[key] = Sleeper(deadline: deadline, continuation: continuation)
      let count = state.sleepers.count
      let watchers = state.watchers.filter { $0.count <= count }.map(\.continuation)
      state.watchers.removeAll { $0.count <= count }
      return (nil, watchers)
    }
    if let answer { continuation.resume(returning: answer) }
    for watcher in watchers { watcher.resume() }
  }

  private func cancel(_ key: UInt64) {
    let sleeper = state.withLockedValue { state in
      state.cancelled.insert(key)
      return state.sleepers.removeValue(forKey: key)
    }
    sleeper?.continuation.resume(returning: false)
  }
}
