import NIOConcurrencyHelpers
import Stores

/// Whether the stores of an engine may be changed, and which of them were changed while a move copies them.
///
/// Every change of a store begins with ``begin(_:)`` and ends with ``end(_:)``: a commit, a repair, the creation, the
/// replacement and the erasure of a store. It is noted at both: a copy that begins in between may read the state before.
package final class WriteAccess: Sendable {
  /// Which changes are accepted.
  package enum Phase: Sendable {
    /// All.
    case allowed
    /// None, because a move copies what was changed last. ``WriteAccess/allow()`` ends this.
    case refused
    /// None, because a move writes its marks. ``WriteAccess/undoHandover()`` ends this.
    case handover
    /// None for as long as this process lives, because servers may use the copies.
    case moved
  }

  private struct State: Sendable {
    var phase = Phase.allowed
    /// How many changes are under way.
    var running = 0
    /// The keys of the stores that were changed; nil while nobody asks for them.
    var changed: Set<String>?
    /// Who waits until no change is under way.
    var waiting: [CheckedContinuation<Void, Never>] = []

    mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
      defer { waiting = [] }
      return waiting
    }
  }

  private let state = NIOLockedValueBox(State())

  /// Begins a change of a store.
  /// - Throws: `moved` while changes are refused; ``end(_:)`` must not be called then.
  func begin(_ key: String) throws {
    try state.withLockedValue { state in
      guard state.phase == .allowed else { throw ServiceError.moved }
      state.running += 1
      state.changed?.insert(key)
    }
  }

  /// Ends a change of a store.
  func end(_ key: String) {
    let waiting = state.withLockedValue { state in
      state.running -= 1
      state.changed?.insert(key)
      return state.running == 0 ? state.takeWaiting() : []
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Changes a store.
  /// - Throws: `moved` while changes are refused; what `work` throws.
  nonisolated(nonsending) func change<Value>(
    _ key: String, _ work: () async throws -> Value
  ) async throws -> Value {
    try begin(key)
    defer { end(key) }
    return try await work()
  }

  /// Checks that changes are accepted.
  /// - Throws: `moved`.
  package func requireAllowed() throws {
    guard phase == .allowed else { throw ServiceError.moved }
  }

  /// The present phase.
  package var phase: Phase { state.withLockedValue { $0.phase } }

  /// Begins or ends to note which stores are changed.
  package func noteChanges(_ isNoting: Bool) {
    state.withLockedValue { $0.changed = isNoting ? [] : nil }
  }

  /// The keys of the stores that were changed since the last call, in no order.
  package func takeChanged() -> Set<String> {
    state.withLockedValue { state in
      defer { if state.changed != nil { state.changed = [] } }
      return state.changed ?? []
    }
  }

  /// Forgets that a store was changed.
  package func forgetChange(_ key: String) { state.withLockedValue { _ = $0.changed?.remove(key) } }

  /// Whether a store was changed since the last call of ``takeChanged()`` or ``forgetChange(_:)``.
  package func hasChanged(_ key: String) -> Bool {
    state.withLockedValue { $0.changed?.contains(key) ?? false }
  }

  /// Refuses changes. When the call returns, no change is under way.
  package func refuse() async {
    state.withLockedValue { state in
      if state.phase == .allowed { state.phase = .refused }
    }
    await withCheckedContinuation { continuation in
      let isQuiet = state.withLockedValue { state in
        if state.running > 0 { state.waiting.append(continuation) }
        return state.running == 0
      }
      if isQuiet { continuation.resume() }
    }
  }

  /// Accepts changes again, unless the handover has begun.
  package func allow() {
    state.withLockedValue { state in
      if state.phase == .refused { state.phase = .allowed }
    }
  }

  /// Begins the handover.
  /// - Throws: `CancellationError` when changes were allowed meanwhile, so that the copies may be out of date.
  package func beginHandover() throws {
    try state.withLockedValue { state in
      guard state.phase != .allowed else { throw CancellationError() }
      if state.phase == .refused { state.phase = .handover }
    }
  }

  /// Accepts changes again after a handover that has failed before ``finishHandover()``.
  package func undoHandover() {
    state.withLockedValue { state in
      if state.phase == .handover { state.phase = .allowed }
    }
  }

  /// Refuses changes for good. To be called before servers may use the copies.
  package func finishHandover() { state.withLockedValue { $0.phase = .moved } }
}
