import Documents
import NIOConcurrencyHelpers
import Stores
import Testing

@testable import PostgresEngine

/// Several engines on one database, like several nodes.
@Suite struct NodesTests {
  @Test func feedPolledOnOneNodeHasNoGapUnderEightWritersOnOthers() async throws {
    let fixture = try DatabaseFixture()
    let nodes = [try await fixture.node(), try await fixture.node(), try await fixture.node()]
    let name = try user(1)
    _ = try await nodes[0].store(name)
    let (writers, each) = (8, 40)
    let isDone = NIOLockedValueBox(false)
    let reader = try await nodes[2].store(name)
    async let seen = poll(reader) { isDone.withLockedValue { $0 } }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<writers {
        let store = try await nodes[writer % 3].store(name)
        group.addTask {
          for number in 0..<each { try await store.put("\(writer)/\(number)", "{}") }
        }
      }
      do { try await group.waitForAll() } catch {
        isDone.withLockedValue { $0 = true }
        throw error
      }
    }
    isDone.withLockedValue { $0 = true }
    #expect(try await seen == Array(1...Int64(writers * each)))
    for node in nodes { await node.close() }
  }

  /// Reads the feed page by page until `isDone` and no change is left.
  /// - Returns: the sequence numbers in the order in which they were read.
  private func poll(
    _ storage: any StoreStorage, until isDone: @escaping @Sendable () -> Bool
  ) async throws -> [Int64] {
    var seen: [Int64] = []
    while true {
      let (isLast, last) = (isDone(), seen.last ?? 0)
      let page = try await storage.read { view in try view.changes(after: last, limit: 7) }
      seen += page.map(\.sequence)
      if page.isEmpty, isLast { return seen }
      await Task.yield()
    }
  }

  @Test func twoNodesThatEditOneDocumentLoseNoEdit() async throws {
    let fixture = try DatabaseFixture()
    let nodes = [try await fixture.node(), try await fixture.node()]
    let stores = [try await nodes[0].store(), try await nodes[1].store()]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<60 {
        group.addTask { try await stores[number % 2].increment("counter") }
      }
      try await group.waitForAll()
    }
    for store in stores { #expect(try await store.body("counter") == #"{"n":60}"#) }
    #expect(try await stores[0].sequences() == [60])
    for node in nodes { await node.close() }
  }

  @Test func oneNodeReadsWhatAnotherHasAnswered() async throws {
    let fixture = try DatabaseFixture()
    let nodes = [try await fixture.node(), try await fixture.node()]
    let stores = [try await nodes[0].store(), try await nodes[1].store()]
    for number in 1...20 {
      try await stores[number % 2].increment("counter")
      #expect(try await stores[(number + 1) % 2].body("counter") == "{\"n\":\(number)}")
    }
    for node in nodes { await node.close() }
  }

  @Test func storeThatNodesMakeAtOnceIsMadeOnce() async throws {
    let fixture = try DatabaseFixture()
    let nodes = [try await fixture.node(), try await fixture.node(), try await fixture.node()]
    for number in 1...10 {
      let name = try user(number)
      let epochs = try await withThrowingTaskGroup(of: String.self) { group in
        for node in nodes {
          group.addTask {
            let store = try await node.store(name)
            return try await store.read { view in try view.info().epoch }
          }
        }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      #expect(epochs.count == 1)
    }
    #expect(try await nodes[0].names(in: "user", after: nil, limit: 99).count == 10)
    for node in nodes { await node.close() }
  }

  @Test func storeErasedOnOneNodeIsGoneOnAllAndItsNumberIsNeverUsedAgain() async throws {
    let fixture = try DatabaseFixture()
    let nodes = [try await fixture.node(), try await fixture.node()]
    let name = try user(7)
    let old = try await nodes[1].store(name)
    try await old.put("a", #"{"secret":1}"#)
    let epoch = try await old.read { view in try view.info().epoch }
    let number = try fixture.execute("SELECT number FROM names WHERE state = 0")[0]
    #expect(try await nodes[0].erase(name))
    #expect(await code { _ = try await old.body("a") } == .absent)
    #expect(await code { _ = try await old.sequences() } == .absent)
    #expect(await code { try await old.put("b", "{}") } == .absent)
    #expect(try await nodes[1].open(name, creating: false) == nil)
    for table in ["documents", "bodies", "histories", "locals", "indexes", "entries"] {
      #expect(try fixture.execute("SELECT count(*) FROM \(table) WHERE store = \(number)") == [0])
    }
    let new = try await nodes[0].store(name)
    try await new.put("c", "{}")
    #expect(try await new.read { view in try view.info().epoch } != epoch)
    // What was opened before follows the name, and shows nothing of the former store.
    #expect(try await old.body("a") == nil)
    #expect(try await old.body("c") == "{}")
    #expect(try fixture.execute("SELECT number FROM names WHERE state = 0")[0] != number)
    #expect(
      try fixture.execute("SELECT count(*) FROM stores WHERE number = \(number) AND is_erased") == [
        1
      ]
    )
    for node in nodes { await node.close() }
  }

  @Test func erasureThatWasInterruptedIsFinishedByWhoeverAsks() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let (name, store) = (try user(3), try await node.store(try user(3)))
      try await store.put("a", "{}")
      let connection = try fixture.address.connect()
      let row = try #require(try NameRow(name.key, on: connection))
      try PostgresDatabase.mark(row, .erasing, on: connection)
      #expect(try await node.names(in: "user", after: nil, limit: 9) == [])
      let all = try await node.names(in: "user", after: nil, limit: 9, includingErased: true)
      #expect(all == [name])
      #expect(try await node.open(name, creating: false) == nil)
      #expect(try fixture.execute("SELECT count(*) FROM documents") == [0])
      #expect(try await node.erase(name) == false)
    }
  }

  @Test func rowsOfAnErasedStoreAreRemovedAfterAnInterruptionToo() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let name = try user(6)
      let connection = try fixture.address.connect()
      for isInterrupted in [false, true] {
        let ids = try (0..<2_500).map { try DocumentID("d\($0)") }
        let store = try await node.store(name)
        try await store.update(loading: Set(ids), at: Timestamp(milliseconds: 1)) { changes in
          for id in ids { try changes.put(id, base: nil, body: .empty) }
        }
        #expect(try fixture.execute("SELECT count(*) FROM documents") == [2_500])
        if isInterrupted {
          // The state after a crash between the first step and the removal of the rows.
          let entry = try #require(try NameRow(name.key, on: connection))
          var row = StoreRow(
            number: entry.number, header: StoreHeader(key: name.key, epoch: entry.epoch))
          row.isErased = true
          _ = try connection.run([row.updating])
          #expect(try await node.open(name, creating: false) == nil)
        } else {
          #expect(try await node.erase(name))
        }
        #expect(try fixture.execute("SELECT count(*) FROM documents") == [0])
      }
    }
  }

  @Test func rowsThatTwoNodesRemoveAtOnceAreAllRemoved() async throws {
    let fixture = try DatabaseFixture()
    let nodes = [try await fixture.node(), try await fixture.node()]
    let name = try user(8)
    for round in 0..<3 {
      let ids = try (0..<4_000).map { try DocumentID("d\($0)") }
      let store = try await nodes[0].store(name)
      try await store.update(loading: Set(ids), at: Timestamp(milliseconds: 1)) { changes in
        for id in ids { try changes.put(id, base: nil, body: .empty) }
      }
      async let first = nodes[0].erase(name)
      async let second = nodes[1].erase(name)
      // A reader of the erased store removes nothing, and sees nothing.
      _ = try? await store.sequences()
      // Reads don't wait behind the erasures, so it may be there at first.
      while round > 0, try await nodes[1].open(name, creating: false) != nil {
        try await Task.sleep(for: .milliseconds(10))
      }
      _ = try await (first, second)
      #expect(try fixture.execute("SELECT count(*) FROM documents") == [0])
      #expect(try fixture.execute("SELECT state FROM names") == [2])
    }
    for node in nodes { await node.close() }
  }

  @Test func emptyStoreEndsInOneStepAndItsNameIsFreeEvenIfNothingFollows() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let name = try user(5)
      let store = try await node.store(name)
      let connection = try fixture.address.connect()
      let row = try #require(try NameRow(name.key, on: connection))
      try PostgresDatabase.finishErasing(row, onlyIfEmpty: true, on: connection)
      // The state after a crash between the two steps.
      try connection.execute(
        "UPDATE names SET state = 0, checksum = \(row.checksum.value) WHERE key = '\(name.key)'")
      await #expect(throws: ServiceError.absent) { try await store.put("late", "{}") }
      #expect(try await node.open(name, creating: false) == nil)
      try await node.store(name).put("a", "{}")
      let other = try #require(try NameRow(name.key, on: connection))
      #expect(other.number != row.number)
      #expect(throws: (any Error).self) {
        try PostgresDatabase.finishErasing(other, onlyIfEmpty: true, on: connection)
      }
      #expect(try await node.store(name).body("a") == "{}")
    }
  }

  @Test func storeThatTakesAnothersPlaceIsWholeHoweverOftenThatIsInterrupted() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let (name, staged) = (try user(4), StoreName.staged(try user(4)))
      _ = try await node.store(name)
      try await node.store(staged).put("new", "{}")
      let connection = try fixture.address.connect()
      let row = try #require(try NameRow(staged.key, on: connection))
      // The state after a crash that follows the first step. A second call completes the replacement.
      try PostgresDatabase.rename(row, to: name.key, on: connection)
      #expect(try await node.figures(of: [staged])[0].changedAt != nil)
      try await node.replace(name, by: staged)
      #expect(try await node.store(name).body("new") == "{}")
      // The state after a crash before the last step.
      try connection.execute(
        "UPDATE names SET state = 0, checksum = \(row.checksum.value) WHERE key = '\(staged.key)'")
      #expect(try await node.open(staged, creating: false) == nil)
      #expect(try await node.erase(staged) == false)
      #expect(try await node.store(name).body("new") == "{}")
      #expect(try await node.names(in: StoreName.stagedNamespace, after: nil, limit: 9) == [])
    }
  }
}
