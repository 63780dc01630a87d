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
