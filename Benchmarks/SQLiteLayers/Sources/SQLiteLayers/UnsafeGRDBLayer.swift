import GRDB

/// GRDB without the transaction and the write protection of its `read` and `write`; its documentation
/// calls this unsafe. Each operation is one access.
struct UnsafeGRDBLayer: Contender, Operations {
  let name = "GRDB, unsafe"
  private let layer: GRDBLayer

  init(path: String, workload: Workload) throws {
    layer = try GRDBLayer(path: path, workload: workload)
  }

  func session(_ body: (any Operations) throws -> Void) throws {
    try body(self)
  }

  func read(_ key: String) throws -> Int {
    try layer.queue.unsafeRead { database in
      try GRDBAccess(database: database, workload: layer.workload).read(key)
    }
  }

  func upsert(_ key: String, _ number: Int) throws {
    try layer.queue.inDatabase { database in
      try GRDBAccess(database: database, workload: layer.workload).upsert(key, number)
    }
  }

  func upsertTogether(_ keys: ArraySlice<String>, _ number: Int) throws {
    try layer.queue.inDatabase { database in
      try GRDBAccess(database: database, workload: layer.workload).upsertTogether(keys, number)
    }
  }
}
