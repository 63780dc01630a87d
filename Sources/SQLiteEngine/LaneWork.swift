import Lanes

/// Runs blocking calls that belong to no store on a lane, not on the threads of Swift's concurrency runtime.
actor LaneWork {
  private let lane: Lane

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  /// Creates an actor whose work runs on a lane.
  init(_ lane: Lane) { self.lane = lane }

  /// Runs `work` on the lane's thread.
  func run<Value: Sendable, Failure: Error>(
    _ work: @Sendable () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try work()
  }
}
