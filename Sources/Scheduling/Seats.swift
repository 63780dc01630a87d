import NIOConcurrencyHelpers
import Synchronization

/// Lets requests compute in slices, in the order of their accounts (``SeatTable``).
///
/// A request takes a place or a seat with its first slice, gives it back while it waits for a store, the disk, the network
/// or its client (``Work/waiting(_:)``), and takes one again for each further slice.
package final class Seats: Sendable {
  /// How long an overdrawn request waits behind others before it is ended, in seconds.
  package static let patienceSeconds = Int(FairQueue.patience / 1_000_000_000)

  /// Counts for the operator.
  package let counts = WorkCounts()
  /// The threads that work at stores for these requests.
  package let stores: ThreadPool
  /// The most that a request may cost, in nanoseconds of processor time.
  let requestLimit: Int64

  private struct State {
    var table: SeatTable
    /// Whether a task looks for leases that have ended.
    var isWatched = false
  }

  private let state: NIOLockedValueBox<State>
  private let waiting = Atomic(0)

  /// - Parameter stores: the threads that work at stores for these requests.
  /// - Parameter processors: how many requests compute at once; by default the number of processors.
  /// - Parameter requestLimit: the most that a request may cost, in nanoseconds of processor time.
  package init(
    stores: ThreadPool, processors: Int = Processors.count,
    requestLimit: Int64 = Work.standardLimit
  ) {
    self.stores = stores
    self.requestLimit = requestLimit
    state = NIOLockedValueBox(State(table: SeatTable(processors: processors)))
  }

  /// Whether a request waits for a seat.
  package var isCrowded: Bool { waiting.load(ordering: .relaxed) > 0 }
  /// How many requests wait for a seat, and calls for a thread at stores.
  package var waitingCount: Int { waiting.load(ordering: .relaxed) + stores.waitingCount }
  /// How often an account with a positive balance was served while an overdrawn account waited.
  package var servedBeforeOverdrawn: Int {
    state.withLockedValue { $0.table.queue.servedBeforeOverdrawn } + stores.servedBeforeOverdrawn
  }
  /// How long accounts with a positive balance wait at present.
  package var lag: Duration {
    let longest = state.withLockedValue { $0.table.queue.longestWait(at: SliceClock.now) }
    return max(.nanoseconds(longest), stores.lag)
  }

  /// In how many seconds an account is no longer overdrawn if it spends nothing more; at least 1.
  package func secondsUntilPositive(_ account: ProcessorAccount) -> Int {
    let now = SliceClock.now
    let balance = state.withLockedValue { state in
      let line = account.line(in: state.table.queue.name)
      return min(line.settle(at: now), line.parent?.settle(at: now) ?? .max)
    }
    return max(
      1, Int((max(0, -balance) * 100 / ProcessorAccount.percent + 999_999_999) / 1_000_000_000))
  }

  /// Which of these accounts are full and have nothing waiting.
  package func full<Key: Hashable>(of accounts: [Key: ProcessorAccount]) -> [Key] {
    let now = SliceClock.now
    return state.withLockedValue { state in
      accounts.filter { _, account in
        let line = account.line(in: state.table.queue.name)
        return line.isIdle && line.settle(at: now) == ProcessorAccount.capacity
          && line.parent?.settle(at: now) ?? ProcessorAccount.capacity
            == ProcessorAccount.capacity
      }.map(\.key)
    }
  }

  /// Waits until the work may compute for a slice, and notes its lease.
  /// - Parameter account: on which it waits; nil for the work's own account.
  /// - Parameter mayBeFree: whether it may be a free slice; false for one that follows another.
  /// - Returns: whether the task was suspended.
  @discardableResult
  func take(
    for work: Work, on account: ProcessorAccount? = nil, mayBeFree: Bool = true
  ) async -> Bool {
    let account = account ?? work.account
    let now = SliceClock.now
    let lease = state.withLockedValue {
      $0.table.take(account, for: work.slice, at: now, mayBeFree: mayBeFree)
    }
    if let lease {
      work.sit(lease)
      return false
    }
    var isSuspended = true
    await withCheckedContinuation { continuation in
      let mustWatch = state.withLockedValue { state in
        state.table.push(
          Waiter(kind: .seat(continuation, account), work: work, since: now), account, at: now)
        waiting.store(state.table.queue.count, ordering: .relaxed)
        defer { state.isWatched = true }
        return !state.isWatched
      }
      serve()
      if mustWatch { watch() }
      isSuspended = !work.isSeated
    }
    return isSuspended
  }

  /// Ends a lease, and serves who waits.
  func giveBack(_ id: UInt64) {
    state.withLockedValue { $0.table.giveBack(id) }
    if isCrowded { serve() }
  }

  /// Moves an ended request before all others.
  func expedite(_ work: Work) {
    state.withLockedValue { $0.table.expedite(work) }
    stores.expedite(work)
  }

  /// Reserves a processor for a thread outside of slices, or ends that.
  func reserveProcessor(_ isReserved: Bool) {
    state.withLockedValue { $0.table.reserved += isReserved ? 1 : -1 }
    stores.reserveProcessor(isReserved)
    if isCrowded { serve() }
  }

  private func serve() {
    while let (waiter, id) = next() {
      guard case .seat(let continuation, _) = waiter.kind else { continue }
      waiter.work?.sit(id)
      continuation.resume()
    }
  }

  private func next() -> (waiter: Waiter, id: UInt64)? {
    state.withLockedValue { state in
      defer { waiting.store(state.table.queue.count, ordering: .relaxed) }
      return state.table.next(at: SliceClock.now)
    }
  }

  /// Serves who waits when leases end that are not given back.
  private func watch() {
    Task.detached { [self] in
      while true {
        let end = state.withLockedValue { state -> Int64? in
          state.isWatched = !state.table.queue.isEmpty
          guard state.isWatched else { return nil }
          return state.table.nextEnd ?? SliceClock.now + Slice.nanoseconds
        }
        guard let end else { return }
        try? await Task.sleep(for: .nanoseconds(max(100_000, end - SliceClock.now)))
        serve()
      }
    }
  }
}
