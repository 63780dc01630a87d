import SQLiteEngine
import Stores
import TestSupport
import Testing

@Suite struct CrashTests {
  @Test func everyAcknowledgedWriteIsInACopyTakenAtThatMoment() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path)
    let name = try user(1)
    let storage = try await engine.store(name)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<24 {
        group.addTask {
          try await storage.put("document-\(number)", #"{"n":\#(number)}"#)
          let copy = try directory.copy()
          let other = try await FileEngine.open(directory: copy.path, threads: 1)
          let copied = try #require(try await other.open(name, creating: false))
          #expect(try await copied.body("document-\(number)") == #"{"n":\#(number)}"#)
          await copied.close()
          await other.close()
        }
      }
      try await group.waitForAll()
    }
    await storage.close()
    await engine.close()
  }

  @Test func storeOpensAfterACrashAndGoesOn() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path)
    let name = try user(1)
    let storage = try await engine.store(name)
    for number in 0..<100 { try await storage.put("document-\(number)", #"{"n":1}"#) }
    let copy = try directory.copy()
    #expect(copy.files().contains { $0.hasSuffix("-wal") })
    await storage.close()
    await engine.close()

    for round in 1...3 {
      let other = try await FileEngine.open(directory: copy.path)
      let copied = try #require(try await other.open(name, creating: false))
      #expect(try await copied.info().lastSequence == Int64(99 + round))
      try await copied.put("round-\(round)", "{}")
      await copied.close()
      await other.close()
    }
  }

  @Test func closedStoreIsOneFile() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path)
    let storage = try await engine.store(.system)
    try await storage.put("a", "{}")
    await storage.close()
    await engine.close()
    #expect(directory.files().count == 5)
    #expect(!directory.files().contains { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") })
  }

  @Test func logOfAnotherStoreIsFoundOutAndNotTakenOver() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path)
    let mine = try await engine.store(user(1))
    try await mine.put("mine", #"{"secret":1}"#)
    await mine.close()
    let theirs = try await engine.store(user(2))
    for number in 0..<50 { try await theirs.put("theirs-\(number)", #"{"secret":2}"#) }
    let copy = try directory.copy()
    await theirs.close()
    await engine.close()

    let file = try path(of: user(1), in: copy)
    let log = try contents(try path(of: user(2), in: copy) + "-wal")
    try write(log, to: file + "-wal")
    let before = try contents(file)
    let other = try await FileEngine.open(directory: copy.path)
    #expect(try await other.refusal(of: user(1)) == .damaged)
    #expect(try contents(file) == before)
    await other.close()
  }
}
