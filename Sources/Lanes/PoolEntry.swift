/// What waits for a thread of a pool, or for a place.
struct PoolEntry {
  /// What is to be run.
  enum Kind {
    /// A job of a request's task.
    case task(UnownedJob, WorkExecutor)
    /// The first job of an actor.
    case place(LanePlace)
    /// A task that waits for a place behind a ``FairGate``.
    case gate(UnsafeContinuation<Int, Never>)
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
