package import Documents
import NIOConcurrencyHelpers
package import Scheduling

/// An update that waits for its commit, without the type of its rule's result.
package protocol PendingUpdate: AnyObject, Sendable {
  /// The documents that are read before the rule runs.
  var ids: Set<DocumentID> { get }
  /// The time that documents get.
  var now: Timestamp { get }
  /// The request of the update; the update's processor time is charged to it.
  var work: Work? { get }
  /// Whether the update has its outcome.
  var isDone: Bool { get }
  /// Runs the rule and keeps its result. May be called again.
  /// - Throws: what the rule throws; `storage` when the rule changes a document twice.
  func run(_ changes: inout StoreChanges) throws
  /// Sets the outcome, after the commit.
  func finish(_ outcome: Result<Void, any Error>)
}

package final class RuleUpdate<Value: Sendable>: PendingUpdate {
  package let ids: Set<DocumentID>
  package let now: Timestamp
  package let work = Work.current
  private let rule: UpdateRule<Value>
  private let state = NIOLockedValueBox(State())

  private struct State {
    /// The result of the rule's last run.
    var value: Value?
    var outcome: Result<Value, any Error>?
    /// The task that waits for the outcome.
    var caller: CheckedContinuation<Void, Never>?
  }

  package init(loading ids: Set<DocumentID>, now: Timestamp, rule: @escaping UpdateRule<Value>) {
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

  /// Waits for the outcome. The wait can't be cancelled; every update gets an outcome.
  package func waitForOutcome() async {
    guard !isDone else { return }
    await withCheckedContinuation { continuation in
      let isDone = state.withLockedValue { state in
        if state.outcome == nil { state.caller = continuation }
        return state.outcome != nil
      }
      if isDone { continuation.resume() }
    }
  }

  /// The result of the update.
  /// - Throws: the error of the update; `unavailable` when it has no outcome.
  package func outcome() throws -> Value {
    guard let outcome = state.withLockedValue({ $0.outcome }) else { throw ServiceError.closed }
    return try outcome.get()
  }
}
