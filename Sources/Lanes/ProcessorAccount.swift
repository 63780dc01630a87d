import DequeModule
import Synchronization

/// What one party has used of the processors' time, and how much it has left.
///
/// There are two levels: addresses and users stand in line with each other; below an address each guest has an account
/// of its own, and so have all together who have not said who they are, in line with that address's others only. What
/// is spent below is spent above as well. In the queue of each pool an account has a line of its own.
package final class ProcessorAccount: Sendable {
  /// What an account holds, in nanoseconds of one processor: ten seconds, an honest first sync of 50,000 documents.
  package static let capacity: Int64 = 10_000_000_000
  /// How fast it fills, in percent of one processor.
  package static let percent: Int64 = 10

  /// The address's account; nil for one of the upper level.
  package let parent: ProcessorAccount?
  private let spending: Spending
  private let lines: [AccountLine]

  /// An account that is full.
  /// - Parameter isLimited: whether it can be overdrawn; the server's own work can't.
  package init(below parent: ProcessorAccount? = nil, isLimited: Bool = true) {
    let spending = Spending()
    self.parent = parent
    self.spending = spending
    lines = AccountLine.Queue.allCases.map { queue in
      AccountLine(spending, below: parent?.line(in: queue), isLimited: isLimited)
    }
  }

  /// Its line in one of the queues.
  func line(in queue: AccountLine.Queue) -> AccountLine { lines[queue.rawValue] }

  /// Whether it or its address was overdrawn when something was last put in line.
  package var isOverdrawn: Bool {
    spending.isOverdrawn.load(ordering: .relaxed)
      || parent?.spending.isOverdrawn.load(ordering: .relaxed) ?? false
  }

  /// What was spent since the account was made, in nanoseconds.
  var nanosecondsSpent: Int64 { spending.total.load(ordering: .relaxed) }

  /// Pays for processor time.
  package func spend(nanoseconds: Int64) {
    spending.total.add(nanoseconds, ordering: .relaxed)
    parent?.spending.total.add(nanoseconds, ordering: .relaxed)
  }

  /// What an account and its lines share.
  final class Spending: Sendable {
    /// Nanoseconds that were spent so far.
    let total = Atomic<Int64>(0)
    /// Whether the account was overdrawn when that was last looked at.
    let isOverdrawn = Atomic<Bool>(false)
  }
}

/// An account's place in one queue: what waits there on it, and its balance as that queue knows it.
///
/// Unchecked, because the compiler cannot see the lock. Proof: all that changes is touched only by ``FairQueue``, a
/// value behind the lock of its pool, and each line belongs to one queue.
final class AccountLine: @unchecked Sendable {
  /// The queues in which something may wait.
  enum Queue: Int, CaseIterable {
    /// For the threads that work for requests.
    case requests
    /// For the threads that work at stores.
    case stores
    /// For a place behind a ``FairGate``.
    case gates
  }

  /// The line of the account above; nil on the upper level.
  let parent: AccountLine?
  /// Whether it can be overdrawn.
  private let isLimited: Bool
  private let spending: ProcessorAccount.Spending
  /// What was spent when the balance was last computed.
  private var seen: Int64 = 0
  /// Nanoseconds that were left then.
  private var balance = ProcessorAccount.capacity
  /// When that was.
  private var refilled = SliceClock.now
  /// What decides who is next: the time that was spent, raised to the others' when it begins to wait.
  var virtualTime: Int64 = 0
  /// When it was served last, or began to wait, in nanoseconds.
  var servedAt: Int64 = 0
  /// The virtual time of the line below that was served last.
  var servedBelow: Int64 = 0
  /// The lines below in which something waits.
  var waitingBelow: [AccountLine] = []
  /// What waits here, in order.
  var entries = Deque<PoolEntry>()

  init(_ spending: ProcessorAccount.Spending, below parent: AccountLine?, isLimited: Bool) {
    self.spending = spending
    self.parent = parent
    self.isLimited = isLimited
  }

  /// Whether nothing waits here or below.
  var isIdle: Bool { entries.isEmpty && waitingBelow.isEmpty }

  /// Since when its first entry waits; in the far future where there is none.
  var waitsSince: Int64 { entries.first?.since ?? .max }

  /// Whether something waits here or below since before a moment.
  func waitsLonger(than moment: Int64) -> Bool {
    waitsSince < moment || waitingBelow.contains { $0.waitsSince < moment }
  }

  /// Takes note of what was spent and came in since. Under the pool's lock only.
  /// - Returns: nanoseconds that are left; less than nothing when overdrawn.
  func settle(at now: Int64) -> Int64 {
    let total = spending.total.load(ordering: .relaxed)
    let used = total - seen
    seen = total
    virtualTime += used
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
