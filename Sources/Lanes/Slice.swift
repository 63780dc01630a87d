import CLanes

/// The piece of work that the calling thread is at: whatever loops over something that a stranger sizes asks, in
/// each round, whether it is over, and gives way then.
///
/// ```swift
/// for document in documents {
///   try await Slice.giveWay()
///   …
/// }
/// ```
/// Where nothing may be waited for, as in a query over a store, the loop ends instead and is taken up again in the
/// next slice; see ``isOver``.
package enum Slice {
  /// How long a piece of work goes on before it gives way, in milliseconds.
  package static let milliseconds = 2
  static let nanoseconds = Int64(milliseconds) * 1_000_000

  /// Whether the calling thread has worked long enough to give way, or works for nobody any more. Costs some
  /// nanoseconds; a loop asks in each round. Never true on a thread that no pool or lane has.
  package static var isOver: Bool {
    #if DEBUG
      if isShortest { return true }
    #endif
    let thread = clanes_this_thread()
    guard thread.pointee.slice_end != 0 else { return false }
    return clanes_now() - thread.pointee.blocked >= thread.pointee.slice_end || isEnded
  }

  /// Whether the calling thread works for nobody any more.
  package static var isEnded: Bool { Work.current?.hasEnded ?? false }

  /// Charges what the calling thread did so far, for whoever wants to read what a request has cost.
  package static func settle() { LaneThread.settle() }

  /// Gives way to others if the slice is over: others that wait for a processor go first where it is their turn.
  /// - Throws: ``WorkEnded`` when nobody waits for this work's result any more, or it may cost no more.
  package static func giveWay() async throws(WorkEnded) {
    guard isOver else { return }
    await next()
    if isEnded { throw WorkEnded() }
  }

  /// Waits for the turn of whoever asks, before the work for a request begins.
  /// - Throws: ``WorkEnded`` where that takes too long for one who has overdrawn.
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

  /// Lets others go first where it is their turn.
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

/// The clock that slices and accounts go by: nobody sets it.
enum SliceClock {
  /// Nanoseconds since some moment.
  static var now: Int64 { clanes_now() }
}

/// Work goes no further: nobody waits for its result any more, or it may cost no more. ``Work/reason`` tells why.
package struct WorkEnded: Error {
  package init() {}
}

extension Slice {
  /// Whether every slice is over at once, for tests of loops that are taken up again. Without effect in a release
  /// build.
  @TaskLocal package static var isShortest = false
}
