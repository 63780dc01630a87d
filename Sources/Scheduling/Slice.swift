import Glibc

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

  /// Counts bytes that the request holds until a later slice.
  /// - Returns: whether there is memory for them.
  package func reserve(_ count: Int) -> Bool { work?.reserve(count) ?? true }

  /// How long a piece of work runs before it gives way, in milliseconds.
  package static let milliseconds = 2
  static let nanoseconds = Int64(milliseconds) * 1_000_000

  /// Whether the calling task works for a request that has ended.
  package static var isEnded: Bool { Work.current?.hasEnded ?? false }

  /// When the present slice of a task began for which nobody pays; see ``unpaid(_:)``.
  @TaskLocal private static var start: SliceStart?

  /// Computes something for which nobody pays, and gives way once per slice. Elsewhere such a task does so at each
  /// ``giveWay()``, which costs a microsecond.
  package static func unpaid<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    let start = SliceStart()
    start.begin()
    return try await $start.withValue(start, operation: body)
  }

  /// Suspends the task when its slice is over and others are to be served first.
  /// - Throws: ``WorkEnded`` when the request has ended; see ``Work/Ending``.
  package static func giveWay() async throws(WorkEnded) {
    guard let work = Work.current else {
      guard start?.isOver() ?? true else { return }
      await Task.yield()
      start?.begin()
      return
    }
    await work.giveWay()
    if work.hasEnded { throw WorkEnded() }
  }

  /// Waits, before the work for a request begins, until the account of its principal may compute.
  /// - Throws: ``WorkEnded`` when the request has ended meanwhile, for example because its account is overdrawn and
  ///   waited too long.
  package static func begin() async throws(WorkEnded) {
    guard let work = Work.current else { return }
    await work.beginAsPrincipal()
    if work.hasEnded { throw WorkEnded() }
  }
}

/// The clocks of slices and accounts: monotonic, so that a change of the system's time does not affect them.
package enum SliceClock {
  /// Nanoseconds since an arbitrary moment.
  package static var now: Int64 { nanoseconds(of: CLOCK_MONOTONIC) }

  /// The processor time of the calling thread, in nanoseconds. A system call, unlike ``now``.
  static var processorTime: Int64 { nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) }

  private static func nanoseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// The error of work that stops because its request has ended. ``Work/reason`` is the reason.
package struct WorkEnded: Error {}
