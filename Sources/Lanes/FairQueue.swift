import DequeModule

/// What waits for a processor, and who is next.
///
/// Those whose account is positive go before those who have overdrawn. Among equals the account that has used least
/// since it began to wait is next (start-time fair queueing), first among addresses and users, then among the
/// accounts of that address. What belongs to a request that was ended goes first of all, to be cleared away. A value
/// behind the pool's lock, without a clock of its own.
struct FairQueue {
  /// How long an overdrawn account waits behind the others, in nanoseconds, before its request is ended.
  static let patience: Int64 = 5_000_000_000

  /// Which queue it is.
  let name: AccountLine.Queue

  /// The upper level's accounts on which something waits.
  private var accounts: [AccountLine] = []
  /// What goes first of all.
  private var urgent = Deque<PoolEntry>()
  /// The virtual time of the account that was served last.
  private var served: Int64 = 0
  /// How much waits.
  private(set) var count = 0
  /// How often a positive account was served while an overdrawn one waited.
  private(set) var servedBeforeOverdrawn = 0

  init(_ name: AccountLine.Queue = .requests) { self.name = name }

  /// Whether nothing waits.
  var isEmpty: Bool { count == 0 }

  /// Puts an entry in its account's line.
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

  /// Takes out what is next.
  /// - Parameter spared: what stays where it is: that of these accounts of the upper level, and that of all who have
  ///   overdrawn and may go on waiting; nil for nothing.
  mutating func pop(at now: Int64, sparing spared: [AccountLine]? = nil) -> PoolEntry? {
    guard count > 0 else { return nil }
    if let entry = urgent.popFirst() {
      count -= 1
      return entry
    }
    guard let (place, rank, waits) = Self.next(of: accounts, at: now, sparing: spared) else {
      return nil
    }
    count -= 1
    let upper = accounts[place]
    if waits, rank == .positive { servedBeforeOverdrawn += 1 }
    served = max(served, upper.virtualTime)
    upper.servedAt = now
    let lower = Self.line(of: upper, rank, at: now)
    upper.servedBelow = max(upper.servedBelow, lower.virtualTime)
    let entry = lower.entries.popFirst()
    if lower !== upper, lower.entries.isEmpty { upper.waitingBelow.removeAll { $0 === lower } }
    if upper.isIdle {
      accounts.swapAt(place, accounts.count - 1)
      accounts.removeLast()
    }
    if let entry, now - entry.since > Self.patience, rank != .positive {
      entry.work?.end(.overdrawn)
    }
    return entry
  }

  /// The line that is next on an account of the upper level: one below it, or its own where there is none.
  private static func line(
    of upper: AccountLine, _ rank: Rank, at now: Int64
  ) -> AccountLine {
    if rank == .impatient {
      return upper.waitingBelow.min { $0.waitsSince < $1.waitsSince } ?? upper
    }
    return next(of: upper.waitingBelow, at: now).map { upper.waitingBelow[$0.place] } ?? upper
  }

  /// Lets what belongs to an ended request go first of all.
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

  /// How long it is since the last turn of the positive account, of an address or a user, that was served longest ago,
  /// in nanoseconds: so long others wait for theirs. How many stand in line below it is its own affair.
  func longestWait(at now: Int64) -> Int64 {
    var longest: Int64 = 0
    for upper in accounts where upper.settle(at: now) >= 0 {
      longest = max(longest, now - upper.servedAt)
    }
    return longest
  }

  private enum Rank: Int {
    /// Overdrawn, and has waited long enough to be told so.
    case impatient
    case positive
    case overdrawn
  }

  /// The account that is next, and whether an overdrawn one waits.
  private static func next(
    of accounts: [AccountLine], at now: Int64, sparing spared: [AccountLine]? = nil
  ) -> (place: Int, rank: Rank, waitsOverdrawn: Bool)? {
    var best: (place: Int, rank: Rank)?
    var waits = false
    for (place, account) in accounts.enumerated() {
      var rank = Rank.positive
      if account.settle(at: now) < 0 {
        waits = true
        rank = account.waitsLonger(than: now - patience) ? .impatient : .overdrawn
      }
      if let spared, rank == .overdrawn || spared.contains(where: { $0 === account }) { continue }
      guard let known = best else {
        best = (place, rank)
        continue
      }
      if rank.rawValue < known.rank.rawValue
        || rank == known.rank && account.virtualTime < accounts[known.place].virtualTime
      {
        best = (place, rank)
      }
    }
    return best.map { ($0.place, $0.rank, waits) }
  }
}

/// What waits for a thread of a pool, or for a place.
struct PoolEntry {
  /// What is to be run.
  enum Kind {
    /// A job of a request's task.
    case task(UnownedJob, WorkExecutor)
    /// The first job of an actor.
    case place(InlineExecutor)
    /// A task that waits for a place behind a ``FairGate``.
    case gate(UnsafeContinuation<Int?, Never>)
    /// A task that gave way.
    case turn(UnsafeContinuation<Void, Never>, WorkExecutor)
  }

  /// What is to be run.
  let kind: Kind
  /// What it is done for; nil for nobody's request.
  let work: Work?
  /// Since when it waits, in nanoseconds of ``SliceClock``.
  let since: Int64
}
