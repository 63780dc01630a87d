import CLanes

/// The time for which the calling thread may work before it lets others use the processor.
///
/// A loop whose length a client decides checks in each iteration whether the slice is over, and gives way if it is.
///
/// ```swift
/// for document in documents {
///   try await Slice.giveWay()
///   …
/// }
/// ```
/// Code that can't suspend, such as a query over a store, ends its loop instead and continues in the next slice; see
/// ``isOver``.
package struct Slice: Sendable {
  /// When it ends, in nanoseconds of ``SliceClock``.
  private let end: Int64
  private let work: Work?

  /// A slice that begins now.
  /// - Parameter work: the request that the slice is part of; when it ends, the slice is over.
  /// - Parameter waited: how long the work has waited for others since `begun`, in nanoseconds; it does not count.
  package init(of work: Work?, from begun: Int64 = SliceClock.now, waited: Int64 = 0) {
    end = begun + waited + Self.nanoseconds
    self.work = work
  }

  private init(end: Int64) { (self.end, work) = (end, nil) }

  /// A slice that is over at once. With it a test reaches the steps between the slices of a loop.
  package static let shortest = Slice(end: .min)
  /// A slice that is never over, for loops that no client sizes.
  package static let endless = Slice(end: .max)

  /// Whether the time is used up, or the request has ended. It costs some nanoseconds, so that a loop can ask in each
  /// iteration.
  package var isOver: Bool { SliceClock.now >= end || work?.hasEnded ?? false }

  /// How long a piece of work runs before it gives way, in milliseconds.
  package static let milliseconds = 2
  static let nanoseconds = Int64(milliseconds) * 1_000_000

  /// Whether the calling thread has used up its slice, or works for a request that has ended. It costs some
  /// nanoseconds, so that a loop can ask in each iteration. It is always false on a thread that belongs to no pool or
  /// lane.
  package static var isOver: Bool {
    #if DEBUG
      if isShortest { return true }
    #endif
    let thread = clanes_this_thread()
    guard thread.pointee.slice_end != 0 else { return false }
    return clanes_now() - thread.pointee.blocked >= thread.pointee.slice_end || isEnded
  }

  /// Whether the calling thread works for a request that has ended.
  package static var isEnded: Bool { Work.current?.hasEnded ?? false }

  /// Charges the calling thread's time so far, so that the cost of the request is up to date for a reader.
  package static func settle() { LaneThread.settle() }

  /// Suspends the task when the slice is over and the queue has others to serve first.
  /// - Throws: ``WorkEnded`` when the request has ended; see ``Work/Ending``.
  package static func giveWay() async throws(WorkEnded) {
    guard isOver else { return }
    await next()
    if isEnded { throw WorkEnded() }
  }

  /// Waits, before the work for a request begins, until the queue serves the account of its principal.
  /// - Throws: ``WorkEnded`` when the request has ended meanwhile, for example because its account is overdrawn and
  ///   waited too long.
  package static func begin() async throws(WorkEnded) {
    guard let pool = LanePool.current, pool.isCrowded else { return }
    if let work = Work.current, !work.account.isOverdrawn,
      WorkExecutor.current?.hasWaited(on: work.account) ?? false
    {
      return
    }
    await next()
    if isEnded { throw WorkEnded() }
  }

  /// Suspends the task until the queue serves it again; begins a new slice when no other entry waits.
  private static func next() async {
    LaneThread.settle()
    guard let pool = LanePool.current, WorkExecutor.current != nil else {
      return await Task.yield()
    }
    if pool.isCrowded, let work = Work.current, !work.hasEnded {
      await pool.wait(for: work)
    } else {
      clanes_this_thread().pointee.slice_end = clanes_now() + nanoseconds
    }
  }
}

/// The clock of slices and accounts: monotonic, so that a change of the system's time does not affect it.
package enum SliceClock {
  /// Nanoseconds since an arbitrary moment.
  package static var now: Int64 { clanes_now() }
}

/// The error of work that stops because its request has ended. ``Work/reason`` is the reason.
package struct WorkEnded: Error {
  package init() {}
}

extension Slice {
  /// Whether every slice is over at once, for tests of loops that continue in a next slice. It has no effect in a
  /// release build.
  @TaskLocal package static var isShortest = false
}
