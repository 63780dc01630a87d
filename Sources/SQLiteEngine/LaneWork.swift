import Lanes
import SQLite

/// Runs blocking calls that belong to no store on a lane, off Swift's own threads.
actor LaneWork {
  private let lane: Lane

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  /// Work for a lane.
  init(_ lane: Lane) { self.lane = lane }

  /// Runs `work` on the lane's thread.
  func run<Value: Sendable, Failure: Error>(
    _ work: @Sendable () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try work()
  }
}
