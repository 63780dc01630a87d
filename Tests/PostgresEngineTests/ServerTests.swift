import Scheduling
import Stores
import Testing

@testable import PostgresEngine

/// Which servers and addresses the engine accepts, and how it creates its tables.
@Suite struct ServerTests {
  @Test func addressThatIsNoURLOfPostgresIsRefused() async {
    for url in ["", "localhost", "mysql://localhost/x", "postgres://localhost/x?nonsense=1"] {
      #expect(await code { _ = try DatabaseAddress(url: url) } == .unavailable, "\(url)")
    }
  }

  @Test func refusalOfAnAddressDoesNotTellItsPassword() {
    do {
      _ = try DatabaseAddress(url: "postgres://me:secret@localhost/x?nonsense=1")
      Issue.record("it was taken")
    } catch {
      #expect(!String(reflecting: error).contains("secret"))
    }
  }

  @Test(
    arguments: [
      (130_022, "UTF8", false, ServiceError.Code.unavailable),
      (150_000, "SQL_ASCII", false, .unavailable), (150_000, "LATIN1", false, .unavailable),
      (150_000, "UTF8", true, .readOnly), (140_000, "UTF8", false, nil),
      (180_001, "UTF8", false, nil),
    ] as [(Int64, String, Bool, ServiceError.Code?)])
  func oldReadOnlyAndOtherwiseEncodedServersAreRefused(
    _ version: Int64, _ encoding: String, _ isReadOnly: Bool, _ wanted: ServiceError.Code?
  ) async {
    let found = await code {
      try ServerChecks.check(version: version, encoding: encoding, isReadOnly: isReadOnly)
    }
    #expect(found == wanted)
  }

  @Test func databaseOfAnotherEncodingIsRefusedWithTheReason() async throws {
    let server = try PostgresServer()
    let fixture = try DatabaseFixture(on: server)
    try fixture.execute(
      "CREATE DATABASE other ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    let url = server.url.replacing("/postgres?", with: "/other?")
    let threads = ThreadPool.forStores(processors: 2, threads: 2)
    do {
      _ = try await PostgresDatabase.open(try DatabaseAddress(url: url), pool: threads)
      Issue.record("it was taken")
    } catch let error as ServiceError {
      #expect(error.reason == "The database's encoding is SQL_ASCII; it has to be UTF8")
    }
  }

  @Test func serverThatTakesNoWritesIsRefusedWithTheReason() async throws {
    let server = try PostgresServer()
    let fixture = try DatabaseFixture(on: server)
    try fixture.execute("ALTER DATABASE postgres SET default_transaction_read_only = on")
    #expect(await code { try await fixture.withNode { _ in } } == .readOnly)
  }

  @Test func hostThatHungIsLeftOutAndThenTriedByOneCaller() {
    let (hangs, now) = (HostHangs(), ContinuousClock.now)
    func order(after seconds: Int = 0) -> [Int] {
      hangs.order(of: 3, at: now + .seconds(seconds))
    }
    #expect(order() == [0, 1, 2])
    hangs.note(0, at: now)
    #expect(order() == [1, 2])
    hangs.note(1, at: now)
    hangs.note(2, at: now)
    #expect(order() == [0, 1, 2], "all are tried where none is left")
    hangs.clear(1)
    #expect(order(after: 2) == [1])
    #expect(order(after: 3) == [1, 0, 2])
    #expect(order(after: 4) == [1], "another caller tries them at present")
    hangs.clear(0)
    #expect(order(after: 4) == [0, 1])
  }

  @Test func hostThatDoesNotAnswerIsPassedOver() async throws {
    let server = try PostgresServer()
    let url = server.url.replacing("host=", with: "host=/nowhere,")
    let connection = try DatabaseAddress(url: url).connect()
    #expect(try connection.execute("SELECT 1::int8").first?.integer(0) == 1)
    withExtendedLifetime(server) {}
  }

  @Test func nobodyThatAnswersIsUnavailable() async throws {
    let address = try DatabaseAddress(url: "postgres://postgres@/postgres?host=/nowhere")
    let threads = ThreadPool.forStores(processors: 2, threads: 2)
    let found = await code { _ = try await PostgresDatabase.open(address, pool: threads) }
    #expect(found == .unavailable)
  }

  @Test func nodesThatStartTogetherMakeTheTablesOnce() async throws {
    let fixture = try DatabaseFixture()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<6 { group.addTask { try await fixture.withNode { _ = try await $0.store() } } }
      try await group.waitForAll()
    }
    #expect(try fixture.execute("SELECT version FROM schema_version") == [Schema.version])
    #expect(try fixture.execute("SELECT count(*) FROM names") == [1])
  }

