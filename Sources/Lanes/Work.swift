import CLanes
import Synchronization

/// The work for one request: the account that pays, the cost so far, and whether the request has ended.
///
/// The thread that works for the request has it as ``current``. The pool charges the cost to ``account``.
package final class Work: Sendable {
  /// Why the work of a request stops.
  package enum Ending: Int, Sendable, CaseIterable {
    /// The client has gone.
    case gone = 1
    /// The account is overdrawn, and the request has waited behind others for as long as it may.
    case overdrawn
    /// The request has cost as much as a request may.
    case costly
    /// The server stops.
    case stopping
  }

  /// The most that a request may cost unless the pool has another limit, in nanoseconds of processor time: two seconds.
  package static let standardLimit: Int64 = 2_000_000_000
  /// The most that a request may cost for each MiB that it moves: a quarter of its limit. It applies when it gives more
  /// than the limit.
  package static func limitPerMebibyte(of limit: Int64) -> Int64 { limit / 4 }
  /// When a client has closed its sending side and the request has cost this much, the client counts as gone; in
  /// nanoseconds.
  static let halfClosedLimit: Int64 = 100_000_000

  /// The account that pays until the principal is known.
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

  /// Makes the work of a new request, which counts as running until it is deinitialised.
  init(_ address: ProcessorAccount, in pool: LanePool, isCounted: Bool = true) {
    self.address = address
    self.pool = pool
    self.isCounted = isCounted
    if isCounted { pool.counts.running.add(1, ordering: .relaxed) }
  }

  deinit {
    if isCounted { pool.counts.running.subtract(1, ordering: .relaxed) }
  }

  /// The request that the calling thread works for; nil when it works for none.
  package static var current: Work? {
    clanes_this_thread().pointee.work.map {
      Unmanaged<Work>.fromOpaque($0).takeUnretainedValue()
    }
  }

  package var account: ProcessorAccount { principal.load() ?? address }

  /// Sets the account of the principal. Only the first call has an effect.
  package func setPrincipal(_ account: ProcessorAccount) { _ = principal.storeIfNil(account) }

  /// The processor time used so far, in nanoseconds.
  package var nanoseconds: Int64 { used.load(ordering: .relaxed) }
  /// The longest time of work without giving way, in nanoseconds.
  package var longestSlice: Int64 { longest.load(ordering: .relaxed) }

  /// Why the work stops; nil while it goes on.
  package var reason: Ending? { Ending(rawValue: ending.load(ordering: .relaxed)) }
  package var hasEnded: Bool { ending.load(ordering: .relaxed) != 0 }

  /// Ends the request: its work stops within two slices. A commit that has begun is completed. Has no effect after
  /// ``mustFinish()`` or an earlier end.
  package func end(_ reason: Ending) {
    guard isCounted, !isBound.load(ordering: .relaxed) else { return }
    let known = ending.compareExchange(
      expected: 0, desired: reason.rawValue, ordering: .relaxed)
    guard known.exchanged else { return }
    pool.counts.noteEnd(reason)
    // The queue ends overdrawn requests itself, under its lock, so they need no expediting.
    if reason != .overdrawn { pool.expedite(self) }
  }

  /// Marks the next steps as one unit: from now on ``end(_:)`` has no effect, even when the client has gone.
  package func mustFinish() { isBound.store(true, ordering: .relaxed) }

  /// Notes that the client has closed its sending side. It may still read, or be gone. The request ends once it costs
  /// ``halfClosedLimit``.
  package func clientClosedItsSide() {
    isHalfClosed.store(true, ordering: .relaxed)
    if nanoseconds >= Self.halfClosedLimit { end(.gone) }
  }

  /// Resets the cost. A request that waits for changes calls it when they come, so that the cost of earlier changes
  /// does not count.
  package func resetCost() {
    used.store(0, ordering: .relaxed)
    moved.store(0, ordering: .relaxed)
  }

  /// In how many seconds the account is no longer overdrawn if it spends nothing more; at least 1.
  package var secondsUntilPaid: Int { pool.secondsUntilPositive(account) }

  /// Counts bytes that are moved for the request: a request that moves many bytes may cost more.
  package func addMovedBytes(_ count: Int) { moved.add(Int64(count), ordering: .relaxed) }

  /// Runs a part of a job that belongs to another request, and charges it to that request.
  package static func charging<Value, Failure: Error>(
    _ work: Work?, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try LaneThread.charging(work, body)
  }

  /// Runs a part of a job that is done for several requests, and charges each of them an equal part.
  package static func sharing<Value, Failure: Error>(
    _ works: [Work?], _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try LaneThread.sharing(works, body)
  }

  /// Runs `body` on a thread that belongs to no pool or lane, and charges its processor time to the request.
  package static func chargingOutsidePools<Value, Failure: Error>(
    _ work: Work?, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let begun = clanes_processor_time()
    defer {
      let time = clanes_processor_time() - begun
      work?.charge(time, isSlice: false)
    }
    return try body()
  }

  /// Charges processor time to the request and its account.
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
    let limit = pool.requestLimit
    let allowance = moved.load(ordering: .relaxed) / 1_048_576 * Self.limitPerMebibyte(of: limit)
    if total >= max(limit, allowance) { end(.costly) }
  }
}

/// What a pool counts about its requests, for the operator.
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

  /// How many requests are worked for. A request whose client has gone counts until its work has ended.
  package var runningCount: Int { running.load(ordering: .relaxed) }

  /// How many requests were ended early for this reason.
  package func endedCount(_ reason: Work.Ending) -> Int {
    switch reason {
    case .gone: gone.load(ordering: .relaxed)
    case .overdrawn: overdrawn.load(ordering: .relaxed)
    case .costly: costly.load(ordering: .relaxed)
    case .stopping: stopping.load(ordering: .relaxed)
    }
  }

  /// The longest time of work without giving way since the last call, in nanoseconds.
  package func takeLongestSlice() -> Int64 { longest.exchange(0, ordering: .relaxed) }

  /// The processor time of requests whose account was positive, and of requests whose account was overdrawn, in
  /// nanoseconds.
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
