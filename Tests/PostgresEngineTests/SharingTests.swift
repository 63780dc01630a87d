import Documents
import NIOConcurrencyHelpers
import Scheduling
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import PostgresEngine

/// What the nodes of one database learn about each other, and on what they agree.
@Suite struct SharingTests {
  /// Opens two nodes on a separate server, because all nodes of a database hear each other.
  private func withNodes(
    _ use: (PostgresDatabase, PostgresDatabase) async throws -> Void
  ) async throws {
    let fixture = try DatabaseFixture(on: PostgresServer())
    try await fixture.withNode { first in
      try await fixture.withNode { second in try await use(first, second) }
    }
  }

  @Test func aNodeHearsOfAnotherNodesCommitsAndErasuresAndNotOfItsOwn() async throws {
    try await withNodes { first, second in
      let (mine, theirs) = (try user(1), try user(2))
      var changes = second.remoteChanges().makeAsyncIterator()
      // The listener reports `unknown` when it has connected.
      #expect(await changes.next() == .unknown)
      try await second.store(mine).put("a", "{}")
      try await first.store(theirs).put("a", "{}")
      #expect(await changes.next() == .changed(theirs))
      _ = try await first.erase(theirs)
      #expect(await changes.next() == .ended(theirs))
    }
  }

  @Test func aListenerThatLosesItsConnectionListensAgain() async throws {
    let fixture = try DatabaseFixture(on: PostgresServer())
    try await fixture.withNode { first in
      try await fixture.withNode { second in
        let name = try user(1)
        var changes = second.remoteChanges().makeAsyncIterator()
        #expect(await changes.next() == .unknown)
        try fixture.killBackends()
        #expect(await changes.next() == .unknown)
        try await first.store(name).put("a", "{}")
        #expect(await changes.next() == .changed(name))
      }
    }
  }

