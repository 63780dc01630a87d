import Documents
import Foundation
import NIOConcurrencyHelpers
import Scheduling
import Stores
import TestSupport
import Testing

@testable import PostgresEngine

/// A separate schema in a database, for the tables of one test.
struct DatabaseFixture: Sendable {
  /// The schema's name.
  let schema: String
  private let url: String
  /// Keeps the server running as long as this value exists.
  private let server: PostgresServer?

  /// Creates the schema.
  /// - Parameter server: nil for the database that the tests share.
  init(on server: PostgresServer? = nil) throws {
    self.server = server
    let database = try server?.url ?? PostgresServer.sharedURL
    schema = "test_" + UUID().uuidString.filter { $0 != "-" }.lowercased()
    url = database + (database.contains("?") ? "&" : "?") + "options=-csearch_path%3D" + schema
    try execute("CREATE SCHEMA \(schema)")
  }

  /// The address of the schema.
  var address: DatabaseAddress {
    get throws { try DatabaseAddress(url: url) }
  }

  /// A node on these tables.
  /// - Parameter longestSilence: see ``Connection/longestSilence``.
  func node(connections: Int = 4, longestSilence: Int32? = nil) async throws -> PostgresDatabase {
    var address = try address
    if let longestSilence { address.longestSilence = longestSilence }
    return try await PostgresDatabase.open(
      address, connections: connections, pool: .forStores(processors: 2, threads: 8))
  }

  /// Opens a node and closes it after use.
  func withNode(_ use: (PostgresDatabase) async throws -> Void) async throws {
    let node = try await node()
    do { try await use(node) } catch {
      await node.close()
      throw error
    }
    await node.close()
  }

  /// Runs a statement on a new connection.
  /// - Returns: the first field of each row.
  @discardableResult
  func execute(_ sql: String) throws -> [Int64] {
    try address.connect(registers: false).execute(sql).all.map { $0.integer(0) }
  }

  /// Terminates the server's processes that serve nodes.
  /// - Returns: how many there were.
  @discardableResult
  func killBackends() throws -> Int {
    try signal(
      "pg_terminate_backend",
      where: "application_name = 'hotel-bookmarks' AND query NOT LIKE '%pg_stat_activity%'")
  }

  /// Calls a function of the server for each of its processes that meets a condition, except for this connection's own.
  /// - Returns: for how many processes the function returned true.
  func signal(_ function: String, where condition: String) throws -> Int {
    // The processes are selected before the first call. In a single condition the planner chooses the order, and may
    // call the function for this connection's own process.
    try execute(
      """
      WITH others AS MATERIALIZED (
        SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND \(condition))
      SELECT pid::int8 FROM others WHERE \(function)(pid)
      """
    ).count
  }
}

extension DatabaseFixture {
  /// Makes the server wait for a standby that does not exist, and returns when commits wait. A process of the server takes
  /// the setting over some time after it was loaded; a commit before that does not wait.
  func makeCommitsWait() async throws {
    try execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    try execute("SELECT pg_reload_conf()::int::int8")
    var cancelled = 0
    while cancelled == 0 {
      let isDone = NIOLockedValueBox(false)
      let commit = Task.detached {
        _ = try? self.execute("UPDATE schema_version SET version = version")
        isDone.withLockedValue { $0 = true }
      }
      while !isDone.withLockedValue({ $0 }) {
        try await Task.sleep(for: .milliseconds(10))
        cancelled += try signal("pg_cancel_backend", where: "wait_event = 'SyncRep'")
      }
      await commit.value
    }
  }
}

/// The name of a user's store, by number.
func user(_ number: Int) throws -> StoreName {
  let digits = String(number)
  return .user(try #require(AccountID(String(repeating: "0", count: 32 - digits.count) + digits)))
}

/// The code of the error that a function throws; nil if it throws none.
func code(_ body: () async throws -> Void) async -> ServiceError.Code? {
  do {
    try await body()
    return nil
  } catch { return ServiceError(error)?.code }
}

extension StorageEngine {
  /// Opens a store, and creates it if it is absent.
  func store(_ name: StoreName = .system) async throws -> any StoreStorage {
    try #require(try await open(name, creating: true))
  }
}

extension StoreStorage {
  /// Writes a revision of a document.
  @discardableResult
  func put(_ id: String, _ body: String, base: RevisionID? = nil) async throws -> RevisionID {
    let id = try DocumentID(id)
    let body = try DocumentBody(parsing: Array(body.utf8))
    return try await update(loading: [id], at: Timestamp(milliseconds: 1)) { changes in
      try changes.put(id, base: base, body: body)
    }
  }

  /// The winner's body.
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

  /// The sequence numbers of all changes.
  func sequences() async throws -> [Int64] {
    try await read { view in try view.changes(after: 0, limit: 1_000_000).map(\.sequence) }
  }
}
