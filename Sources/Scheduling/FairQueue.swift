import DequeModule

/// The work that waits for a processor, and the order in which it is served.
///
/// Accounts with a positive balance go before overdrawn accounts. Among equals, the next account is the one that has
/// used least since it began to wait (start-time fair queueing). The queue applies this rule first among addresses, then
/// among the accounts of the chosen address. A user at several addresses takes turns as one address does. Waiters of a
/// request that has ended go before all others, so that the request is cleaned up. FairQueue is a value behind a lock
/// and has no clock of its own.
struct FairQueue {
  /// How long an overdrawn account waits behind the others before its request is ended, in nanoseconds.
  static let patience: Int64 = 5_000_000_000
  /// How far an account that begins to wait may be ahead of those that have waited on, in nanoseconds: ten slices. So one
  /// that uses little does not stand behind a slice of each of them, several times for each request, as long as it has
  /// used less than they have. Linux' CFS gives such a credit to tasks that have slept.
  static let credit = 10 * Slice.nanoseconds

  let name: AccountLine.Queue

  /// The accounts of the upper level that have waiters.
  private var accounts: [AccountLine] = []
  /// The waiters of ended requests, which go before all others.
  private var urgent = Deque<Waiter>()
  /// The virtual time of the account that was served last.
  private var served: Int64 = 0
  /// How many wait.
  private(set) var count = 0
  /// How often a positive account was served while an overdrawn one waited.
  private(set) var servedBeforeOverdrawn = 0

  init(_ name: AccountLine.Queue = .requests) { self.name = name }

  var isEmpty: Bool { count == 0 }

  mutating func push(_ waiter: Waiter, _ account: ProcessorAccount, at now: Int64) {
    count += 1
    if let work = waiter.work, work.hasEnded { return urgent.append(waiter) }
    let account = account.line(in: name)
    let upper = account.parent ?? account
    if upper.isIdle {
      accounts.append(upper)
      upper.servedAt = now
      _ = upper.settle(at: now)
      upper.virtualTime = max(upper.virtualTime, served - Self.credit)
    }
    if account !== upper, account.waiters.isEmpty {
      upper.waitingBelow.append(account)
      _ = account.settle(at: now)
      account.virtualTime = max(account.virtualTime, upper.servedBelow - Self.credit)
      if let user = account.user {
        if user.waitingUsers == 0 { user.virtualTime = max(user.virtualTime, served - Self.credit) }
        user.waitingUsers += 1
        upper.waitingUsers += 1
      }
    }
    account.waiters.append(waiter)
  }

  /// Removes the next waiter.
  /// - Parameter spared: when not nil, the waiters of these accounts of the upper level stay in the queue, and so do
  ///   those of overdrawn accounts that have not yet waited for ``patience``.
  mutating func pop(at now: Int64, sparing spared: [AccountLine]? = nil) -> Waiter? {
    guard count > 0 else { return nil }
    if let waiter = urgent.popFirst() {
      count -= 1
      return waiter
    }
    guard let choice = Self.next(of: accounts, at: now, sparing: spared) else { return nil }
    count -= 1
    let (upper, rank) = (accounts[choice.index], choice.rank)
    if choice.waitsOverdrawn, rank == .positive { servedBeforeOverdrawn += 1 }
    served = max(served, choice.virtualTime)
    upper.servedAt = now
    let lower = choice.lower ?? Self.line(of: upper, rank, at: now)
    upper.servedBelow = max(upper.servedBelow, lower.virtualTime)
    let waiter = lower.waiters.popFirst()
    if lower !== upper, lower.waiters.isEmpty { Self.remove(lower, from: upper) }
    if upper.isIdle {
      accounts.swapAt(choice.index, accounts.count - 1)
      accounts.removeLast()
    }
    if let waiter, now - waiter.since > Self.patience, rank != .positive {
      waiter.work?.end(.overdrawn)
    }
    return waiter
  }

  /// Removes the newest waiter of the address with the most waiters, to make room for a waiter of an account.
  /// - Returns: nil if that account's address would then have the most itself.
  mutating func displace(for account: ProcessorAccount) -> Waiter? {
    let account = account.line(in: name)
    let own = account.parent ?? account
    guard let upper = accounts.max(by: { $0.waiterCount < $1.waiterCount }),
      upper.waiterCount > own.waiterCount + 1,
      let lower = ([upper] + upper.waitingBelow).max(by: { $0.waiters.count < $1.waiters.count }),
      let waiter = lower.waiters.popLast()
    else { return nil }
    count -= 1
    if lower !== upper, lower.waiters.isEmpty { Self.remove(lower, from: upper) }
    return waiter
  }

