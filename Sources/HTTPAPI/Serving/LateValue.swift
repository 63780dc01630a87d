import Scheduling
import Synchronization

/// A value that becomes known later, for one reader that waits for a time at most.
final class LateValue<Value: Sendable>: Sendable {
  private enum State {
    case unknown
    case awaited(number: Int, CheckedContinuation<Value?, Never>)
    case known(Value)
  }

  private let state = Mutex((state: State.unknown, count: 0))

  /// Begins to wait for a value in a task of its own.
  init(_ value: @escaping @Sendable () async -> Value) {
    Work.background { self.set(await value()) }
  }

  private func set(_ value: Value) {
    let continuation = state.withLock { kept -> CheckedContinuation<Value?, Never>? in
      defer { kept.state = .known(value) }
      if case .awaited(_, let continuation) = kept.state { return continuation }
      return nil
    }
    continuation?.resume(returning: value)
  }

  /// The value; nil if it is not known in time.
  func value(within time: Duration) async -> Value? {
    await Work.waiting {
      await withCheckedContinuation { continuation in
        let (known, number) = state.withLock { kept -> (Value?, Int) in
          if case .known(let value) = kept.state { return (value, 0) }
          kept.count += 1
          kept.state = .awaited(number: kept.count, continuation)
          return (nil, kept.count)
        }
        if let known { return continuation.resume(returning: known) }
        Work.background {
          try? await Task.sleep(for: time)
          self.end(number)
        }
      }
    }
  }

  private func end(_ number: Int) {
    let continuation = state.withLock { kept -> CheckedContinuation<Value?, Never>? in
      guard case .awaited(number, let continuation) = kept.state else { return nil }
      kept.state = .unknown
      return continuation
    }
    continuation?.resume(returning: nil)
  }
}
