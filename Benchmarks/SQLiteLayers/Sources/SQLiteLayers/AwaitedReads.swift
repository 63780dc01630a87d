import GRDB
import SQLite
import Scheduling

/// Reads as in a request: a task awaits them, and another thread runs them.
protocol AwaitedReads: Sendable {
  /// The name in the table.
  var name: String { get }
  /// Reads one document and returns the number of its bytes.
  func read(_ key: String) async throws -> Int
}

/// Reads on a thread of their own.
struct ConfinedReads: AwaitedReads {
  let name = "thin layer, on a thread"
  private let layer: Confined<ThinLayer>

  init(path: String, workload: Workload, threads: ThreadPool) throws {
    layer = Confined(try ThinLayer(path: path, workload: workload), to: threads)
  }

  func read(_ key: String) async throws -> Int { try await layer.run { try $0.read(key) } }
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