  /// Removes a lower account without waiters from those that wait, if it is among them.
  private static func remove(_ lower: AccountLine, from upper: AccountLine) {
    guard let index = upper.waitingBelow.firstIndex(where: { $0 === lower }) else { return }
    upper.waitingBelow.remove(at: index)
    guard let user = lower.user else { return }
    user.waitingUsers -= 1
    upper.waitingUsers -= 1
  }

  /// The account to serve next below an account of the upper level; the upper account itself when none waits below it.
  private static func line(of upper: AccountLine, _ rank: Rank, at now: Int64) -> AccountLine {
    if rank == .impatient {
      return upper.waitingBelow.min { $0.waitsSince < $1.waitsSince } ?? upper
    }
    return next(of: upper.waitingBelow, at: now).map { upper.waitingBelow[$0.index] } ?? upper
  }

  /// Moves the waiters of an ended request before all others.
  mutating func expedite(_ work: Work, _ account: ProcessorAccount) {
    let account = account.line(in: name)
    let upper = account.parent ?? account
    guard !upper.isIdle else { return }
    for line in account === upper ? [upper] : [upper, account] {
      urgent.append(contentsOf: line.waiters.filter { $0.work === work })
      line.waiters.removeAll { $0.work === work }
      if line !== upper, line.waiters.isEmpty { Self.remove(line, from: upper) }
    }
    if upper.isIdle { accounts.removeAll { $0 === upper } }
  }

  /// How long ago the queue last served the address that has waited longest, in nanoseconds. It considers the addresses
  /// with a positive balance below which an account with a positive balance waits. How many accounts wait below one of
  /// them does not change the result.
  func longestWait(at now: Int64) -> Int64 {
    var longest: Int64 = 0
    for upper in accounts where Self.standing(of: upper, at: now).rank == .positive {
      longest = max(longest, now - upper.servedAt)
    }
    return longest
  }

  private enum Rank: Int {
    /// Overdrawn, and has waited longer than ``patience``: its request is ended.
    case impatient
    case positive
    case overdrawn
  }

  /// What decides the order of an account.
  private struct Standing {
    var rank: Rank
    var virtualTime: Int64
    /// The account to serve below it, if that decided.
    var lower: AccountLine?
  }

  /// The account to serve next, what decided it, and whether an overdrawn account waits.
  private struct Choice {
    var index: Int
    var rank: Rank
    var virtualTime: Int64
    var lower: AccountLine?
    var waitsOverdrawn = false
  }

  /// The standing of an account. Where users wait below it, the one who would be next decides, too: a user may be
  /// overdrawn, or have had a turn, at another address.
  private static func standing(of account: AccountLine, at now: Int64) -> Standing {
    guard account.settle(at: now) >= 0 else {
      return Standing(
        rank: account.waitsLonger(than: now - patience) ? .impatient : .overdrawn,
        virtualTime: account.virtualTime)
    }
    let own = Standing(rank: .positive, virtualTime: account.virtualTime)
    guard account.waitingUsers > 0, account.parent == nil,
      let below = next(of: account.waitingBelow, at: now)
    else { return own }
    let lower = account.waitingBelow[below.index]
    return Standing(
      rank: below.rank,
      virtualTime: max(own.virtualTime, lower.user?.virtualTime ?? own.virtualTime), lower: lower)
  }

  private static func next(
    of accounts: [AccountLine], at now: Int64, sparing spared: [AccountLine]? = nil
  ) -> Choice? {
    var best: Choice?
    var waits = false
    for (index, account) in accounts.enumerated() {
      let standing = standing(of: account, at: now)
      if standing.rank != .positive { waits = true }
      if let spared, standing.rank == .overdrawn || spared.contains(where: { $0 === account }) {
        continue
      }
      if let best,
        (best.rank.rawValue, best.virtualTime) <= (standing.rank.rawValue, standing.virtualTime)
      {
        continue
      }
      best = Choice(
        index: index, rank: standing.rank, virtualTime: standing.virtualTime, lower: standing.lower)
    }
    best?.waitsOverdrawn = waits
    return best
  }
}

/// What waits for a thread of a pool, a permit of a ``FairSemaphore`` or a seat.
struct Waiter: Sendable {
  /// What waits.
  enum Kind: Sendable {
    /// What a thread of a ``ThreadPool`` runs.
    case closure(@Sendable (ThreadPool, inout ThreadClock) -> Void)
    /// A task that waits on an account for a permit of a ``FairSemaphore``.
    case permit(UnsafeContinuation<Int?, Never>, ProcessorAccount)
    /// A task that waits on an account for one of the ``Seats``.
    case seat(CheckedContinuation<Void, Never>, ProcessorAccount)
  }

  let kind: Kind
  /// The request that it belongs to; nil when it belongs to none.
  let work: Work?
  /// When it began to wait, in nanoseconds of ``SliceClock``.
  let since: Int64
}
