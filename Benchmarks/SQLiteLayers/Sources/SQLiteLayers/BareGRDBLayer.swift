import GRDB

/// GRDB at its barest: one access around the whole round. What remains is the cost of its
/// statements and rows.
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
