import Documents
import IPAddresses
import StoreTesting
import Stores
import Synchronization
import Testing

@testable import Replicator

/// One document of a replicator database that can't be used, among others.
@Suite(.timeLimit(.minutes(10))) struct ReplicatorDocumentsTests {
  /// A database of documents, and what follows it.
  private final class Fixture: Sendable {
    let stores: DatabaseManager
    let database: ReplicatorDatabase
    let jobs: ReplicationJobs
    let documents: ReplicatorDocuments
    let reports = Mutex<[ReplicatorDocuments.Failure]>([])

    init(
      over engine: any StorageEngine, of name: DatabaseName = .replicator,
      key: @escaping @Sendable () async throws -> [UInt8]
    ) {
      let now = { @Sendable in Timestamp(milliseconds: 0) }
      stores = DatabaseManager(engine: engine, maximumOpen: 10, now: now)
      database = ReplicatorDatabase(name, in: stores)
      let clients = PeerClients(socket: "/nonexistent/socket", addresses: .publicOnly) { _ in
        try await Task.sleep(for: .seconds(3600))
        return ""
      }
      jobs = ReplicationJobs(clients, publishes: name == .remotes, now: now)
      documents = ReplicatorDocuments(
        database, jobs, CredentialSeal(key: key), isShared: name == .remotes,
        server: { "server" }, now: now)
    }

    func write(_ id: String, _ members: JSONObject) async throws {
      try await database.write([(try DocumentID(id), members)])
    }

    /// Follows the database until a condition is true.
    func follow(until isDone: () async throws -> Bool) async rethrows {
      let task = Task {
        await documents.run { failure in self.reports.withLock { $0.append(failure) } }
      }
      defer { task.cancel() }
      while try await !isDone() { await Task.yield() }
      task.cancel()
      await task.value
      await jobs.stop()
    }

    /// The state of a document that was read already.
    func state(of id: String) -> String? {
      documents.scheduled.first { $0["doc_id"]?.string == id }?["state"]?.string
    }
  }

  private static let local: JSONObject = ["source": "a", "target": "b", "continuous": true]
  private static let key: @Sendable () -> [UInt8] = { [UInt8](repeating: 1, count: 32) }

  @Test func unreadableDocumentStopsNoOther() async throws {
    let engine = WrappedEngine(MemoryEngine()) { DamagedStorage($0, without: ["b"]) }
    let fixture = Fixture(over: engine, key: Self.key)
    for id in ["a", "b", "c"] {
      try await fixture.write(id, ["source": .string(id), "target": "x"])
    }
    await fixture.follow { fixture.state(of: "c") != nil && fixture.state(of: "b") != nil }
    #expect(fixture.jobs.counts.started == 2)
    let element = try #require(try await fixture.documents.scheduled("b"))
    #expect(element["state"] == "failed" && element["info"]?["error"] == "It can't be read")
    #expect(element["error_count"] == 1 && element["source"] == .null)
    let reports = fixture.reports.withLock { $0 }
    #expect(reports.map(\.change) == [2] && reports.first?.database == "_replicator")
    let shown = try await fixture.documents.progress(of: "b", [:], at: nil)
    #expect(shown["state"] == "failed" && shown["reason"] == "It can't be read")
  }

  @Test func credentialsThatCannotBeDecryptedNowStopNoOther() async throws {
    let fixture = Fixture(over: MemoryEngine()) { throw ServiceError(.unavailable, "No key now") }
    let sealed: JSONObject = ["url": "https://h.example/a", "sealed": "AAAA"]
    try await fixture.write("a", ["source": .object(sealed), "target": "x"])
    try await fixture.write("b", Self.local)
    await fixture.follow { fixture.state(of: "b") != nil }
    #expect(fixture.state(of: "a") == "error" && fixture.jobs.counts.started == 1)
    #expect(try await fixture.documents.scheduled("a")?["info"]?["error"] == "No key now")
    // Regression: the answer to a new remote had the states and errors of the former one.
    for reason in ["No key now", nil] {
      let stored = try #require(try await fixture.database.bodies(of: [DocumentID("a")]).first)
      let shown = try await fixture.documents.progress(of: "a", stored.body, at: stored.revision)
      #expect(shown["reason"]?.string == reason)
      #expect(shown["state"] == (reason == nil ? "initializing" : "crashing"))
      try await fixture.write("a", Self.local)
    }
  }

  @Test func wrongDocumentStopsNoOtherWhenNothingCanBeWritten() async throws {
    let engine = MemoryEngine()
    let fixture = Fixture(over: engine, key: Self.key)
    try await fixture.write("a", ["source": "a"])
    try await fixture.write("b", Self.local)
    engine.failWrites(to: .named(.replicator), with: ServiceError(.readOnly, "Read only"))
    await fixture.follow { fixture.state(of: "b") != nil }
    #expect(fixture.state(of: "a") == "failed" && fixture.jobs.counts.started == 1)
    let info = try await fixture.documents.scheduled("a")?["info"]?["error"]?.string
    #expect(info?.contains("Missing replicator database") == true)
  }

  @Test func progressOfPeopleIsPublishedWhenItHasChanged() async throws {
    let fixture = Fixture(over: MemoryEngine(), of: .remotes, key: Self.key)
    let ids = (100..<220).map { String(repeating: "0", count: 29) + "\($0)/push" }
    for id in ids {
      try await fixture.write(
        id, ["source": "own", "target": "https://h.example/db", "name": "ann", "continuous": true])
    }
    let first = ids[0]
    await fixture.follow {
      var states: [String] = []
      for id in ids {
        let state = try? await fixture.database.published(id)?["state"]?.string
        guard let state else { return false }
        states.append(state)
      }
      guard states.count(where: { $0 == "running" }) == 100 else { return false }
      return !fixture.jobs.hasUnpublished
    }
    for (id, body) in [(first, nil), (ids[1], Self.local)] as [(String, JSONObject?)] {
      try await fixture.database.write([(try DocumentID(id), body)])
      #expect(try await fixture.database.published(id) == nil)
    }
    #expect(try await fixture.database.published(ids[2]) != nil)
  }

  /// A remote that was forgotten between the reading and the writing once came back with its credentials.
  @Test func beginningByHandChangesOnlyRemotesThatAreThere() async throws {
    let fixture = Fixture(over: MemoryEngine(), of: .remotes, key: Self.key)
    let remotes = PersonRemotes(
      fixture.database, fixture.documents, CredentialSeal(key: Self.key))
    let text = String(repeating: "0", count: 31) + "7"
    let person = try #require(AccountID(text))
    let id = try DocumentID(text + "/pull")
    #expect(try await !remotes.start(of: person))
    try await fixture.write(text + "/pull", ["source": "x", "_replication_state": "idle"])
    #expect(try await remotes.start(of: person))
    let body = try #require(try await fixture.database.bodies(of: [id]).first?.body)
    #expect(body.members.map(\.name) == ["source", "asked"])
    try await fixture.database.write([(id, nil)])
    #expect(try await !remotes.start(of: person))
    #expect(try await fixture.database.bodies(of: [id]).isEmpty)
    await fixture.jobs.stop()
  }

  /// The former body of a document has its encrypted credentials.
  @Test func notedStateLeavesNoFormerBody() async throws {
    let fixture = Fixture(over: MemoryEngine(), key: Self.key)
    try await fixture.write("a", ["source": "x"])
    let id = try DocumentID("a")
    let former = try #require(try await fixture.database.document(id))
    try await fixture.database.note(["_replication_state": "failed"], in: id, former.revision)
    let present = try #require(try await fixture.database.document(id))
    #expect(present.revision != former.revision)
    let kept = try await fixture.stores.withStore(.named(.replicator), creating: false) { store in
      try await store?.read { view in try view.body(id, former.revision) }
    }
    #expect((kept ?? nil) == nil)
    await fixture.jobs.stop()
  }

  @Test func longDocumentIsNotKeptWhole() async throws {
    let fixture = Fixture(over: MemoryEngine(), key: Self.key)
    let long = String(repeating: "x", count: 100_000)
    try await fixture.write(
      "a",
      [
        "source": .string(long), "target": ["url": .string(long)],
        "_replication_state": "failed", "_replication_state_reason": .string(long),
        "_replication_stats": ["x": .string(long)],
      ])
    let stored = try #require(try await fixture.database.document(DocumentID("a")))
    let body = try ParsedJSON(stored.body, limits: .stored).root
    let known = ReplicatorDocument(stored, body)
    #expect(known.source == nil && known.target == nil)
    let note = try #require(known.note)
    #expect(note.state == "failed" && note.statistics == nil)
    #expect(note.reason?.count == 4_000)
    await fixture.jobs.stop()
  }

  /// One who wrote documents all the time once kept the progress of all others from being published.
  @Test func progressIsPublishedWhileDocumentsAreWritten() async throws {
    let fixture = Fixture(over: MemoryEngine(), of: .remotes, key: Self.key)
    let ids = (0..<2).map { String(repeating: "0", count: 31) + "\($0)/push" }
    let members: JSONObject = [
      "source": "own", "target": "https://h.example/db", "name": "ann", "continuous": true,
    ]
    try await fixture.write(ids[0], members)
    let writer = Task {
      var idle = members
      idle.append("_replication_state", "idle")
      while !Task.isCancelled {
        idle.append("asked", .count(Int.random(in: 0..<1 << 50)))
        try await fixture.write(ids[1], idle)
      }
    }
    defer { writer.cancel() }
    await fixture.follow { (try? await fixture.database.published(ids[0])) != nil }
    #expect(fixture.jobs.counts.started == 1)
  }
}
