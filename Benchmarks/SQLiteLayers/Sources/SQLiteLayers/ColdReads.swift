import GRDB
import SQLite

/// Opens a store, reads one document and closes the store, as a service does that has more stores than
/// it may keep open.
struct ColdRead {
  /// The name in the table.
  let name: String
  /// Does this once for the document with this key, and returns the number of its bytes.
  let run: (String) throws -> Int

  /// With the service's own binding, on an existing store.
  static func thin(path: String, workload: Workload) -> ColdRead {
    ColdRead(name: "thin layer") { key in
      let layer = try ThinLayer(opening: path, workload: workload)
      let bytes = try layer.read(key)
      try layer.close()
      return bytes
    }
  }

  /// With GRDB, on an existing store.
  static func grdb(path: String, workload: Workload) -> ColdRead {
    let workload = GRDBWorkload(workload)
    return ColdRead(name: "GRDB, unsafe") { key in
      let queue = try DatabaseQueue(path: path)
      let bytes = try queue.unsafeRead { database in
        try database.execute(sql: "PRAGMA synchronous=FULL")
        return try workload.read(key, in: database)
      }
      try queue.close()
      return bytes
    }
  }
}
