import Synchronization

/// Who may compute at present, and who waits for that: Kubernetes' API Priority and Fairness with slices for requests.
///
/// Each flow may have one free slice at a time, as long as it is not in debt; free slices together take as many places
/// as there are processors. All others need a seat. There are as many seats as processors, and the ``FairQueue`` decides
/// who gets the next one. A flow is an address; a user is one flow across all addresses besides. SeatTable is a value
/// behind the lock of ``Seats`` and has no clock of its own.
struct SeatTable {
  /// How long a place or a seat is held at most, in nanoseconds: 100 milliseconds from the beginning of its slice. Then
  /// another may have it, even if it was not given back: its holder waits for something, or computes for too long. It is
  /// far longer than a slice, because a holder may have waited for a processor. The time before the slice begins, when the
  /// holder waits for a thread of Swift's pool, does not count: if seats were given away then, all requests would line up
  /// there.
  static let longest: Int64 = 100_000_000

  /// A place or a seat that was given.
  private struct Lease {
    let id: UInt64
    let address: AccountLine
    let user: AccountLine?
    let isFree: Bool
    let slice: SliceStart

    /// When it ends; nil while the slice has not begun.
    var end: Int64? {
      let begun = slice.nanoseconds
      return begun == 0 ? nil : begun + SeatTable.longest
    }
  }

  private let processors: Int
  /// How many processors are in use by threads that compute outside of slices, such as those of password hashes.
  var reserved = 0
  private(set) var queue = FairQueue(.requests)
  private var leases: [Lease] = []
  private var lastID: UInt64 = 0

  init(processors: Int) { self.processors = max(1, processors) }

  /// When the next lease ends at the latest; nil when that is not known.
  var nextEnd: Int64? { leases.lazy.compactMap(\.end).min() }

  /// Gives a free slice or a seat to an account that comes now.
  /// - Parameter slice: when the slice begins.
  /// - Parameter mayBeFree: false for a slice that follows another of the same request: only a seat is given then.
  /// - Returns: the id of the lease, at least 1; nil when the account has to wait.
  mutating func take(
    _ account: ProcessorAccount, for slice: SliceStart, at now: Int64, mayBeFree: Bool = true
  ) -> UInt64? {
    removeEnded(at: now)
    let line = account.line(in: queue.name)
    if mayBeFree, mayHaveFreeSlice, !account.isOverdrawn, !hasLease(line) {
      return add(line, true, slice)
    }
    guard queue.isEmpty, maySit else { return nil }
    return add(line, false, slice)
  }

  /// Ends a lease. Has no effect when it has ended already.
  mutating func giveBack(_ id: UInt64) {
    guard let index = leases.firstIndex(where: { $0.id == id }) else { return }
    leases.swapAt(index, leases.count - 1)
    leases.removeLast()
  }

  /// Adds a waiter.
  mutating func push(_ waiter: Waiter, _ account: ProcessorAccount, at now: Int64) {
    queue.push(waiter, account, at: now)
  }

  /// Moves the waiters of an ended request before all others.
  mutating func expedite(_ work: Work) { queue.expedite(work, work.account) }

  /// Removes the next one that may go on.
  /// - Returns: the waiter and the id of its lease; nil when none waits or may go on.
  mutating func next(at now: Int64) -> (waiter: Waiter, id: UInt64)? {
    removeEnded(at: now)
    guard !queue.isEmpty else { return nil }
    let isFree = !maySit
    guard !isFree || mayHaveFreeSlice,
      let waiter = queue.pop(at: now, sparing: isFree ? leases.map(\.address) : nil)
    else { return nil }
    // Who waits for a seat has a request, so that a lease never waits for a slice that nobody begins.
    guard case .seat(_, let account) = waiter.kind, let work = waiter.work else { return nil }
    return (waiter, add(account.line(in: queue.name), isFree, work.slice))
  }

  private mutating func removeEnded(at now: Int64) {
    leases.removeAll { lease in lease.end.map { $0 <= now } ?? false }
  }

  private var mayHaveFreeSlice: Bool { leases.count(where: \.isFree) < processors }
  private var maySit: Bool { leases.count { !$0.isFree } < max(1, processors - reserved) }

  private func hasLease(_ line: AccountLine) -> Bool {
    let address = line.parent ?? line
    return leases.contains { lease in
      lease.address === address || lease.user != nil && lease.user === line.user
    }
  }

  private mutating func add(_ line: AccountLine, _ isFree: Bool, _ slice: SliceStart) -> UInt64 {
    lastID += 1
    leases.append(
      Lease(
        id: lastID, address: line.parent ?? line, user: line.user, isFree: isFree, slice: slice))
    return lastID
  }
}

/// When the present slice of a request began, or of a task for which nobody pays.
final class SliceStart: Sendable {
  private let begun: Atomic<Int64>

  /// - Parameter begun: 0 for a slice that has not begun.
  init(_ begun: Int64 = 0) { self.begun = Atomic(begun) }

  /// The moment in nanoseconds of ``SliceClock``; 0 while the request waits, and before its first slice.
  var nanoseconds: Int64 { begun.load(ordering: .relaxed) }

  func begin() { begun.store(SliceClock.now, ordering: .relaxed) }

  func isOver(at now: Int64 = SliceClock.now) -> Bool { now - nanoseconds >= Slice.nanoseconds }

  /// - Returns: when the slice began; 0 if it has ended already.
  func end() -> Int64 { begun.exchange(0, ordering: .relaxed) }
}
