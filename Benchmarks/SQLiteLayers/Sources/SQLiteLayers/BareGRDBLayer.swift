import GRDB

/// GRDB with one access to its queue around the whole round. Only the costs of its statements and rows
/// remain.
struct BareGRDBLayer: Contender {
  let name = "GRDB, bare"
  private let layer: GRDBLayer

  init(path: String, workload: Workload) throws {
    layer = try GRDBLayer(path: path, workload: workload)
  }

  func session(_ body: (any Operations) throws -> Void) throws {
    try layer.queue.inDatabase { database in
      try body(GRDBAccess(database: database, workload: layer.workload))
    }
  }
}
