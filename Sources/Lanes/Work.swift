import CLanes
import Synchronization

/// What is done for one request: who pays for it, what it has cost, and whether anybody still waits for its result.
///
/// The thread that works for it has it at hand as ``current``; what it costs is charged to ``account`` by the pool.
package final class Work: Sendable {
  /// Why work goes no further.
  package enum Ending: Int, Sendable, CaseIterable {
    /// The client has gone.
    case gone = 1
    /// Whoever pays for it has overdrawn, and others waited for longer than it could.
    case overdrawn
    /// It has cost as much as a request may.
    case costly
    /// The server stops.
    case stopping
  }

  /// What a request may cost, in nanoseconds of processor time: two seconds. Code that is not optimized is twenty
  /// times as slow.
  package static let limit: Int64 = {
    #if DEBUG
      return 40_000_000_000
    #else
      return 2_000_000_000
    #endif
  }()
  /// What it may cost for each MiB that it moves, in nanoseconds: half a second.
  package static let limitPerMebibyte = limit / 4
  /// From how much processor time on a client that has closed its sending side counts as gone, in nanoseconds.
  static let halfClosedLimit: Int64 = 100_000_000

  /// Where its time is charged until it is known who asks.
  private let address: ProcessorAccount
  private let principal = AtomicLazyReference<ProcessorAccount>()
  let pool: LanePool
  private let ending = Atomic(0)
  private let isBound = Atomic<Bool>(false)
  private let isHalfClosed = Atomic<Bool>(false)
  private let used = Atomic<Int64>(0)
  private let moved = Atomic<Int64>(0)
  private let longest = Atomic<Int64>(0)
  private let isCounted: Bool

  /// Work that begins; it counts as running for as long as it lives.
  init(_ address: ProcessorAccount, in pool: LanePool, isCounted: Bool = true) {
    self.address = address
    self.pool = pool
    self.isCounted = isCounted
    if isCounted { pool.counts.running.add(1, ordering: .relaxed) }
  }

  deinit {
    if isCounted { pool.counts.running.subtract(1, ordering: .relaxed) }
  }

  /// What the calling thread works for; nil where that is nobody's request.
  package static var current: Work? {
    clanes_this_thread().pointee.work.map {
      Unmanaged<Work>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Who pays.
  package var account: ProcessorAccount { principal.load() ?? address }

  /// Says who asks; once.
  package func belongs(to account: ProcessorAccount) { _ = principal.storeIfNil(account) }

  /// Processor time so far, in nanoseconds.
  package var nanoseconds: Int64 { used.load(ordering: .relaxed) }
  /// The longest piece of it without giving way, in nanoseconds.
  package var longestSlice: Int64 { longest.load(ordering: .relaxed) }

  /// Why it goes no further; nil while it does.
  package var reason: Ending? { Ending(rawValue: ending.load(ordering: .relaxed)) }
  /// Whether it goes no further.
  package var hasEnded: Bool { ending.load(ordering: .relaxed) != 0 }

  /// Ends it: it stops within two slices. What is being committed is committed.
  package func end(_ reason: Ending) {
    guard isCounted, !isBound.load(ordering: .relaxed) else { return }
    let known = ending.compareExchange(
      expected: 0, desired: reason.rawValue, ordering: .relaxed)
    guard known.exchanged else { return }
    pool.counts.noteEnd(reason)
    // Not from within the queue itself, which is at it already.
    if reason != .overdrawn { pool.expedite(self) }
  }

  /// What follows consists of several steps that belong together: it goes on to its end whoever has gone.
  package func mustFinish() { isBound.store(true, ordering: .relaxed) }

  /// The client has closed its sending side: it may read on, or be gone. A request that costs much is not carried on
  /// for it.
  package func clientClosedItsSide() {
    isHalfClosed.store(true, ordering: .relaxed)
    if nanoseconds >= Self.halfClosedLimit { end(.gone) }
  }

  /// Begins anew for one who waited for news: what the news before cost is not counted against what comes.
  package func beginAnew() {
    used.store(0, ordering: .relaxed)
    moved.store(0, ordering: .relaxed)
  }

  /// How long who pays is overdrawn if nothing more is spent, in seconds; at least 1.
  package var secondsUntilPaid: Int { pool.secondsUntilPositive(account) }

  /// Counts bytes that are moved for it: what moves much may cost more.
  package func moves(bytes: Int) { moved.add(Int64(bytes), ordering: .relaxed) }

  /// Runs a part of a job that belongs to another's request: that one pays for it.
  package static func paying<Value, Failure: Error>(
    _ work: Work?, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try LaneThread.paying(work, body)
  }

  /// Runs something on a thread that is no pool's or lane's, which the request pays for.
  package static func payingElsewhere<Value, Failure: Error>(
    _ work: Work?, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let begun = clanes_processor_time()
    defer {
      let time = clanes_processor_time() - begun
      work?.charge(time, isSlice: false)
    }
    return try body()
  }

  /// Charges processor time to it and to who pays.
  func charge(_ nanoseconds: Int64, isSlice: Bool = true) {
    guard nanoseconds > 0 else { return }
    let total = used.add(nanoseconds, ordering: .relaxed).newValue
    let payer = account
    payer.spend(nanoseconds: nanoseconds)
    pool.counts.note(nanoseconds, isPaid: !payer.isOverdrawn)
    if isSlice, nanoseconds > longest.load(ordering: .relaxed) {
      longest.store(nanoseconds, ordering: .relaxed)
      pool.counts.note(slice: nanoseconds)
    }
    guard isCounted, !hasEnded else { return }
    if total >= Self.halfClosedLimit, isHalfClosed.load(ordering: .relaxed) { end(.gone) }
    let allowance = moved.load(ordering: .relaxed) / 1_048_576 * Self.limitPerMebibyte
    if total >= max(Self.limit, allowance) { end(.costly) }
  }
}

/// What a pool tells the operator of the requests that it works for.
package final class WorkCounts: Sendable {
  let running = Atomic(0)
  private let gone = Atomic(0)
  private let overdrawn = Atomic(0)
  private let costly = Atomic(0)
  private let stopping = Atomic(0)
  private let paid = Atomic<Int64>(0)
  private let overspent = Atomic<Int64>(0)
  private let longest = Atomic<Int64>(0)

  init() {}

  /// Requests that are worked for: also those whose client has gone, until their work has ended.
  package var runningCount: Int { running.load(ordering: .relaxed) }

  /// How many were ended early, and why.
  package func endedCount(_ reason: Work.Ending) -> Int {
    switch reason {
    case .gone: gone.load(ordering: .relaxed)
    case .overdrawn: overdrawn.load(ordering: .relaxed)
    case .costly: costly.load(ordering: .relaxed)
    case .stopping: stopping.load(ordering: .relaxed)
    }
  }

  /// The longest piece of work without giving way since this was last asked, in nanoseconds.
  package func takeLongestSlice() -> Int64 { longest.exchange(0, ordering: .relaxed) }

  /// Processor time of requests whose account was positive, and of the others, in nanoseconds.
  package var nanoseconds: (paid: Int64, overdrawn: Int64) {
    (paid.load(ordering: .relaxed), overspent.load(ordering: .relaxed))
  }

  func note(_ nanoseconds: Int64, isPaid: Bool) {
    if isPaid {
      paid.add(nanoseconds, ordering: .relaxed)
    } else {
      overspent.add(nanoseconds, ordering: .relaxed)
    }
  }

  func noteEnd(_ reason: Work.Ending) {
    switch reason {
    case .gone: gone.add(1, ordering: .relaxed)
    case .overdrawn: overdrawn.add(1, ordering: .relaxed)
    case .costly: costly.add(1, ordering: .relaxed)
    case .stopping: stopping.add(1, ordering: .relaxed)
    }
  }

  func note(slice nanoseconds: Int64) {
    if nanoseconds > longest.load(ordering: .relaxed) {
      longest.store(nanoseconds, ordering: .relaxed)
    }
  }
}