  @Test(
    .bug(id: "F27"),
    arguments: [
      (
        7,
        "The database was written by a newer version of this service: its format is 7, this version "
          + "needs 6. Start the version that wrote it, or a later one"
      ),
      (
        5,
        "The database was written by an earlier version of this service: its format is 5, this "
          + "version needs 6. Export each account with the version that wrote it, and import it here"
      ),
    ] as [(Int64, String)])
  func databaseOfAnotherVersionIsRefusedAndKept(_ version: Int64, _ reason: String) async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { _ in }
    try fixture.execute("UPDATE schema_version SET version = \(version)")
    let error = await #expect(throws: ServiceError.self) { try await fixture.withNode { _ in } }
    #expect(error?.code == .unavailable)
    #expect(error?.reason == reason)
    #expect(try fixture.execute("SELECT version FROM schema_version") == [version])
  }

  @Test func databaseOfAnotherApplicationIsRefusedAndKept() async throws {
    let fixture = try DatabaseFixture()
    try fixture.execute("CREATE TABLE stores(name text)")
    let error = await #expect(throws: ServiceError.self) { try await fixture.withNode { _ in } }
    #expect(error?.code == .unavailable)
    #expect(error?.reason == "The database has tables of something else; use an empty one")
    let tables = try fixture.execute(
      "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()")
    #expect(tables == [2])
  }

  @Test func everyKeyOfAStoresTablesBeginsWithItsNumber() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { _ in }
    // Selects indexes whose first column is not the store's number. `names`, `files`, `pieces`, `erasures` and
    // `schema_version` have no such column; their keys are left out.
    let others = try fixture.execute(
      """
      SELECT i.indexrelid::int8 FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
        JOIN pg_namespace n ON n.oid = t.relnamespace
        JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
      WHERE n.nspname = current_schema() AND t.relkind = 'r'
        AND a.attname <> CASE t.relname WHEN 'stores' THEN 'number' WHEN 'names' THEN 'key'
          WHEN 'erasures' THEN 'key' WHEN 'files' THEN 'name' WHEN 'pieces' THEN 'name' WHEN 'schema_version' THEN 'one' ELSE 'store' END
      """)
    #expect(others == [])
    let tables = try fixture.execute(
      "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()")
    #expect(tables == [12])
  }

  @Test func figuresTellCountsOfStoresThatAreNotOpen() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let name = try user(1)
      let store = try await node.store(name)
      try await store.put("a", "{}")
      await store.close()
      let figures = try await node.figures(of: [name, try user(2)])
      #expect(figures.map(\.name) == [name, try user(2)])
      #expect(figures[0].counts == StoreCounts(documents: 1, deleted: 0, lastSequence: 1))
      #expect(figures[1].counts == nil)
    }
  }

  @Test func closedEngineAndStoreRefuse() async throws {
    let fixture = try DatabaseFixture()
    let node = try await fixture.node()
    let store = try await node.store()
    await store.close()
    #expect(await code { try await store.put("a", "{}") } == .unavailable)
    #expect(await code { _ = try await store.body("a") } == .unavailable)
    await node.close()
    #expect(await code { _ = try await node.store() } == .unavailable)
  }

  @Test func whatAStoreHoldsIsCountedAnewOnlyWhenItMatters() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let store = try await node.store()
      let text = String(repeating: "x", count: 5_000)
      for number in 0..<10 { try await store.put("\(number)", #"{"t":"\#(text)"}"#) }
      for (limit, wanted) in [(40_000, true), (50_000, true), (70_000, false)] as [(Int64, Bool)] {
        #expect(try await store.read { view in try view.holds(moreThan: limit) } == wanted)
        #expect(try await store.read { view in try view.holds(moreThan: limit) } == wanted)
      }
      for number in 10..<20 { try await store.put("\(number)", #"{"t":"\#(text)"}"#) }
      #expect(try await store.read { view in try view.holds(moreThan: 70_000) })
    }
  }
}
