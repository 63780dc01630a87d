import Foundation
import GRDB

/// GRDB as in its documentation: each operation is one access to the queue, with cached statements and
/// rows that are not copied.
struct GRDBLayer: Contender, Operations {
  let name = "GRDB"
  let queue: DatabaseQueue
  let workload: GRDBWorkload

  init(path: String, workload: Workload) throws {
    self.workload = GRDBWorkload(workload)
    queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { try $0.execute(sql: "\(Workload.settings)") }
    let written = self.workload
    try queue.write { database in
      try database.execute(sql: "\(Workload.schema)")
      for key in workload.keys { try written.write(key, 0, in: database) }
    }
  }

  func session(_ body: (any Operations) throws -> Void) throws {
    try body(self)
  }

  func read(_ key: String) throws -> Int {
    try queue.read { database in try workload.read(key, in: database) }
  }

  func upsert(_ key: String, _ number: Int) throws {
    try queue.write { database in try workload.write(key, number, in: database) }
  }

  func upsertTogether(_ keys: ArraySlice<String>, _ number: Int) throws {
    try queue.write { database in
      for (offset, key) in keys.enumerated() {
        try database.inSavepoint {
          try workload.write(key, number + offset, in: database)
          return .commit
        }
      }
    }
  }
}
