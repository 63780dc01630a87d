import Dispatch
import Documents
import SQLiteEngine
import Scheduling
import Stores
import TestSupport
import Testing

@Suite struct SharedCommitTests {
  /// Keeps a store busy until the semaphore is signalled, so that updates wait.
  private func hold(_ storage: any StoreStorage, _ released: DispatchSemaphore) -> Task<
    Void, any Error
  > {
    Task { try await storage.read { _ in released.wait() } }
  }

  @Test func waitingUpdatesShareCommitsAndOneTooManyIsRefused() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try await engine.store(.system)
    let released = DispatchSemaphore(value: 0)
    let holder = hold(storage, released)
    let extra = 40
    let count = StoreLimits.pendingUpdates + extra
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<count {
        group.addTask {
          do throws(any Error) {
            try await storage.put("document-\(number)", #"{"n":\#(number)}"#)
            return true
          } catch let error as ServiceError {
            #expect(error.code == .overloaded)
            return false
          }
        }
      }
      // A refusal does not need the store. After all refusals, the other updates are in the queue.
      for _ in 0..<extra { #expect(try await group.next() == false) }
      released.signal()
      for try await isCommitted in group { #expect(isCommitted) }
    }
    try await holder.value
    #expect(engine.statistics.updates == StoreLimits.pendingUpdates)
    // How many updates share a commit depends on time: a commit takes no further update after 10 ms.
    // `Scripts/bench` measures it.
    #expect(engine.statistics.commits < StoreLimits.pendingUpdates)
    let changes = try await storage.read { view in
      try view.changes(after: 0, limit: 1_000)
    }
    #expect(changes.map(\.sequence) == Array(1...Int64(StoreLimits.pendingUpdates)))
    await storage.close()
    await engine.close()
  }

  @Test(.bug(id: "35/29")) func addressWithMostWaitingUpdatesLosesItsLastOneToAnother() throws {
    let seats = Seats(stores: .forStores())
    func update(of address: ProcessorAccount?) -> RuleUpdate<Void> {
      let work = address.map { Work(ProcessorAccount(below: $0), in: seats) }
      return Work.$current.withValue(work) {
        RuleUpdate(loading: [], now: Timestamp(milliseconds: 1)) { _ in }
      }
    }
    let (busy, other) = (ProcessorAccount(), ProcessorAccount())
    let waiting = WaitingUpdates(limit: 4)
    let first = (0..<4).map { _ in update(of: busy) }
    for update in first { try waiting.add(update) }
    #expect(throws: ServiceError.self) { try waiting.add(update(of: busy)) }
    try waiting.add(update(of: other))
    try waiting.add(update(of: nil))
    #expect(first.map(\.isDone) == [false, false, true, true])
    #expect(throws: ServiceError.self) { try first[3].outcome() }
    #expect(throws: ServiceError.self) { try waiting.add(update(of: other)) }
    #expect(waiting.all.count == 4)
  }

  @Test func throwingRuleInABatchChangesNothing() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try await engine.store(.system)
    let base = try await storage.put("shared", "{}")
    // Every update names the same base, so exactly one of them succeeds, in whichever commit.
    let winners = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<50 {
        group.addTask {
          do throws(any Error) {
            try await storage.put("shared", #"{"n":\#(number)}"#, base: base)
            return true
          } catch let error as DocumentError {
            #expect(error.code == .conflict)
            return false
          }
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(winners == 1)
    #expect(try await storage.info().lastSequence == 2)
    await storage.close()
    await engine.close()
  }

  @Test func updateThatCannotBeWrittenLeavesTheOthersAlone() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try await engine.store(.system)
    try await storage.put("old", "{}")
    let released = DispatchSemaphore(value: 0)
    let holder = hold(storage, released)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask { try await storage.put("document-\(number)", "{}") }
      }
      group.addTask {
        let id = try DocumentID("old")
        // The tree's winner, `1-z`, is not in the mutation and was never stored.
        var tree = RevisionTree()
        try tree.insert(try RevisionID("1-a"), below: nil, isDeleted: false)
        try tree.insert(try RevisionID("1-z"), below: nil, isDeleted: false)
        let mutation = Mutation(id: id, tree: tree, revision: try RevisionID("1-a"), body: .empty)
        do throws(any Error) {
          try await storage.update(loading: [id], at: Timestamp(milliseconds: 1)) {
            changes in changes.write(mutation)
          }
          Issue.record("was written")
        } catch let error as ServiceError {
          #expect(error.code == .integrity)
        }
      }
      released.signal()
      try await group.waitForAll()
    }
    try await holder.value
    #expect(try await storage.info().documentCount == 21)
    #expect(try await storage.body("old") == "{}")
    await storage.close()
    await engine.close()
  }

  @Test func updateWithoutChangesWritesNothing() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path)
    let storage = try await engine.store(.system)
    let answer = try await storage.update(loading: [], at: Timestamp(milliseconds: 1)) {
      _ in 7
    }
    #expect(answer == 7)
    #expect(engine.statistics.commits == 0)
    await storage.close()
    await engine.close()
  }
}
