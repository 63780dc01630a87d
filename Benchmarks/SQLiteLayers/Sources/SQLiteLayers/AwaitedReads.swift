import GRDB
import Lanes
import SQLite

/// Reads as in a request: a task awaits them, and another thread runs them.
protocol AwaitedReads: Sendable {
  /// The name in the table.
  var name: String { get }
  /// Reads one document and returns the number of its bytes.
  func read(_ key: String) async throws -> Int
}

/// Reads by an actor on a lane, as in a store of the service.
actor LaneReads: AwaitedReads {
  nonisolated let name = "thin layer, on a lane"
  private let lane: Lane
  private let path: String
  private let workload: Workload
  private var layer: ThinLayer?

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  init(path: String, workload: Workload, lane: Lane) {
    self.path = path
    self.workload = workload
    self.lane = lane
  }

  func read(_ key: String) throws -> Int {
    let layer = try self.layer ?? ThinLayer(path: path, workload: workload)
    self.layer = layer
    return try layer.read(key)
  }
}

/// Reads by GRDB's queue.
struct GRDBReads: AwaitedReads {
  let name: String
  private let queue: DatabaseQueue
  private let workload: GRDBWorkload
  private let isUnsafe: Bool

  init(path: String, workload: Workload, isUnsafe: Bool) throws {
    name = isUnsafe ? "GRDB, unsafe" : "GRDB"
    self.isUnsafe = isUnsafe
    queue = try GRDBLayer(path: path, workload: workload).queue
    self.workload = GRDBWorkload(workload)
  }

  func read(_ key: String) async throws -> Int {
    if isUnsafe {
      return try await queue.unsafeRead { database in try workload.read(key, in: database) }
    }
    return try await queue.read { database in try workload.read(key, in: database) }
  }
}
