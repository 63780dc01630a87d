import GRDB

/// The operations inside an access to GRDB's queue. Transactions and savepoints use cached statements,
/// too: this is the lowest cost that GRDB can have.
struct GRDBAccess: Operations {
  let database: Database
  let workload: GRDBWorkload

  func read(_ key: String) throws -> Int {
    try workload.read(key, in: database)
  }

  func upsert(_ key: String, _ number: Int) throws {
    try execute("BEGIN IMMEDIATE")
    try workload.write(key, number, in: database)
    try execute("COMMIT")
  }

  func upsertTogether(_ keys: ArraySlice<String>, _ number: Int) throws {
    try execute("BEGIN IMMEDIATE")
    for (offset, key) in keys.enumerated() {
      try execute("SAVEPOINT point")
      try workload.write(key, number + offset, in: database)
      try execute("RELEASE point")
    }
    try execute("COMMIT")
  }

  private func execute(_ sql: String) throws {
    try database.cachedStatement(sql: sql).execute()
  }
}
