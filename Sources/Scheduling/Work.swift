import CScheduling
import Synchronization

/// What counts the memory that a request holds.
package protocol MemoryAccount: AnyObject, Sendable {
  /// Counts an answer that is being built, or what it is made of.
  /// - Parameter count: the bytes so far.
  /// - Returns: whether there is memory for them.
  func reserveAnswer(_ count: Int) -> Bool
  /// Gives these bytes back.
  func releaseAnswer()
}

/// The work for one request: the account that pays, the cost so far, and whether the request has ended.
///
/// The task that works for the request has it as ``current``, and so have its children. It is charged for the time
/// between its waits, and for what its calls take on the threads of a ``ThreadPool``.
package final class Work: Sendable {
  /// Why the work of a request stops.
  package enum Ending: Int, Sendable, CaseIterable {
    /// The client has gone.
    case gone = 1
    /// The account is overdrawn, and the request has waited behind others for as long as it may.
    case overdrawn
    /// The request has cost as much as a request may.
    case costly
  }

  /// The most that a request may cost unless the server has another limit, in nanoseconds of processor time: two seconds.
  package static let standardLimit: Int64 = 2_000_000_000
  /// The most that a request may cost for each MiB that it moves: a quarter of its limit. It applies when it gives more
  /// than the limit.
  package static func limitPerMebibyte(of limit: Int64) -> Int64 { limit / 4 }
  /// When a client has closed its sending side and the request has cost this much, the client counts as gone; in
  /// nanoseconds.
  static let halfClosedLimit: Int64 = 100_000_000
  /// What ends sooner was no wait, in nanoseconds: less than it takes to hand something to another thread.
  private static let shortestWait: Int64 = 20_000

  /// The account that pays until the principal is known.
  private let address: ProcessorAccount
  private let principal = AtomicLazyReference<ProcessorAccount>()
  /// The account on which the first seat was waited for, if it was not that of the address.
  private let expected = AtomicLazyReference<ProcessorAccount>()
  package let seats: Seats
  private let ending = Atomic(0)
  private let isBound = Atomic<Bool>(false)
  private let isHalfClosed = Atomic<Bool>(false)
  private let used = Atomic<Int64>(0)
  private let moved = Atomic<Int64>(0)
  private let longest = Atomic<Int64>(0)
  private let isCounted: Bool
  let slice = SliceStart()
  /// Since when the work computes without a wait and without giving way.
  let turn = SliceStart()
  /// The thread on which the slice began, and that thread's processor time then, in nanoseconds.
  private let thread = Atomic<UInt>(0)
  private let processor = Atomic<Int64>(0)
  /// The lease of a place or a seat; 0 for none.
  private let lease = Atomic<UInt64>(0)
  private let memory = Mutex<(any MemoryAccount)?>(nil)
  /// Whether the work needs a place or a seat to compute.
  private let needsSeat = Atomic(false)

  /// The request that the calling task works for; nil when it works for none.
  @TaskLocal package static var current: Work?

  /// Makes the work of a new request, which counts as running until it is deinitialised. ``begin(after:)`` begins its first
  /// slice.
  /// - Parameter address: the account that pays until the principal is known.
  /// - Parameter isCounted: false for work that does not end with one request.
  package init(_ address: ProcessorAccount, in seats: Seats, isCounted: Bool = true) {
    self.address = address
    self.seats = seats
    self.isCounted = isCounted
    if isCounted { seats.counts.running.add(1, ordering: .relaxed) }
  }

  deinit {
    finish()
    if isCounted { seats.counts.running.subtract(1, ordering: .relaxed) }
  }

  /// Begins a task for which several requests wait, such as the opening of a store. It goes on after the present request
  /// has ended, whose account pays for it.
  package static func shared<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) -> Task<Value, any Error> {
    let work = forShared
    return Task {
      work?.beginSlice()
      return try await $current.withValue(work, operation: body)
    }
  }

  /// Begins a task that can't fail, as ``shared(_:)`` does.
  package static func shared<Value: Sendable>(
    _ body: @escaping @Sendable () async -> Value
  ) -> Task<Value, Never> {
    let work = forShared
    return Task {
      work?.beginSlice()
      return await $current.withValue(work, operation: body)
    }
  }

  /// Begins a task for which no request pays.
  @discardableResult
  package static func background(
    _ body: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never> { Task { await $current.withValue(nil, operation: body) } }

  private static var forShared: Work? {
    current.map { Work($0.account, in: $0.seats, isCounted: false) }
  }

  /// Does something that waits for others and computes nothing: the work holds no place and no seat meanwhile, and the
  /// time is not charged.
  package static func waiting<Value, Failure: Error>(
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    guard let work = current else { return try await body() }
    let wait = work.beginWait()
    let result: Result<Value, Failure>
    do throws(Failure) { result = .success(try await body()) } catch { result = .failure(error) }
    await work.end(wait)
    return try result.get()
  }

  /// A wait of the work for others.
  package struct Wait: Sendable {
    fileprivate let turn: Int64
    fileprivate let begun = SliceClock.now
  }

  /// Begins a wait, as ``waiting(_:)`` does, for something that can't be passed to a closure.
  package func beginWait() -> Wait {
    let turn = turn.nanoseconds
    finish()
    return Wait(turn: turn)
  }

  /// Ends a wait. What was there at once was none: the turn goes on, and once it has lasted a slice, the work gives way.
  /// Otherwise a client that always has another piece ready would keep a thread of Swift's pool.
  package func end(_ wait: Wait) async {
    let now = SliceClock.now
    let hasWaited = now - wait.begun >= Self.shortestWait
    if !hasWaited, now - wait.turn >= Slice.nanoseconds { return await lineUp() }
    await resume(isNew: hasWaited)
  }

  /// Charges the time since the slice began, and gives the place or the seat back.
  package func finish() {
    settle(isOver: true)
    let id = lease.exchange(0, ordering: .relaxed)
    if id != 0 { seats.giveBack(id) }
  }

  /// Waits for a place or a seat if the work needs one, and begins a slice.
  /// - Parameter isNew: whether a turn begins with it. One begins in any case for work that waited for its seat.
  private func resume(isNew: Bool = true) async {
    let hasWaited = needsSeat.load(ordering: .relaxed) ? await seats.take(for: self) : false
    beginSlice(isNew: isNew || hasWaited)
  }

  private func beginSlice(isNew: Bool = true) {
    if isNew { turn.begin() }
    thread.store(cscheduling_thread(), ordering: .relaxed)
    processor.store(SliceClock.processorTime, ordering: .relaxed)
    slice.begin()
  }

  /// Waits for the first place or seat.
  /// - Parameter last: the account that paid for the last request of the connection; nil for none. This request most
  ///   probably belongs to it too, and waits on it. When it is overdrawn, the account of the address waits instead until
  ///   the principal is known.
  /// - Parameter mayBeFree: whether it may be a free slice; false if the task has computed for a slice already.
  package func begin(after last: ProcessorAccount? = nil, mayBeFree: Bool = true) async {
    finish()
    needsSeat.store(true, ordering: .relaxed)
    let account = last.flatMap { $0.isOverdrawn ? nil : $0 }
    if let account { _ = expected.storeIfNil(account) }
    let isSuspended = await seats.take(for: self, on: account, mayBeFree: mayBeFree)
    if !mayBeFree, !isSuspended { await Task.yield() }
    beginSlice()
  }

  /// Waits until the account of the principal is served, unless it was already, or no request waits.
  func beginAsPrincipal() async {
    guard seats.isCrowded, expected.load() !== account else { return }
    finish()
    await resume()
  }

  /// Ends the slice, if it is over, and waits for the next one.
  func giveWay() async {
    guard isSliceOver else { return }
    finish()
    await lineUp()
  }

  /// Waits for a seat behind others, if the work needs one, and begins a turn.
  private func lineUp() async {
    var isSuspended = false
    if needsSeat.load(ordering: .relaxed) {
      isSuspended = await seats.take(for: self, mayBeFree: false)
    }
    // Only with the seat in hand, Swift's pool runs other tasks first. If all gave their seats back to line up there, each
    // would find a seat free at its turn, and no queue but the pool's would ever form.
    if !isSuspended { await Task.yield() }
    beginSlice()
  }

  /// Whether the slice is over, or the request has ended.
  package var isSliceOver: Bool { hasEnded || turn.isOver() }

  /// Whether the work has a place or a seat.
  var isSeated: Bool { lease.load(ordering: .relaxed) != 0 }

  /// Notes the lease that the work got.
  func sit(_ id: UInt64) { lease.store(id, ordering: .relaxed) }

  /// Charges the time since the slice began or was charged last.
  package func settle(isOver: Bool = false) {
    let began = slice.end()
    guard began != 0 else { return }
    var time = SliceClock.now - began
    if time > ThreadClock.short, thread.load(ordering: .relaxed) == cscheduling_thread() {
      // Other threads may have used the processor meanwhile; elapsed time includes that, processor time does not.
      time = min(time, SliceClock.processorTime - processor.load(ordering: .relaxed))
    }
    charge(time)
    if !isOver { beginSlice(isNew: false) }
  }

  package var account: ProcessorAccount { principal.load() ?? address }

  /// Sets the account of the principal. Only the first call has an effect.
  package func setPrincipal(_ account: ProcessorAccount) { _ = principal.storeIfNil(account) }

  /// Sets what counts the memory that the work holds from slice to slice.
  package func setMemory(_ account: any MemoryAccount) { memory.withLock { $0 = account } }

  /// Counts bytes that the work holds from slice to slice.
  /// - Returns: whether there is memory for them.
  func reserve(_ count: Int) -> Bool { memory.withLock { $0 }?.reserveAnswer(count) ?? true }

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
    let known = ending.compareExchange(expected: 0, desired: reason.rawValue, ordering: .relaxed)
    guard known.exchanged else { return }
    seats.counts.noteEnd(reason)
    // The queue ends overdrawn requests itself, under its lock, so they need no expediting.
    if reason != .overdrawn { seats.expedite(self) }
  }

  /// Marks the next steps as one unit: from now on ``end(_:)`` has no effect, even when the client has gone.
  package func mustFinish() { isBound.store(true, ordering: .relaxed) }

  /// Notes that the client has closed its sending side. It may still read, or be gone. The request ends once it costs
  /// ``halfClosedLimit``.
  package func clientClosedItsSide() {
    isHalfClosed.store(true, ordering: .relaxed)
    if nanoseconds >= Self.halfClosedLimit { end(.gone) }
  }

  /// Resets the cost, and gives memory back. A request calls it before it waits for changes, which may take hours: those
  /// before do not count for it any more.
  package func resetCost() {
    used.store(0, ordering: .relaxed)
    moved.store(0, ordering: .relaxed)
    memory.withLock { $0 }?.releaseAnswer()
  }

  /// In how many seconds the account is no longer overdrawn if it spends nothing more; at least 1.
  package var secondsUntilPaid: Int { seats.secondsUntilPositive(account) }

  /// Counts bytes that are moved for the request: a request that moves many bytes may cost more.
  package func addMovedBytes(_ count: Int) { moved.add(Int64(count), ordering: .relaxed) }

  /// Charges processor time to the request and its account.
  func charge(_ nanoseconds: Int64, isSlice: Bool = true) {
    guard nanoseconds > 0 else { return }
    let total = used.add(nanoseconds, ordering: .relaxed).newValue
    let account = account
    account.spend(nanoseconds: nanoseconds)
    seats.counts.note(nanoseconds, isPaid: !account.isOverdrawn)
    if isSlice {
      longest.max(nanoseconds, ordering: .relaxed)
      seats.counts.note(slice: nanoseconds)
    }
    guard isCounted, !hasEnded else { return }
    if total >= Self.halfClosedLimit, isHalfClosed.load(ordering: .relaxed) { end(.gone) }
    let limit = seats.requestLimit
    let allowance = moved.load(ordering: .relaxed) / 1_048_576 * Self.limitPerMebibyte(of: limit)
    if total >= max(limit, allowance) { end(.costly) }
  }
}

/// Runs a step in a child task, whose memory is freed when the step is done.
///
/// A task keeps the memory of its deepest call until it ends. So a task that waits for long, such as that of a feed, lets
/// a child do what calls deeply, and waits itself with a few small frames. A child costs about a microsecond.
/// - Throws: what the step throws.
// Not inlined, so that the waiting frame stays small.
@inline(never)
package func inChildTask<Value: Sendable>(
  _ step: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  async let value = step()
  return try await value
}
