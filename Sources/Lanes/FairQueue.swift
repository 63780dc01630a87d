import DequeModule

/// The work that waits for a processor, and the order in which it is served.
///
/// Accounts with a positive balance go before overdrawn accounts. Among equals, the next account is the one that has
/// used least since it began to wait (start-time fair queueing). The queue applies this rule first among addresses and
/// users, then among the accounts of the chosen address. Entries of a request that has ended go before all others, so
/// that the request is cleaned up. FairQueue is a value behind the pool's lock and has no clock of its own.
struct FairQueue {
  /// How long an overdrawn account waits behind the others before its request is ended, in nanoseconds.
  static let patience: Int64 = 5_000_000_000

  /// Which queue this is.
  let name: AccountLine.Queue

  /// The accounts of the upper level that have waiting entries.
  private var accounts: [AccountLine] = []
  /// The entries of ended requests, which go before all others.
  private var urgent = Deque<PoolEntry>()
  /// The virtual time of the account that was served last.
  private var served: Int64 = 0
  /// How many entries wait.
  private(set) var count = 0
  /// How often a positive account was served while an overdrawn one waited.
  private(set) var servedBeforeOverdrawn = 0

  init(_ name: AccountLine.Queue = .requests) { self.name = name }

  /// Whether nothing waits.
  var isEmpty: Bool { count == 0 }

  /// Adds an entry to the queue of its account.
  mutating func push(_ entry: PoolEntry, _ account: ProcessorAccount, at now: Int64) {
    count += 1
    if let work = entry.work, work.hasEnded { return urgent.append(entry) }
    let account = account.line(in: name)
    let upper = account.parent ?? account
    if upper.isIdle {
      accounts.append(upper)
      upper.servedAt = now
      _ = upper.settle(at: now)
      upper.virtualTime = max(upper.virtualTime, served)
    }
    if account !== upper, account.entries.isEmpty {
      upper.waitingBelow.append(account)
      _ = account.settle(at: now)
      account.virtualTime = max(account.virtualTime, upper.servedBelow)
    }
    account.entries.append(entry)
  }

  /// Removes the next entry.
  /// - Parameter spared: when not nil, the entries of these accounts of the upper level stay in the queue, and so do
  ///   those of overdrawn accounts that have not yet waited for ``patience``.
  mutating func pop(at now: Int64, sparing spared: [AccountLine]? = nil) -> PoolEntry? {
    guard count > 0 else { return nil }
    if let entry = urgent.popFirst() {
      count -= 1
      return entry
    }
    guard let (index, rank, waits) = Self.next(of: accounts, at: now, sparing: spared) else {
      return nil
    }
    count -= 1
    let upper = accounts[index]
    if waits, rank == .positive { servedBeforeOverdrawn += 1 }
    served = max(served, upper.virtualTime)
    upper.servedAt = now
    let lower = Self.line(of: upper, rank, at: now)
    upper.servedBelow = max(upper.servedBelow, lower.virtualTime)
    let entry = lower.entries.popFirst()
    if lower !== upper, lower.entries.isEmpty { upper.waitingBelow.removeAll { $0 === lower } }
    if upper.isIdle {
      accounts.swapAt(index, accounts.count - 1)
      accounts.removeLast()
    }
    if let entry, now - entry.since > Self.patience, rank != .positive {
      entry.work?.end(.overdrawn)
    }
    return entry
  }

  /// The account to serve next below an account of the upper level; the upper account itself when none waits below it.
  private static func line(
    of upper: AccountLine, _ rank: Rank, at now: Int64
  ) -> AccountLine {
    if rank == .impatient {
      return upper.waitingBelow.min { $0.waitsSince < $1.waitsSince } ?? upper
    }
    return next(of: upper.waitingBelow, at: now).map { upper.waitingBelow[$0.index] } ?? upper
  }

  /// Moves the entries of an ended request before all others.
  mutating func expedite(_ work: Work, _ account: ProcessorAccount) {
    let account = account.line(in: name)
    let upper = account.parent ?? account
    guard !upper.isIdle else { return }
    for line in account === upper ? [upper] : [upper, account] {
      urgent.append(contentsOf: line.entries.filter { $0.work === work })
      line.entries.removeAll { $0.work === work }
      if line !== upper, line.entries.isEmpty { upper.waitingBelow.removeAll { $0 === line } }
    }
    if upper.isIdle { accounts.removeAll { $0 === upper } }
  }

  /// How long ago the queue last served the account that has waited longest, in nanoseconds. It considers the accounts
  /// of the upper level (addresses and users) with a positive balance. How many accounts wait below one of them does
  /// not change the result.
  func longestWait(at now: Int64) -> Int64 {
    var longest: Int64 = 0
    for upper in accounts where upper.settle(at: now) >= 0 {
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

  /// The index of the account to serve next, its rank, and whether an overdrawn account waits.
  private static func next(
    of accounts: [AccountLine], at now: Int64, sparing spared: [AccountLine]? = nil
  ) -> (index: Int, rank: Rank, waitsOverdrawn: Bool)? {
    var best: (index: Int, rank: Rank)?
    var waits = false
    for (index, account) in accounts.enumerated() {
      var rank = Rank.positive
      if account.settle(at: now) < 0 {
        waits = true
        rank = account.waitsLonger(than: now - patience) ? .impatient : .overdrawn
      }
      if let spared, rank == .overdrawn || spared.contains(where: { $0 === account }) { continue }
      guard let known = best else {
        best = (index, rank)
        continue
      }
      if rank.rawValue < known.rank.rawValue
        || rank == known.rank && account.virtualTime < accounts[known.index].virtualTime
      {
        best = (index, rank)
      }
    }
    return best.map { ($0.index, $0.rank, waits) }
  }
}

/// An entry that waits for a thread of a pool, or for a permit of a ``FairSemaphore``.
struct PoolEntry {
  /// What the entry runs.
  enum Kind {
    /// A job of a request's task.
    case task(UnownedJob, WorkExecutor)
    /// The first waiting job of an actor.
    case actor(InlineExecutor)
    /// A task that waits on an account for a permit of a ``FairSemaphore``.
    case permit(UnsafeContinuation<Int?, Never>, ProcessorAccount)
    /// A task that gave way to others.
    case yielded(UnsafeContinuation<Void, Never>, WorkExecutor)
  }

  /// What the entry runs.
  let kind: Kind
  /// The request that it belongs to; nil when it belongs to none.
  let work: Work?
  /// When it began to wait, in nanoseconds of ``SliceClock``.
  let since: Int64
}
