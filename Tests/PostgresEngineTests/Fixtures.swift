import Documents
import Foundation
import Lanes
import Stores
import TestSupport
import Testing

@testable import PostgresEngine

/// A schema of its own in a database: a place for one test's tables.
struct Place: Sendable {
  /// The schema's name.
  let schema: String
  private let url: String
  /// Lives as long as the place.
  private let server: PostgresServer?

  /// Makes the schema.
  /// - Parameter server: nil for the database that tests share.
  init(on server: PostgresServer? = nil) throws {
    self.server = server
    let database = try server?.url ?? PostgresServer.sharedURL
    schema = "test_" + UUID().uuidString.filter { $0 != "-" }.lowercased()
    url = database + (database.contains("?") ? "&" : "?") + "options=-csearch_path%3D" + schema
    try execute("CREATE SCHEMA \(schema)")
  }

  /// How the schema is reached.
  var address: DatabaseAddress {
    get throws { try DatabaseAddress(url: url) }
  }

  /// A node on these tables.
  func node(connections: Int = 4) async throws -> PostgresDatabase {
    try await PostgresDatabase.open(
      try address, connections: connections, pool: .forStores(processors: 2, threads: 8))
  }

  /// Opens a node, and gives it back after use.
  func withNode(_ use: (PostgresDatabase) async throws -> Void) async throws {
    let node = try await node()
    do { try await use(node) } catch {
      await node.close()
      throw error
    }
    await node.close()
  }

  /// Runs a statement on a connection of its own.
  /// - Returns: the first field of each row.
  @discardableResult
  func execute(_ sql: String) throws -> [Int64] {
    try address.connect().execute(sql).all.map { $0.integer(0) }
  }

  /// Ends the server's processes that nodes on these tables use, and counts them.
  @discardableResult
  func killBackends() throws -> Int {
    try signal(
      "pg_terminate_backend",
      where: "application_name = 'hotel-bookmarks' AND query NOT LIKE '%pg_stat_activity%'")
  }

  /// Calls a function for each of the server's other processes of which something holds, and counts them.
  func signal(_ function: String, where condition: String) throws -> Int {
    // Chosen before the first is called: in one condition the order is the planner's, and its own process among them.
    try execute(
      """
      WITH others AS MATERIALIZED (
        SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND \(condition))
      SELECT pid::int8 FROM others WHERE \(function)(pid)
      """
    ).count
  }
}

/// A user's store by number.
func user(_ number: Int) throws -> StoreName {
  let digits = String(number)
  return .user(try #require(AccountID(String(repeating: "0", count: 32 - digits.count) + digits)))
}

/// The code of the error that something throws.
func code(_ body: () async throws -> Void) async -> ServiceError.Code? {
  do {
    try await body()
    return nil
  } catch { return ServiceError(error)?.code }
}

extension StorageEngine {
  /// Opens a store that is there or is made.
  func store(_ name: StoreName = .system) async throws -> any StoreStorage {
    try #require(try await open(name, creating: true))
  }
}

extension StoreStorage {
  /// Puts a revision on a document.
  @discardableResult
  func put(_ id: String, _ body: String, base: RevisionID? = nil) async throws -> RevisionID {
    let id = try DocumentID(id)
    let body = try DocumentBody(parsing: Array(body.utf8))
    return try await update(loading: [id], at: Timestamp(milliseconds: 1)) { changes in
      try changes.put(id, base: base, body: body)
    }
  }

  /// What the winner says.
  func body(_ id: String) async throws -> String? {
    let id = try DocumentID(id)
    return try await readInline { view in try view.document(id) }
      .map { String(decoding: $0.body, as: UTF8.self) }
  }

  /// Adds one to a number in a document.
  func increment(_ id: String) async throws {
    let id = try DocumentID(id)
    try await update(loading: [id], at: Timestamp(milliseconds: 1)) { changes in
      let old = try changes.view.document(id)
      let count = old.flatMap {
        Int(String(decoding: $0.body.dropFirst(5).dropLast(), as: UTF8.self))
      }
      let body = try DocumentBody(parsing: Array("{\"n\":\((count ?? 0) + 1)}".utf8))
      try changes.put(id, base: old?.revision, body: body)
    }
  }

  /// The numbers of all changes.
  func sequences() async throws -> [Int64] {
    try await read { view in try view.changes(after: 0, limit: 1_000_000).map(\.sequence) }
  }
}
