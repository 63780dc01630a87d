import Synchronization

/// What one admitted call still owes its circuit breaker, so that each attempt is told of exactly once however
/// the call ends.
final class CallProgress: Sendable {
  /// What is owed.
  enum Owed: Sendable {
    /// That the upstream was never asked.
    case unasked
    /// What came of an attempt that has begun.
    case outcome
    /// All was told.
    case nothing
  }

  private let state = Mutex(Owed.unasked)

  /// What is owed now.
  var owed: Owed { state.withLock { $0 } }

  /// An attempt begins.
  func begin() { state.withLock { $0 = .outcome } }

  /// An attempt's outcome is told.
  func end() { state.withLock { $0 = .nothing } }
}
