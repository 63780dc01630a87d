import Documents
import Foundation
import SQLite
import Scheduling
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

/// Interruptions of each step of creating or erasing a store, and what the next start finds.
@Suite struct LifeCycleTests {
  /// Changes the registry while no engine is open.
  private func register(
    _ entry: Registry.Entry?, for name: StoreName, in directory: TemporaryDirectory
  ) async throws {
    let threads = ThreadPool(name: "registry")
    let registry = Registry(
      file: DatabaseFile(directory: directory.path, name: "registry.sqlite"),
      blank: try BlankDatabase(.registry),
      reserve: DiskReserve(path: directory.path + "/reserve"), on: threads)
    try await registry.set(entry, for: name.key)
    await registry.close()
    await threads.stop()
  }

  private func withEngine<Value>(
    _ directory: TemporaryDirectory, _ use: (FileEngine) async throws -> Value
  ) async throws -> Value {
    let engine = try await FileEngine.open(directory: directory.path, threads: 2)
    let value = try await use(engine)
    await engine.close()
    return value
  }

  @Test(.bug(id: "F03")) func fileThatWasNeverRegisteredIsTakenOverWithItsData() async throws {
    let directory = try TemporaryDirectory()
    let name = try user(1)
    try await withEngine(directory) { engine in
      let storage = try await engine.store(name)
      try await storage.put("a", #"{"kept":1}"#)
      await storage.close()
    }
    try await register(nil, for: name, in: directory)
    try await withEngine(directory) { engine in
      #expect(try await engine.names(in: "user", after: nil, limit: 9).isEmpty)
      let storage = try await engine.store(name)
      #expect(try await storage.body("a") == #"{"kept":1}"#)
      await storage.close()
      #expect(try await engine.names(in: "user", after: nil, limit: 9) == [name])
      #expect(engine.statistics.creations == 0)
    }
  }

  @Test func unregisteredFileOfAnotherStoreIsDamaged() async throws {
    let directory = try TemporaryDirectory()
    try await withEngine(directory) { engine in
      for number in 1...2 { await (try await engine.store(user(number))).close() }
    }
    let file = try path(of: user(1), in: directory)
    try write(try contents(try path(of: user(2), in: directory)), to: file)
    try await register(nil, for: user(1), in: directory)
    try await withEngine(directory) { engine in
      let code = try await engine.refusal(of: user(1))
      #expect(code == .damaged)
    }
  }

  @Test(.bug(id: "F03")) func entryWithoutAFileIsDamagedAndNeverMadeAnew() async throws {
    let directory = try TemporaryDirectory()
    try await withEngine(directory) { _ in }
    try await register(.init(epoch: "0"), for: user(1), in: directory)
    try await withEngine(directory) { engine in
      let code = try await engine.refusal(of: user(1))
      #expect(code == .damaged)
      #expect(engine.statistics.creations == 0)
    }
  }

  @Test(.bug(id: "F03")) func whatACrashLeftHalfWrittenIsReplaced() async throws {
    let directory = try TemporaryDirectory()
    let name = try user(1)
    try await withEngine(directory) { await (try await $0.store(name)).close() }
    let file = try path(of: name, in: directory)
    // The file still has its temporary name. There is also a log that belongs to no file.
    try write(Array(try contents(file).prefix(5_000)), to: file + ".new")
    try write([UInt8](repeating: 7, count: 9_000), to: file + "-wal")
    try remove(file)
    try await register(nil, for: name, in: directory)
    try await withEngine(directory) { engine in
      #expect(try await engine.open(name, creating: false) == nil)
      let storage = try await engine.store(name)
      #expect(try await storage.info().lastSequence == 0)
      try await storage.put("a", "{}")
      await storage.close()
    }
    #expect(directory.files().count == 5)
  }

  @Test func eraseLeavesNoFile() async throws {
    let directory = try TemporaryDirectory()
    try await withEngine(directory) { engine in
      let storage = try await engine.store(user(1))
      try await storage.put("a", #"{"secret":1}"#)
      await storage.close()
      #expect(try await engine.erase(user(1)))
      #expect(try await engine.erase(user(1)) == false)
      #expect(try await engine.open(user(1), creating: false) == nil)
    }
    #expect(directory.files() == ["format", "lock", "registry.sqlite", "reserve"])
  }

  @Test(.bug(id: "F04")) func erasureThatWasCutShortIsFinished() async throws {
    let directory = try TemporaryDirectory()
    let name = try user(1)
    try await withEngine(directory) { engine in
      let storage = try await engine.store(name)
      try await storage.put("a", #"{"secret":1}"#)
      await storage.close()
    }
    try await register(.init(epoch: "0", isErasing: true), for: name, in: directory)
    try await withEngine(directory) { engine in
      #expect(try await engine.names(in: "user", after: nil, limit: 9).isEmpty)
      #expect(try await engine.open(name, creating: false) == nil)
      #expect(directory.files().filter { $0.hasPrefix("stores") }.isEmpty)
      let storage = try await engine.store(name)
      #expect(try await storage.body("a") == nil)
      await storage.close()
    }
  }

  @Test func everyStoreIsServedThroughFewSlots() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path)
    let manager = DatabaseManager(
      engine: engine, maximumOpen: 8, leaseWaitSeconds: 3_600,
      now: { Timestamp(milliseconds: 1) })
    let count = repetitions(300, nightly: 2_000)
    let id = try DocumentID("a")
    for round in 0..<2 {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for first in 0..<8 {
          group.addTask {
            for number in stride(from: first, to: count, by: 8) {
              let body = try DocumentBody(parsing: Array(#"{"n":\#(number)}"#.utf8))
              try await manager.withStore(user(number)) { store in
                guard round > 0 else {
                  try await store.put(id, base: nil, body: body)
                  return
                }
                let found = try await store.document(id)
                #expect(found?.body == body.bytes)
              }
            }
          }
        }
        try await group.waitForAll()
      }
    }
    #expect(engine.statistics.creations == count)
    await manager.close()
    await engine.close()
  }
}
