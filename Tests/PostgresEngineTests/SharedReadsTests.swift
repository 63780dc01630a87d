import Documents
import Glibc
import NIOConcurrencyHelpers
import Scheduling
import Stores
import Testing

@testable import PostgresEngine

@Suite struct SharedReadsTests {
  @Test func readsOfManyStoresAtOnceEachFindTheirOwn() async throws {
    try await DatabaseFixture().withNode { node in
      for number in 0..<40 { try await node.store(try user(number)).put("a", "{\"n\":\(number)}") }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for turn in 0..<400 {
          group.addTask {
            let store = try await node.store(try user(turn % 40))
            #expect(try await store.body("a") == "{\"n\":\(turn % 40)}")
            #expect(try await store.body("b") == nil)
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test func readSeesWhatWasWrittenBefore() async throws {
    try await DatabaseFixture().withNode { node in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<40 {
          group.addTask {
            let store = try await node.store(try user(number))
            var base: RevisionID?
            for turn in 0..<10 {
              base = try await store.put("a", "{\"n\":\(turn)}", base: base)
              #expect(try await store.body("a") == "{\"n\":\(turn)}")
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test func longBodiesAreReadAlone() async throws {
    try await DatabaseFixture().withNode { node in
      let store = try await node.store()
      let local = LocalID(receipt: "long")
      for length in [SharedReads.longestRow - 8, SharedReads.longestRow, 300_000] {
        let body = "{\"a\":\"\(String(repeating: "x", count: length))\"}"
        try await store.put("\(length)", body)
        try await store.update(loading: [], at: Timestamp(milliseconds: 1)) { changes in
          changes.write(LocalEdit(local, LocalDocument(revision: 1, body: Array(body.utf8))))
        }
        #expect(try await store.body("\(length)") == body)
        let found = try await store.readInline { view in try view.local(local) }
        #expect(found?.body.elementsEqual(body.utf8) == true)
      }
    }
  }

  @Test func aRefusedStatementLeavesTheOthersRepeatable() async throws {
    let threads = ThreadPool.forStores(processors: 2, threads: 4)
    let pool = ConnectionPool(
      try DatabaseFixture().address, for: .reads, limit: 2, threads: threads,
      counters: DatabaseCounters())
    let reads = SharedReads(on: pool)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<100 {
        group.addTask {
          let divisor = number % 10 == 7 ? 0 : 1
          let call = Call(Self.quotient, .integer(number), .integer(divisor))
          var found: Rows?
          do { found = try await reads.rows(call) } catch let error as PostgresError {
            #expect(!error.isOfConnection)
            // Alone, only the statement that is to blame is refused again.
            found = try? await pool.once { connection in try connection.run([call])[0] }
          }
          #expect(found?.first?.integer(0) == (divisor == 0 ? nil : Int64(number)))
        }
      }
      try await group.waitForAll()
    }
    #expect(try await reads.rows(Call(Self.quotient, .integer(6), .integer(2))).count == 1)
    await pool.close()
    await threads.stop()
  }

  @Test func readsOfAClosedPoolAllGetAnError() async throws {
    let threads = ThreadPool.forStores(processors: 2, threads: 4)
    let pool = ConnectionPool(
      try DatabaseFixture().address, for: .reads, limit: 2, threads: threads,
      counters: DatabaseCounters())
    let reads = SharedReads(on: pool)
    await pool.close()
    let refused = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<200 {
        group.addTask {
          (try? await reads.rows(Call(Self.quotient, .integer(number), .integer(1)))) == nil
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(refused == 200)
    await threads.stop()
  }

  private static let quotient = Statement("SELECT $1::int8 / $2::int8")

  /// Each pool has one connection for the account, and its other callers wait.
  @Test(.timeLimit(.minutes(1)))
  func oneAccountWaitsForReadsAndWritesAtOnce() async throws {
    let threads = ThreadPool.forStores(processors: 2, threads: 4)
    let address = try DatabaseFixture().address
    let pools = [ConnectionPool.Use.reads, .writes].map { use in
      ConnectionPool(address, for: use, limit: 2, threads: threads, counters: DatabaseCounters())
    }
    let (account, mayEnd) = (ProcessorAccount(), NIOLockedValueBox(false))
    let calls = pools.flatMap { pool in
      (0..<4).map { _ in
        Task {
          try await pool.once(for: .account(account)) { _ in
            while !mayEnd.withLockedValue({ $0 }) { usleep(1_000) }
          }
        }
      }
    }
    while pools.contains(where: { $0.waitingCount < 3 }) {
      try await Task.sleep(for: .milliseconds(1))
    }
    mayEnd.withLockedValue { $0 = true }
    for call in calls { try await call.value }
    for pool in pools { await pool.close() }
    await threads.stop()
  }

  @Test func poolCountsItsConnectionsAndClosesThem() async throws {
    let threads = ThreadPool.forStores(processors: 2, threads: 4)
    let pool = ConnectionPool(
      try DatabaseFixture().address, for: .reads, limit: 2, threads: threads,
      counters: DatabaseCounters())
    try await pool.once { _ in }
    #expect(pool.counters.statistics.connections == 1)
    #expect(pool.counters.statistics.idle == 1)
    await pool.close()
    #expect(pool.counters.statistics.connections == 0)
    await #expect(throws: (any Error).self) { try await pool.once { _ in } }
    await threads.stop()
  }
}
