import Documents
import Lanes
import NIOConcurrencyHelpers
import SQLite
import Stores

/// An update that waits for its commit, whatever its rule answers.
protocol PendingUpdate: AnyObject, Sendable {
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
final class RuleUpdate<Value: Sendable>: PendingUpdate {
  let ids: Set<DocumentID>
  let now: Timestamp
  let work = Work.current
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
  init(
    loading ids: Set<DocumentID>, now: Timestamp,
    rule: @escaping @Sendable (inout StoreChanges) throws -> Value
  ) {
    self.ids = ids
    self.now = now
    self.rule = rule
  }

  var isDone: Bool { state.withLockedValue { $0.outcome != nil } }

  func run(_ changes: inout StoreChanges) throws {
    let value = try rule(&changes)
    guard !changes.changesTwice else {
      throw ServiceError(.storage, "An update changes a document twice")
    }
    state.withLockedValue { $0.value = value }
  }

  func finish(_ outcome: Result<Void, any Error>) {
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
  func outcome() throws -> Value {
    guard let outcome = state.withLockedValue({ $0.outcome }) else { throw ServiceError.closed }
    return try outcome.get()
  }
}

/// Writes that wait to share a commit, in the order they came.
final class Inbox<Write: Sendable>: Sendable {
  private let waiting = NIOLockedValueBox<[Write]>([])
  private let limit: Int

  /// An empty inbox that takes so many writes at once.
  init(limit: Int) {
    self.limit = limit
  }

  /// Puts a write in the line.
  /// - Returns: false when the line is full.
  func append(_ write: Write) -> Bool {
    waiting.withLockedValue { waiting in
      guard waiting.count < limit else { return false }
      waiting.append(write)
      return true
    }
  }

  /// Puts writes back that were taken and are not done, before all others.
  func putBack(_ writes: ArraySlice<Write>) {
    guard !writes.isEmpty else { return }
    waiting.withLockedValue { $0 = writes + $0 }
  }

  /// Whether nothing waits.
  var isEmpty: Bool { waiting.withLockedValue { $0.isEmpty } }

  /// Takes the first writes out of the line.
  func take(atMost count: Int) -> [Write] {
    waiting.withLockedValue { waiting in
      guard waiting.count > count else {
        defer { waiting = [] }
        return waiting
      }
      let taken = Array(waiting.prefix(count))
      waiting.removeFirst(taken.count)
      return taken
    }
  }
}

/// Runs blocking calls that belong to no store on a lane, off Swift's own threads.
actor LaneWork {
  private let lane: Lane

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  /// Work for a lane.
  init(_ lane: Lane) { self.lane = lane }

  /// Runs `work` on the lane's thread.
  func run<Value: Sendable, Failure: Error>(
    _ work: @Sendable () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try work()
  }
}