  @Test func logOfErasuresHasEachPersonsStoreOnce() async throws {
    try await DatabaseFixture().withNode { node in
      let (erased, there, database) = (
        try user(1), try user(2), StoreName.named(try #require(DatabaseName("shared")))
      )
      var generator = SeededGenerator(seed: 3)
      let (guest, aged) = (
        StoreName.guest(.random(using: &generator)), StoreName.guest(.random(using: &generator))
      )
      for name in [erased, there, database, aged] { _ = try await node.store(name) }
      // It is erased without a record, because of its age.
      _ = try await node.erase(aged)
      // Nothing says whether the guest never had a store, or the registry has lost its row.
      for name in [erased, erased, database, guest, aged] { try await node.noteErasure(of: name) }
      _ = try await node.erase(erased)
      try await node.noteErasure(of: erased)
      // Those of another place need not exist here.
      try await node.noteErasures(of: [erased, try user(4), database])
      var found: [StoreName] = []
      try await node.visitErasures { found += $0 }
      #expect(Set(found) == [erased, guest, try user(4)])
      #expect(found.count == 3)
    }
  }

  @Test func ofTwoNodesThatOpenAnAbsentStoreAtOnceOneCreatesIt() async throws {
    try await withNodes { first, second in
      for number in 1...8 {
        let name = try user(number)
        async let one = first.open(name, creating: true)
        async let other = second.open(name, creating: true)
        let opened = try await [one, other]
        #expect(opened.count { $0?.isNew == true } == 1)
      }
    }
  }

  @Test func ofTwoNodesThatFillOneStoreAtOnceOneSucceeds() async throws {
    try await withNodes { first, second in
      for number in 1...8 {
        let name = try user(number)
        func fill(_ node: PostgresDatabase, _ id: Int) async throws -> ServiceError.Code? {
          guard case .user(let id) = try user(id) else { return nil }
          let staged = StoreName.staged(name, by: id)
          try await node.store(staged).put("a", "{}")
          return await code { try await node.replace(name, by: staged) }
        }
        async let one = fill(first, 1)
        async let other = fill(second, 2)
        #expect(try await Set([one, other]) == [nil, .notEmpty])
        #expect(try await first.store(name).body("a") == "{}")
      }
    }
  }

  @Test func leftoversOfImportsAreRemovedOnceTheyAreOld() async throws {
    try await withNodes { first, second in
      guard case .user(let id) = try user(2) else { return }
      let (whole, erasing) = (
        StoreName.staged(try user(1), by: id), StoreName.staged(try user(2), by: id)
      )
      for name in [whole, erasing] { _ = try await first.store(name) }
      try await first.repeating { connection in
        guard let row = try NameRow(erasing.key, on: connection) else { return }
        try PostgresDatabase.mark(row, .erasing, on: connection)
      }
      let manager = DatabaseManager(engine: second, maximumOpen: 4, now: second.clock.now)
      let now = second.clock.now()
      #expect(try await manager.removeStaged(begunBefore: now.adding(seconds: -900)).isEmpty)
      let staged = { try await first.names(in: StoreName.stagedNamespace, after: nil, limit: 9) }
      #expect(try await staged() == [whole])
      #expect(try await manager.removeStaged(begunBefore: now.adding(seconds: 900)).isEmpty)
      #expect(try await staged().isEmpty)
      await manager.close()
    }
  }

  @Test func storeThatWasErasedForGoodIsNotCreatedAgain() async throws {
    try await withNodes { first, second in
      for (number, wasThere) in [(1, true), (2, false)] {
        let name = try user(number)
        let open = wasThere ? try await second.store(name) : nil
        try await first.noteErasure(of: name)
        #expect(try await first.erase(name) == wasThere)
        if let open {
          #expect(await code { try await open.put("late", "{}") } == .absent)
        }
        #expect(await code { _ = try await second.open(name, creating: true) } == .absent)
        #expect(try await second.open(name, creating: false) == nil)
        let staged = StoreName.staged(name)
        try await second.store(staged).put("late", "{}")
        #expect(await code { try await second.replace(name, by: staged) } == .absent)
        let names = try await first.names(in: "user", after: nil, limit: 9, includingErased: true)
        #expect(names.isEmpty)
      }
    }
  }

  @Test func anOpenStoreFollowsItsNameWhenAnotherNodeHasErasedAndCreatedIt() async throws {
    try await withNodes { first, second in
      let name = try user(1)
      let open = try await second.store(name)
      try await open.put("old", "{}")
      _ = try await first.erase(name)
      #expect(await code { _ = try await open.body("old") } == .absent)
      #expect(open.isEnded)
      let again = try await first.store(name)
      try await again.put("new", #"{"n":1}"#)
      #expect(try await open.body("old") == nil)
      #expect(try await open.body("new") == #"{"n":1}"#)
      try await open.put("newer", "{}")
      #expect(try await again.sequences() == [1, 2])
    }
  }

  @Test func positionsGrowWithEachCommitAndNameTheEpoch() async throws {
    try await withNodes { first, second in
      let (name, absent) = (try user(1), try user(2))
      let store = try await first.store(name)
      let before = try await second.positions(of: [name, absent])
      #expect(before.count == 2 && before[1] == nil)
      try await store.put("a", "{}")
      let after = try await second.positions(of: [name])
      let (old, new) = (try #require(before[0]), try #require(after[0]))
      #expect(old.epoch == new.epoch && old.mark < new.mark)
      try await store.update(loading: [], at: Timestamp(milliseconds: 1)) { changes in
        changes.write(
          LocalEdit(LocalID(receipt: "x"), LocalDocument(revision: 1, body: Array("{}".utf8))))
      }
      #expect(try await second.positions(of: [name])[0]?.mark ?? 0 > new.mark)
      _ = try await first.erase(name)
      _ = try await first.store(name)
      #expect(try await second.positions(of: [name])[0]?.epoch != old.epoch)
    }
  }

  @Test func aManagerWakesReadersOfStoresThatAnotherNodeChanges() async throws {
    try await withNodes { first, second in
      let name = try user(1)
      _ = try await first.store(name)
      let manager = DatabaseManager(
        engine: second, maximumOpen: 10, now: { Timestamp(milliseconds: 1) })
      let running = Task { await manager.run() }
      let reader = await manager.subscribe(to: name)
      // The wake-up comes from the listener's first report or from this change.
      try await first.store(name).put("a", "{}")
      #expect(await reader.news() != nil)
      _ = try await first.erase(name)
      #expect(await reader.lastWake() == .end)
      running.cancel()
      await running.value
      await manager.close()
    }
  }

  @Test func aManagerLooksAtRightsAfterAnotherNodeHasChangedAccounts() async throws {
    try await withNodes { first, second in
      let accounts = try await first.store(.system)
      let manager = DatabaseManager(
        engine: second, maximumOpen: 10, now: { Timestamp(milliseconds: 1) })
      let running = Task { await manager.run() }
      let holds = NIOLockedValueBox(true)
      let reader = Subscription(
        testing: .person(reading: [try user(1)]), mayRead: { holds.withLockedValue { $0 } })
      manager.subscriptions.add(reader)
      while await reader.news()?.rights != true {}
      try await accounts.put("a", "{}")
      while await reader.news()?.rights != true {}
      holds.withLockedValue { $0 = false }
      try await accounts.put("b", "{}")
      #expect(await reader.lastWake() == .end)
      #expect(reader.end == .notAllowed)
      running.cancel()
      await running.value
      await manager.close()
    }
  }

  @Test func aSharedFileIsReadWholeOrNotAtAll() async throws {
    try await withNodes { first, second in
      #expect(try await second.sharedFile("catalogue") == nil)
      let contents = [[UInt8](repeating: 1, count: 300_000), [UInt8](repeating: 2, count: 10)]
      for content in contents {
        var rest = content[...]
        let file = try await first.replaceSharedFile("catalogue") {
          guard !rest.isEmpty else { return nil }
          defer { rest = rest.dropFirst(PostgresDatabase.sharedPieceBytes) }
          return Array(rest.prefix(PostgresDatabase.sharedPieceBytes))
        }
        let found = try #require(try await second.sharedFile("catalogue"))
        #expect(found == file)
        var bytes: [UInt8] = []
        for index in 0..<found.pieces {
          bytes += try await second.piece(index, of: found, "catalogue")
        }
        #expect(bytes == content)
      }
    }
  }

  @Test func theClockAddsUptimeToTheDatabasesTime() async throws {
    let begun = ContinuousClock.now
    let clock = DatabaseClock(Timestamp(milliseconds: 5_000), at: begun)
    #expect(clock.now(at: begun + .milliseconds(250)).milliseconds == 5_250)
    clock.note(
      Timestamp(milliseconds: 9_000), asked: begun + .seconds(1), answered: begun + .seconds(3))
    #expect(clock.now(at: begun + .seconds(2)).milliseconds == 9_000)
    try await withNodes { first, second in
      try first.checkWritable()
      let difference = first.clock.now().milliseconds - second.clock.now().milliseconds
      #expect(abs(difference) < 1_000)
    }
  }

  @Test func aServerOfALowerTimelineIsNotUsed() async throws {
    let threads = ThreadPool.forStores(processors: 2, threads: 4)
    let address = try DatabaseFixture().address
    let pool = ConnectionPool(
      address, for: .reads, limit: 1, threads: threads,
      counters: DatabaseCounters())
    let timeline = try await pool.once { connection in connection.timeline }
    #expect(timeline >= 1)
    // A server of the next timeline has become the primary.
    #expect(address.servers.timeline.isNewest(timeline + 1))
    await #expect(throws: PostgresError.self) { try await pool.once { _ in } }
    await pool.close()
    await threads.stop()
  }

  @Test func noticesAreSplitAndOwnOnesAreKnown() throws {
    let names = try (1...500).map { try user($0) }
    let texts = Notice.texts(names.map { (.changed, $0) } + [(.ended, .system)], from: "node")
    #expect(texts.count > 1 && texts.allSatisfy { $0.utf8.count <= Notice.longestText })
    let found = texts.flatMap { Notice.changes(in: $0, to: "other") ?? [] }
    #expect(found == names.map { .changed($0) } + [.ended(.system)])
    #expect(texts.allSatisfy { Notice.changes(in: $0, to: "node") == nil })
    #expect(Notice.changes(in: "node\nxwhat\nc???", to: "other")?.isEmpty == true)
  }
}
