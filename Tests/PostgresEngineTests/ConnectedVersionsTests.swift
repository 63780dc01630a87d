import Stores
import Testing

@testable import PostgresEngine

/// Tables are not changed under a node that knows only the former ones.
@Suite struct ConnectedVersionsTests {
  /// The step of a later version.
  private static let steps = Schema.steps + [["CREATE TABLE later(one bigint)"]]

  /// Brings the tables to a later version, as a node of it does.
  private static func migrate(_ fixture: DatabaseFixture) throws {
    try Schema.migrate(try fixture.address.connect(registers: false), by: steps)
  }

  @Test func migrationIsRefusedWhileANodeIsConnectedAndMadeAfterwards() async throws {
    let fixture = try DatabaseFixture()
    let node = try await fixture.node()
    _ = try await node.store()
    let refusal = #expect(throws: ServiceError.self) { try Self.migrate(fixture) }
    #expect(refusal?.code == .unavailable)
    #expect(refusal?.reason.contains("an earlier version use the database (") == true)
    #expect(try fixture.execute("SELECT version FROM schema_version") == [Schema.version])
    let later = "SELECT count(*) FROM pg_class WHERE oid = to_regclass('later')"
    #expect(try fixture.execute(later) == [0])
    await node.close()
    try Self.migrate(fixture)
    #expect(try fixture.execute("SELECT version FROM schema_version") == [Schema.version + 1])
  }

  @Test func nodesOfOtherTablesInTheSameDatabaseDoNotMatter() async throws {
    let (fixture, other) = (try DatabaseFixture(), try DatabaseFixture())
    try await fixture.withNode { _ in }
    try await other.withNode { _ in try Self.migrate(fixture) }
  }

  @Test func nodeThatConnectsDuringTheMigrationFindsTheNewTables() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { _ in }
    let migrating = try fixture.address.connect(registers: false)
    _ = try migrating.run([Call(.begin)])
    try ConnectedVersions.requireNone(migrating)
    try migrating.execute("UPDATE schema_version SET version = version + 1")
    let late = Task { try await fixture.withNode { _ in } }
    // The node waits for the lock before it reads the version.
    let waiting = """
      SELECT count(*) FROM pg_locks
      WHERE NOT granted AND locktype = 'advisory' AND objid = 'schema_version'::regclass::oid
      """
    while try migrating.execute(waiting).first?.integer(0) == 0 {
      try await Task.sleep(for: .milliseconds(10))
    }
    _ = try migrating.run([Call(.commit)])
    let refusal = await #expect(throws: ServiceError.self) { try await late.value }
    #expect(refusal?.reason.contains("by a newer version of this service") == true)
  }

  @Test func nodeThatReconnectsToNewerTablesSaysWhyItCanNotGoOn() async throws {
    let fixture = try DatabaseFixture()
    let node = try await fixture.node()
    let store = try await node.store()
    #expect(node.refusal == nil)
    try fixture.execute("UPDATE schema_version SET version = version + 1")
    let held = "SELECT l.pid FROM pg_locks l WHERE l.objid = 'schema_version'::regclass::oid"
    #expect(try fixture.signal("pg_terminate_backend", where: "pid IN (\(held))") > 0)
    await #expect(throws: ServiceError.self) { try await store.put("late", "{}") }
    #expect(node.refusal?.reason.contains("by a newer version of this service") == true)
    await node.close()
  }
}
