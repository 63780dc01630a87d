import Documents
import NIOConcurrencyHelpers
import Stores
import Testing

@testable import PostgresEngine

/// Lost connections, and commits that are not replicated. Each test starts its own server, because it ends the server's
/// processes.
@Suite struct FaultTests {
  @Test func whatIsAcknowledgedIsStoredWhateverProcessesAreEnded() async throws {
    let fixture = try DatabaseFixture(on: try PostgresServer())
    let nodes = [try await fixture.node(), try await fixture.node()]
    let stores = [try await nodes[0].store(), try await nodes[1].store()]
    // Connections are ended after every 24 writes, at most half of which were on their way: however slow the machine
    // is, the others go through.
    let (isDone, written) = (NIOLockedValueBox(false), NIOLockedValueBox(0))
    let killer = Task {
      var (killed, next) = (0, 12)
      while !isDone.withLockedValue({ $0 }) {
        if written.withLockedValue({ $0 }) >= next {
          killed += try fixture.killBackends()
          next = written.withLockedValue { $0 } + 24
        }
        try await Task.sleep(for: .milliseconds(1))
      }
      return killed
    }
    let outcomes = try await withThrowingTaskGroup(of: [(String, ServiceError.Code?)].self) {
      group in
      for writer in 0..<12 {
        group.addTask {
          var outcomes: [(String, ServiceError.Code?)] = []
          for number in 0..<40 {
            let id = "\(writer)/\(number)"
            outcomes.append((id, await code { try await stores[writer % 2].put(id, "{}") }))
            written.withLockedValue { $0 += 1 }
          }
          return outcomes
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    isDone.withLockedValue { $0 = true }
    #expect(try await killer.value > 10)
    let acknowledged = Set(outcomes.filter { $0.1 == nil }.map(\.0))
    let unknown = Set(outcomes.filter { $0.1 == .outcomeUnknown }.map(\.0))
    // There is no other outcome: the engine repeats an update whose commit was not sent.
    #expect(acknowledged.count + unknown.count == outcomes.count)
    let changes = try await stores[0].read { view in try view.changes(after: 0, limit: 10_000) }
    let stored = Set(changes.map(\.id.text))
    #expect(acknowledged.subtracting(stored) == [])
    #expect(stored.subtracting(acknowledged).subtracting(unknown) == [])
    #expect(changes.map(\.sequence) == Array(1...Int64(stored.count)))
    #expect(acknowledged.count > 100)
    for node in nodes { await node.close() }
  }

  @Test func readsAndWritesGoOnAfterConnectionsWereLost() async throws {
    let fixture = try DatabaseFixture(on: try PostgresServer())
    try await fixture.withNode { node in
      let store = try await node.store()
      try await store.put("a", "{}")
      for _ in 0..<5 {
        #expect(try fixture.killBackends() > 0)
        #expect(try await store.body("a") == "{}")
        #expect(try fixture.killBackends() > 0)
        try await store.increment("counter")
      }
      #expect(try await store.body("counter") == #"{"n":5}"#)
      try fixture.killBackends()
      try node.checkWritable()
    }
  }

  /// What the readiness check says just after a write to a full disk.
  private static func report(
    of node: PostgresDatabase, writingTo store: any StoreStorage
  ) async throws -> ServiceError.Code? {
    #expect(await code { try await store.put("a", "{}") } == .storageFull)
    return await code { try node.checkWritable() }
  }

  @Test func fullDiskIsReportedAlthoughTheReadinessCheckItselfNeedsNoSpace() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let store = try await node.store()
      try node.checkWritable()
      try fixture.execute(
        """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$
        """)
      try fixture.execute(
        "CREATE TRIGGER full_disk BEFORE INSERT ON documents FOR EACH ROW EXECUTE FUNCTION refuse()"
      )
      // It is reported for some seconds, which may pass before a slow machine looks.
      var reports: [ServiceError.Code?] = []
      while reports.count < 100, reports.last != .storageFull {
        reports.append(try await Self.report(of: node, writingTo: store))
      }
      #expect(reports.last == .storageFull)
    }
  }

  @Test(arguments: [false, true])
  func readRunsAgainAlthoughItIgnoredThatTheConnectionWasLost(isInline: Bool) async throws {
    let fixture = try DatabaseFixture(on: try PostgresServer())
    try await fixture.withNode { node in
      let store = try await node.store()
      // The row is too long to share a round trip, so that the third run of an inline read is the first one on a snapshot.
      let text = String(repeating: "x", count: 2 * SharedReads.longestRow)
      try await store.put("a", #"{"t":"\#(text)"}"#)
      let (a, runs) = (try DocumentID("a"), NIOLockedValueBox(0))
      let query: @Sendable (any StoreView) throws -> Int? = { view in
        let run = runs.withLockedValue { runs in
          runs += 1
          return runs
        }
        if run == (isInline ? 3 : 1) {
          _ = try view.info()
          #expect(try fixture.killBackends() > 0)
        }
        return (try? view.document(a))?.revision.generation
      }
      let found =
        if isInline { try await store.readInline(query) } else { try await store.read(query) }
      #expect(found == 1 && runs.withLockedValue { $0 } == (isInline ? 4 : 2))
    }
  }

  @Test func ruleRunsAgainWhenTheConnectionIsLostBeforeTheCommit() async throws {
    let fixture = try DatabaseFixture(on: try PostgresServer())
    try await fixture.withNode { node in
      let store = try await node.store()
      let id = try DocumentID("a")
      let runs = NIOLockedValueBox(0)
      try await store.update(loading: [id], at: Timestamp(milliseconds: 1)) { changes in
        let isFirst = runs.withLockedValue { runs in
          runs += 1
          return runs == 1
        }
        if isFirst { #expect(try fixture.killBackends() > 0) }
        _ = try? changes.view.document(try DocumentID("another"))
        try changes.put(id, base: nil, body: .empty)
      }
      #expect(runs.withLockedValue { $0 } == 2)
      #expect(try await store.sequences() == [1])
    }
  }

  @Test func commitThatNoStandbyConfirmsIsOfUnknownOutcome() async throws {
    let fixture = try DatabaseFixture(on: try PostgresServer())
    try await fixture.withNode { node in
      let store = try await node.store()
      try await store.put("before", "{}")
      try await fixture.makeCommitsWait()
      // A cancelled wait gives COMMIT after a warning. A terminated process gives no answer.
      for call in ["pg_cancel_backend", "pg_terminate_backend"] {
        let write = Task { await code { try await store.put(call, "{}") } }
        var ended = 0
        while ended == 0 {
          try await Task.sleep(for: .milliseconds(10))
          ended = try fixture.signal(call, where: "wait_event = 'SyncRep'")
        }
        #expect(await write.value == .outcomeUnknown)
      }
      try fixture.execute("ALTER SYSTEM RESET synchronous_standby_names")
      try fixture.execute("SELECT pg_reload_conf()::int::int8")
      try await store.put("after", "{}")
      // Both writes of unknown outcome were committed here.
      #expect(try await store.sequences() == [1, 2, 3, 4])
    }
  }

  @Test func readinessWithoutAStandbyIsThatNothingIsAcknowledgedAndUsesOneSession() async throws {
    let fixture = try DatabaseFixture(on: try PostgresServer())
    try await fixture.withNode { node in
      try await node.store().put("a", "{}")
      try node.checkWritable()
      try await fixture.makeCommitsWait()
      for _ in 0..<3 { #expect(await code { try node.checkWritable() } == .outcomeUnknown) }
      let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
      #expect(try fixture.execute(waiting) == [1])
      #expect(try await node.store().body("a") == "{}")
      try fixture.execute("ALTER SYSTEM RESET synchronous_standby_names")
      try fixture.execute("SELECT pg_reload_conf()::int::int8")
      while try fixture.execute(waiting) != [0] { try await Task.sleep(for: .milliseconds(10)) }
      // The answer has come while nobody waited for it.
      for _ in 0..<3 { #expect(await code { try node.checkWritable() } == nil) }
    }
  }

  @Test func writesOnOneDiskAreKnown() async throws {
    let fixture = try DatabaseFixture(on: try PostgresServer())
    try await fixture.withNode { node in
      func isOnOneDisk() throws -> Bool {
        try node.checkWritable()
        return node.writesOnOneDisk
      }
      #expect(try isOnOneDisk())
      // A standby that is asked for, but need not confirm.
      try fixture.execute("ALTER SYSTEM SET synchronous_commit = local")
      try fixture.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
      try fixture.execute("SELECT pg_reload_conf()::int::int8")
      #expect(try isOnOneDisk())
      // A commit of such a session would wait for the standby, so that only the setting is looked at.
      let session = try fixture.address.connect(registers: false)
      let question = "SELECT \(PostgresDatabase.isOnOneDiskNow)::int::int8"
      for (setting, answer) in [("remote_write", 1), ("on", 0), ("remote_apply", 0)] {
        _ = try session.execute("SET synchronous_commit = \(setting)")
        #expect(try session.execute(question).all.map { $0.integer(0) } == [Int64(answer)])
      }
    }
  }

  /// Two connections are for writes. A third commit would need another one, which the server does not give back.
  @Test func readsGoOnAndNoSessionIsAddedWhileCommitsWaitForAStandby() async throws {
    let fixture = try DatabaseFixture(on: try PostgresServer())
    let node = try await fixture.node(longestSilence: 500)
    var stores: [any StoreStorage] = []
    for number in 1...5 {
      stores.append(try await node.store(try user(number)))
      try await stores[number - 1].put("a", "{}")
    }
    try await fixture.makeCommitsWait()
    let waiting = "SELECT pid::int8 FROM pg_stat_activity WHERE wait_event = 'SyncRep' ORDER BY 1"
    let codes = try await withThrowingTaskGroup(of: ServiceError.Code?.self) { group in
      for store in stores { group.addTask { await code { try await store.put("b", "{}") } } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes.count { $0 == .outcomeUnknown } == 2)
    #expect(codes.count { $0 == .unavailable } == 3)
    let sessions = try fixture.execute(waiting)
    #expect(sessions.count == 2 && node.statistics.hung == 2)
    for store in stores {
      #expect(await code { try await store.put("c", "{}") } == .unavailable)
      #expect(try await store.body("a") == "{}")
      #expect(try await store.sequences() == [1])
    }
    #expect(await code { _ = try await node.store(try user(6)) } == .unavailable)
    #expect(try await node.open(try user(7), creating: false) == nil)
    #expect(try fixture.execute(waiting) == sessions && node.statistics.connections <= 4)
    try fixture.execute("ALTER SYSTEM RESET synchronous_standby_names")
    try fixture.execute("SELECT pg_reload_conf()::int::int8")
    for store in stores {
      while await code({ try await store.put("d", "{}") }) != nil {
        try await Task.sleep(for: .milliseconds(10))
      }
    }
    while node.statistics.hung > 0 { try await Task.sleep(for: .milliseconds(10)) }
    var lengths: [Int] = []
    for store in stores { lengths.append(try await store.sequences().count) }
    // Both commits of unknown outcome took place.
    #expect(lengths.sorted() == [2, 2, 2, 3, 3])
    await node.close()
  }

  @Test func updatesBehindTheFirstWriteOfAnUnknownCommitAreUnknownToo() async throws {
    let fixture = try DatabaseFixture(on: try PostgresServer())
    try await fixture.withNode { node in
      let store = try await node.store()
      try await fixture.makeCommitsWait()
      let codes = try await withThrowingTaskGroup(of: ServiceError.Code?.self) { group in
        for number in 0..<30 {
          group.addTask { await code { try await store.put("\(number)", "{}") } }
        }
        let ender = Task {
          while !Task.isCancelled {
            _ = try fixture.signal("pg_cancel_backend", where: "wait_event = 'SyncRep'")
            try await Task.sleep(for: .milliseconds(10))
          }
        }
        defer { ender.cancel() }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(codes) == [.outcomeUnknown])
    }
  }
}
