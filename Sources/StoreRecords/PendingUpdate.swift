package import Documents
package import Lanes
import NIOConcurrencyHelpers
package import Stores

/// An update that waits for its commit, whatever its rule answers.
package protocol PendingUpdate: AnyObject, Sendable {
  /// The documents that are read before its rule runs.
  var ids: Set<DocumentID> { get }
  /// The moment that documents are stamped with.
  var now: Timestamp { get }
  /// The request that it belongs to, which pays for it.
  var work: Work? { get }
  /// Whether it has its outcome.
  var isDone: Bool { get }
  /// Runs the rule and keeps its answer; may run again.
  /// - Throws: what the rule throws; `storage` where it breaks the port's rules.
  func run(_ changes: inout StoreChanges) throws
  /// Gives it its outcome, after the commit.
  func finish(_ outcome: Result<Void, any Error>)
}

/// An update with its rule.
package final class RuleUpdate<Value: Sendable>: PendingUpdate {
  package let ids: Set<DocumentID>
  package let now: Timestamp
  package let work = Work.current
  private let rule: @Sendable (inout StoreChanges) throws -> Value
  private let state = NIOLockedValueBox(State())

  private struct State {
    /// What the rule answered when it last ran.
    var value: Value?
    var outcome: Result<Value, any Error>?
    /// Who waits for the outcome.
    var caller: CheckedContinuation<Void, Never>?
  }

  /// An update that has not run.
  package init(
    loading ids: Set<DocumentID>, now: Timestamp,
    rule: @escaping @Sendable (inout StoreChanges) throws -> Value
  ) {
    self.ids = ids
    self.now = now
    self.rule = rule
  }

  package var isDone: Bool { state.withLockedValue { $0.outcome != nil } }

  package func run(_ changes: inout StoreChanges) throws {
    let value = try rule(&changes)
    guard !changes.changesTwice else {
      throw ServiceError(.storage, "An update changes a document twice")
    }
    state.withLockedValue { $0.value = value }
  }

  package func finish(_ outcome: Result<Void, any Error>) {
    let caller = state.withLockedValue { state in
      switch (outcome, state.value) {
      case (.success, let value?): state.outcome = .success(value)
      case (.success, nil): state.outcome = .failure(ServiceError.closed)
      case (.failure(let error), _): state.outcome = .failure(error)
      }
      defer { state.caller = nil }
      return state.caller
    }
    caller?.resume()
  }

  /// Waits for the outcome, which comes whatever happens.
  package func finished() async {
    guard !isDone else { return }
    await withCheckedContinuation { continuation in
      let isDone = state.withLockedValue { state in
        if state.outcome == nil { state.caller = continuation }
        return state.outcome != nil
      }
      if isDone { continuation.resume() }
    }
  }

  /// What became of it.
  package func outcome() throws -> Value {
    guard let outcome = state.withLockedValue({ $0.outcome }) else { throw ServiceError.closed }
    return try outcome.get()
  }
}
