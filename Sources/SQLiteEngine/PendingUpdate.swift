import Documents
import Lanes
import NIOConcurrencyHelpers
import Stores

/// An update that waits for its commit, whatever its rule answers.
protocol PendingUpdate: AnyObject, Sendable {
  /// The documents that it may change.
  var ids: Set<DocumentID> { get }
  /// The moment that documents are stamped with.
  var now: Timestamp { get }
  /// The request that it belongs to, which pays for it.
  var work: Work? { get }
  /// Whether it has its outcome.
  var isDone: Bool { get }
  /// Runs the rule and keeps its answer; may run again.
  func decide(in view: any StoreView) throws(StoreError) -> Decision<Void>
  /// Gives it its outcome, after the commit.
  func finish(_ outcome: Result<[Change], StoreError>)
}

/// An update with its rule.
final class RuleUpdate<Value: Sendable>: PendingUpdate {
  let ids: Set<DocumentID>
  let now: Timestamp
  let work = Work.current
  private let rule: @Sendable (any StoreView) throws(StoreError) -> Decision<Value>
  private let state = NIOLockedValueBox(State())

  private struct State {
    /// What the rule answered when it last ran.
    var value: Value?
    var outcome: Result<Committed<Value>, StoreError>?
    /// Who waits for the outcome.
    var caller: CheckedContinuation<Void, Never>?
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

  func decide(in view: any StoreView) throws(StoreError) -> Decision<Void> {
    let decision = try rule(view)
    let changed = decision.mutations.map(\.id) + decision.purges.map(\.id)
    guard changed.allSatisfy({ ids.contains($0) }),
      changed.count < 2 || Set(changed).count == changed.count
    else {
      throw StoreError(.storage, "A decision changes a document twice or notLoaded")
    }
    state.withLockedValue { $0.value = decision.value }
    return decision.withoutValue
  }

  func finish(_ outcome: Result<[Change], StoreError>) {
    let caller = state.withLockedValue { state in
      switch (outcome, state.value) {
      case (.success(let changes), let value?):
        state.outcome = .success(Committed(changes: changes, value: value))
      case (.success, nil):
        state.outcome = .failure(.closed)
      case (.failure(let error), _):
        state.outcome = .failure(error)
      }
      defer { state.caller = nil }
      return state.caller
    }
    caller?.resume()
  }

  /// Waits for the outcome, which comes whatever happens.
  func finished() async {
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
  func outcome() throws(StoreError) -> Committed<Value> {
    guard let outcome = state.withLockedValue({ $0.outcome }) else { throw .closed }
    return try outcome.get()
  }
}

extension Decision {
  /// What is to be written.
  fileprivate var withoutValue: Decision<Void> {
    var decision = Decision<Void>(mutations, locals: locals, value: ())
    decision.purges = purges
    decision.withoutHistory = withoutHistory
    decision.indexes = indexes
    decision.keepsHistory = keepsHistory
    decision.freesSpace = freesSpace
    return decision
  }

  /// Whether nothing is to be written.
  var isEmpty: Bool {
    mutations.isEmpty && locals.isEmpty && purges.isEmpty && indexes.isEmpty
      && withoutHistory.isEmpty
  }
}
