import SQLite

/// The service's own binding, used as in its storage engine.
struct ThinLayer: Contender, Operations {
  let name = "thin layer"
  private let connection: Connection
  private let workload: Workload

  init(path: String, workload: Workload) throws {
    self.workload = workload
    connection = try Connection(path: path, mode: .readWriteCreate)
    try connection.execute(Workload.settings)
    try connection.execute(Workload.schema)
    try connection.begin()
    for key in workload.keys { try write(key, 0) }
    try connection.commit()
  }

  /// Opens an existing store.
  init(opening path: String, workload: Workload) throws {
    self.workload = workload
    connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("PRAGMA synchronous=FULL")
  }

  func close() throws {
    try connection.close()
  }

  func session(_ body: (any Operations) throws -> Void) throws {
    try body(self)
  }

  func read(_ key: String) throws -> Int {
    let found = try connection.statement(Workload.read).first(.text(key)) {
      row in (try row.string(0), row.bytes(1))
    }
    guard let found else { return 0 }
    return found.0.utf8.count + found.1.count
  }

  func upsert(_ key: String, _ number: Int) throws {
    try connection.begin()
    try write(key, number)
    try connection.commit()
  }

  func upsertTogether(_ keys: ArraySlice<String>, _ number: Int) throws {
    try connection.begin()
    for (offset, key) in keys.enumerated() {
      try connection.statement("SAVEPOINT point").run()
      try write(key, number + offset)
      try connection.statement("RELEASE point").run()
    }
    try connection.commit()
  }

  private func write(_ key: String, _ number: Int) throws {
    try connection.statement(Workload.upsert).run(
      .text(key), .text(workload.revision(number)), .bytes(workload.body))
  }
}
