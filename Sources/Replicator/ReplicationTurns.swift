import Stores
import Synchronization

/// Limits how many replications copy at the same time. The accounts that wait take turns, and of one account those who came
/// first go first. A replication that has had its turn for a while lets the next one copy.
package final class ReplicationTurns: Sendable {
  /// How many copy at once. Each holds at most two batches in memory, and the changes of a third one.
  package static let atOnce = 8
  /// How long their turns last if others wait.
  package static let length = Duration.seconds(10)
  /// After how many of these a turn is overdue that was not given back, because an answer takes so long: 5 minutes.
  package static let mostLengths = 30

  fileprivate typealias Waiting = (number: Int, continuation: CheckedContinuation<Void, any Error>)

  fileprivate struct State {
    var free: Int
    let mostOfOne: Int
    var waiting: [AccountID?: [Waiting]] = [:]
    /// The accounts with replications that wait, in the order in which they take turns.
    var accounts: [AccountID?] = []
    /// How many turns each account has.
    var held: [AccountID?: Int] = [:]
    var next = 0
    /// Those that were cancelled before they waited.
    var cancelled: Set<Int> = []
  }

  private let state: Mutex<State>
  /// How long a turn lasts if others wait.
  private let length: Duration
  /// After how long a turn is overdue if others wait.
  private let patience: Duration

  /// - Parameter mostOfOne: the most turns of one account at a time.
  /// - Parameter mostLengths: after how many of its lengths a turn is overdue.
  package init(
    atOnce count: Int = ReplicationTurns.atOnce, ofOne mostOfOne: Int = .max,
    length: Duration = ReplicationTurns.length, mostLengths: Int = ReplicationTurns.mostLengths
  ) {
    state = Mutex(State(free: count, mostOfOne: mostOfOne))
    (self.length, patience) = (length, length * mostLengths)
  }

  /// Waits for a turn.
  /// - Parameter account: whose replication it is; nil for the administrator.
  /// - Throws: `CancellationError`.
  func take(for account: AccountID? = nil) async throws -> Turn {
    try await wait(for: account)
    return Turn(self, account)
  }

  /// How many replications wait.
  package var waitingCount: Int { state.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

  fileprivate var isWanted: Bool { state.withLock { !$0.accounts.isEmpty } }

  fileprivate func wait(for account: AccountID?) async throws {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = state.withLock { state in
          if state.cancelled.remove(number) != nil { return true }
          state.add((number, continuation), of: account)
          return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
        giveNext()
      }
    } onCancel: {
      let continuation = state.withLock { state in
        let continuation = state.remove(number, of: account)
        if continuation == nil { state.cancelled.insert(number) }
        return continuation
      }
      continuation?.resume(throwing: CancellationError())
    }
    state.withLock { _ = $0.cancelled.remove(number) }
  }

  /// Gives a free turn to the next one, if there is one.
  private func giveNext() { state.withLock { $0.takeNext() }?.resume() }

  fileprivate func release(of account: AccountID?) {
    state.withLock { $0.release(of: account) }
    giveNext()
  }

  /// The turn of one replication.
  final class Turn: Sendable {
    private let turns: ReplicationTurns
    private let account: AccountID?
    /// When it was taken; nil while it is not held.
    private let began = Mutex<ContinuousClock.Instant?>(.now)

    fileprivate init(_ turns: ReplicationTurns, _ account: AccountID?) {
      (self.turns, self.account) = (turns, account)
    }

    /// Whether it has lasted long, and others wait.
    var isWanted: Bool { hasLasted(turns.length) && turns.isWanted }

    /// Whether it has lasted far too long, and others wait.
    var isOverdue: Bool { hasLasted(turns.patience) && turns.isWanted }

    private func hasLasted(_ length: Duration) -> Bool {
      began.withLock { $0 }.map { ContinuousClock.now - $0 >= length } ?? false
    }

    /// Counts its length from now on, if it is held.
    func beginAgain() { began.withLock { began in began = began.map { _ in .now } } }

    /// Gives the turn back; a second call does nothing.
    func give() {
      let isHeld = began.withLock { began in
        defer { began = nil }
        return began != nil
      }
      if isHeld { turns.release(of: account) }
    }

    /// Gives the turn back and waits for the next one.
    /// - Throws: `CancellationError`.
    func takeAgain() async throws {
      give()
      try await turns.wait(for: account)
      began.withLock { $0 = .now }
    }
  }
}

extension ReplicationTurns.State {
  fileprivate mutating func add(_ waiting: ReplicationTurns.Waiting, of account: AccountID?) {
    if self.waiting[account] == nil { accounts.append(account) }
    self.waiting[account, default: []].append(waiting)
  }

  /// Removes one that waits.
  /// - Returns: nil if it does not wait.
  fileprivate mutating func remove(
    _ number: Int, of account: AccountID?
  ) -> CheckedContinuation<Void, any Error>? {
    guard let index = waiting[account]?.firstIndex(where: { $0.number == number }) else {
      return nil
    }
    let removed = waiting[account]?.remove(at: index)
    if waiting[account]?.isEmpty ?? false {
      waiting[account] = nil
      accounts.removeAll { $0 == account }
    }
    return removed?.continuation
  }

  /// Takes the first one of the next account that may have another turn. Then it is the other accounts' turn.
  fileprivate mutating func takeNext() -> CheckedContinuation<Void, any Error>? {
    guard free > 0,
      let index = accounts.firstIndex(where: { held[$0, default: 0] < mostOfOne }),
      let first = waiting[accounts[index]]?.first
    else { return nil }
    let account = accounts.remove(at: index)
    waiting[account]?.removeFirst()
    if waiting[account]?.isEmpty ?? true {
      waiting[account] = nil
    } else {
      accounts.append(account)
    }
    free -= 1
    held[account, default: 0] += 1
    return first.continuation
  }

  fileprivate mutating func release(of account: AccountID?) {
    free += 1
    let count = held[account, default: 1] - 1
    held[account] = count > 0 ? count : nil
  }
}
