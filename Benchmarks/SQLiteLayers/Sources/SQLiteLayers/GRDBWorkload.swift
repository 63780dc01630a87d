import Foundation
import GRDB

/// The workload in GRDB's types, converted once: SQL as `String`, and bodies as `Data`, which GRDB binds.
struct GRDBWorkload: Sendable {
  private let readSQL = "\(Workload.read)"
  private let upsertSQL = "\(Workload.upsert)"
  private let workload: Workload
  private let body: Data

  init(_ workload: Workload) {
    self.workload = workload
    body = Data(workload.body)
  }

  /// Reads one document and returns the number of its bytes.
  func read(_ key: String, in database: Database) throws -> Int {
    let statement = try database.cachedStatement(sql: readSQL)
    let rows = try Row.fetchCursor(statement, arguments: [key])
    guard let row = try rows.next() else { return 0 }
    let revision: String = row[0]
    let body: Data = row[1]
    return revision.utf8.count + body.count
  }

  /// Writes one document, as write number `number`.
  func write(_ key: String, _ number: Int, in database: Database) throws {
    let statement = try database.cachedStatement(sql: upsertSQL)
    try statement.execute(arguments: [key, workload.revision(number), body])
  }
}
