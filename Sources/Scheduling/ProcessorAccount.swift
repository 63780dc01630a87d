import DequeModule
import Synchronization

/// The processor time that one party has used and may still use.
///
/// There are two levels. Addresses are on the upper level and compete with each other. Below an address there is one
/// account for each guest and user, and one for all unauthenticated callers; these accounts compete only with each other.
/// Time that is spent on a lower account is also spent on the upper one. A user's accounts below several addresses share
/// what they spend and their balance, so a user has no more from many addresses than from one. An account has an
/// ``AccountLine`` in each queue.
package final class ProcessorAccount: Sendable {
  /// The most that an account holds, in nanoseconds of one processor: ten seconds, enough for a first sync of 50,000
  /// documents.
  package static let capacity: Int64 = 10_000_000_000
  /// How fast the balance grows, in percent of one processor.
  package static let percent: Int64 = 10

  /// The address's account; nil for an account of the upper level.
  package let parent: ProcessorAccount?
  /// The user's account, on which nothing waits; nil for one that is not a user's below an address.
  private let user: ProcessorAccount?
  private let spending: Spending
  private let lines: [AccountLine]

  /// Makes an account of a user for one address.
  /// - Parameter user: the user's account, which is full at first.
  package init(below parent: ProcessorAccount, of user: ProcessorAccount) {
    self.parent = parent
    self.user = user
    spending = user.spending
    lines = AccountLine.Queue.allCases.map { queue in
      AccountLine(
        user.spending, below: parent.line(in: queue), of: user.line(in: queue), isLimited: true)
    }
  }

  /// Makes a full account.
  /// - Parameter isLimited: whether the account can be overdrawn; the account of the server's own work can't.
  package init(below parent: ProcessorAccount? = nil, isLimited: Bool = true) {
    let spending = Spending()
    self.parent = parent
    user = nil
    self.spending = spending
    lines = AccountLine.Queue.allCases.map { queue in
      AccountLine(spending, below: parent?.line(in: queue), isLimited: isLimited)
    }
  }

  /// The account's part in one of the queues.
  func line(in queue: AccountLine.Queue) -> AccountLine { lines[queue.rawValue] }

  /// Whether the account or its address was overdrawn when a queue last computed the balance.
  package var isOverdrawn: Bool {
    spending.isOverdrawn.load(ordering: .relaxed)
      || parent?.spending.isOverdrawn.load(ordering: .relaxed) ?? false
  }

  /// The time spent since the account was made, in nanoseconds.
  var nanosecondsSpent: Int64 { spending.total.load(ordering: .relaxed) }

  /// Charges processor time to the account and to its address.
  package func spend(nanoseconds: Int64) {
    spending.total.add(nanoseconds, ordering: .relaxed)
    parent?.spending.total.add(nanoseconds, ordering: .relaxed)
  }

  /// The state that an account shares with its lines.
  final class Spending: Sendable {
    /// The time spent so far, in nanoseconds.
    let total = Atomic<Int64>(0)
    /// Whether the account was overdrawn when a queue last computed the balance.
    let isOverdrawn = Atomic<Bool>(false)
  }
}

/// An account's part in one queue: its waiters, and its balance as that queue last computed it.
///
/// Unchecked, because the compiler cannot see the lock. Proof: only ``FairQueue``, a value behind the lock of its pool,
/// semaphore or seats, uses the variables. A line belongs to one queue, because a process has one queue of each name.
final class AccountLine: @unchecked Sendable {
  enum Queue: Int, CaseIterable {
    /// For the ``Seats``.
    case requests
    /// For the threads that work at stores.
    case stores
    /// For a permit of the ``FairSemaphore`` of this kind.
    case searches, hashes, connections
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
