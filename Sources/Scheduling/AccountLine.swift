import DequeModule
import Synchronization

/// An account's part in one queue: its waiters, and its balance as that queue last computed it.
///
/// Unchecked, because the compiler cannot see the lock. Proof: only ``FairQueue``, a value behind the lock of its pool,
/// semaphore or seats, uses the variables. A line belongs to one queue, because a process has one queue of each name.
package final class AccountLine: @unchecked Sendable {
  /// What the waiters of a queue wait for. A process has one queue of each.
  package enum Queue: Int, Sendable, CaseIterable {
    /// For the ``Seats``.
    case requests
    /// For the threads that work at stores.
    case stores
    /// For a permit of the ``FairSemaphore`` of searches, or of hashes.
    case searches, hashes
    /// For a permit to send something to a database: what writes nothing, or what may write.
    case databaseReads, databaseWrites
  }

  /// The line of the parent account; nil on the upper level.
  let parent: AccountLine?
  /// The line with the balance of a user's lines below all addresses; nil for others.
  let user: AccountLine?
  /// Whether the account can be overdrawn.
  private let isLimited: Bool
  private let spending: ProcessorAccount.Spending
  /// The total spending when the balance was last computed.
  private var seen: Int64 = 0
  /// The balance at that time, in nanoseconds.
  private var balance = ProcessorAccount.capacity
  /// The time when the balance was last computed.
  private var refilled = SliceClock.now
  /// Decides the order: the line with the lowest value is next. It grows with the time spent, and is raised to the
  /// value of the line served last when the line begins to wait.
  var virtualTime: Int64 = 0
  /// When the line was last served or began to wait, in nanoseconds.
  var servedAt: Int64 = 0
  /// The virtual time of the lower line that was served last.
  var servedBelow: Int64 = 0
  /// The lower lines that have waiters.
  var waitingBelow: [AccountLine] = []
  /// How many of them are users'. For a user's own line: below how many addresses something waits.
  var waitingUsers = 0
  /// The waiters, in order.
  var waiters = Deque<Waiter>()

  init(
    _ spending: ProcessorAccount.Spending, below parent: AccountLine?, of user: AccountLine? = nil,
    isLimited: Bool
  ) {
    self.spending = spending
    self.parent = parent
    self.user = user
    self.isLimited = isLimited
    // What a user has spent elsewhere before is in the shared balance.
    if user != nil { seen = spending.total.load(ordering: .relaxed) }
  }

  /// Whether nothing waits here or below.
  var isIdle: Bool { waiters.isEmpty && waitingBelow.isEmpty }

  /// How many wait here and below.
  var waiterCount: Int { waitingBelow.reduce(waiters.count) { $0 + $1.waiters.count } }

  /// Since when the first waiter waits; `Int64.max` when none waits.
  var waitsSince: Int64 { waiters.first?.since ?? .max }

  /// Whether a waiter here or below has waited since before `moment`.
  func waitsLonger(than moment: Int64) -> Bool {
    waitsSince < moment || waitingBelow.contains { $0.waitsSince < moment }
  }

  /// Updates the balance with the time spent and the growth since the last call. Call it under the queue's lock.
  /// - Returns: the balance in nanoseconds; negative when overdrawn.
  func settle(at now: Int64) -> Int64 {
    let total = spending.total.load(ordering: .relaxed)
    let used = total - seen
    seen = total
    virtualTime += used
    if let user { return user.settle(at: now) }
    guard isLimited else { return ProcessorAccount.capacity }
    balance = min(
      balance - used + max(0, now - refilled) / 100 * ProcessorAccount.percent,
      ProcessorAccount.capacity)
    refilled = now
    let isOverdrawn = balance < 0
    if spending.isOverdrawn.load(ordering: .relaxed) != isOverdrawn {
      spending.isOverdrawn.store(isOverdrawn, ordering: .relaxed)
    }
    return balance
  }
}
