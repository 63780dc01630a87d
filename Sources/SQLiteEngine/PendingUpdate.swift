import Documents
import NIOConcurrencyHelpers
import Stores

/// An update that waits for its commit, whatever its rule answers.
protocol PendingUpdate: AnyObject, Sendable {
  /// The moment that documents are stamped with.
  var now: Timestamp { get }
  /// Whether it has its outcome.
  var isDone: Bool { get }
  /// Runs the rule and keeps its answer; may run again.
  func decide(
    in view: any StoreView
  ) throws(StoreError) -> (mutations: [Mutation], locals: [LocalEdit])
  /// Gives it its outcome, after the commit.
  func finish(_ outcome: Result<[Change], StoreError>)
}

/// An update with its rule.
final class RuleUpdate<Value: Sendable>: PendingUpdate {
  let now: Timestamp
  private let ids: Set<DocumentID>
  private let rule: @Sendable (any StoreView) throws(StoreError) -> Decision<Value>
  private let state = NIOLockedValueBox(State())

  private struct State {
    /// What the rule answered when it last ran.
    var value: Value?
    var outcome: Result<Committed<Value>, StoreError>?
  }

  /// An update that has not run.
  init(
    _ ids: Set<DocumentID>, now: Timestamp,
    rule: @escaping @Sendable (any StoreView) throws(StoreError) -> Decision<Value>
  ) {
    self.ids = ids
    self.now = now
    self.rule = rule
  }

  var isDone: Bool { state.withLockedValue { $0.outcome != nil } }

  func decide(
    in view: any StoreView
  ) throws(StoreError) -> (mutations: [Mutation], locals: [LocalEdit]) {
    let decision = try rule(view)
    guard decision.mutations.allSatisfy({ ids.contains($0.id) }),
      decision.mutations.count < 2
        || Set(decision.mutations.map(\.id)).count == decision.mutations.count
    else {
      throw StoreError(.storage, "A decision changes a document twice or unannounced")
    }
    state.withLockedValue { $0.value = decision.value }
    return (decision.mutations, decision.locals)
  }

  func finish(_ outcome: Result<[Change], StoreError>) {
    state.withLockedValue { state in
      switch (outcome, state.value) {
      case (.success(let changes), let value?):
        state.outcome = .success(Committed(changes: changes, value: value))
      case (.success, nil):
        state.outcome = .failure(.closed)
      case (.failure(let error), _):
        state.outcome = .failure(error)
      }
    }
  }

  /// What became of it.
  func outcome() throws(StoreError) -> Committed<Value> {
    guard let outcome = state.withLockedValue({ $0.outcome }) else { throw .closed }
    return try outcome.get()
  }
}
