import Documents
import Foundation
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

/// Compaction gives free disk space back.
@Suite struct CompactionTests {
  /// Writes `count` documents of about 4 KB, and purges all but the first `kept`.
  private func fill(_ storage: any StoreStorage, count: Int, keeping kept: Int) async throws {
    let filler = String(repeating: "x", count: 4_000)
    for number in 0..<count {
      try await storage.put("d\(number)", #"{"n":\#(number),"filler":"\#(filler)"}"#)
    }
    let ids = try (kept..<count).map { try DocumentID("d\($0)") }
    try await storage.update(loading: Set(ids), at: Timestamp(milliseconds: 2)) {
      changes in
      for id in ids { changes.purge(Purge(id: id, tree: RevisionTree())) }
    }
  }

  private func size(_ path: String) throws -> Int { try contents(path).count }

  private func leftovers(_ directory: TemporaryDirectory) -> [String] {
    directory.files().filter { $0.contains(".new") }
  }

  @Test func fileShrinksAndHoldsWhatItHeld() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try await engine.store(user(1))
    try await fill(storage, count: 200, keeping: 10)
    let file = try path(of: user(1), in: directory)
    let before = try await storage.info()
    try await storage.compact()
    #expect(try size(file) < 40 * 4_096)
    #expect(leftovers(directory) == [])
    #expect(try await storage.info() == before)
    #expect(try await storage.body("d9")?.hasPrefix(#"{"n":9,"#) == true)
    #expect(try await storage.body("d10") == nil)
    // The store accepts writes as before, and has them when it is opened again.
    try await storage.put("later", "{}")
    #expect(try contents(file)[18...19] == [2, 2])
    await storage.close()
    let again = try await engine.store(user(1))
    #expect(try await again.body("later") == "{}")
    #expect(try await again.info().lastSequence == before.lastSequence + 1)
    await again.close()
    await engine.close()
  }

  @Test func littleFreeSpaceLeavesTheFileAlone() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try await engine.store(user(1))
    try await fill(storage, count: 60, keeping: 40)
    let file = try path(of: user(1), in: directory)
    try await storage.compact()
    let first = try FileManager.default.attributesOfItem(atPath: file)[.systemFileNumber] as? Int
    #expect(try size(file + "-wal") == 0)
    #expect(try size(file) > 60 * 4_096)
    try await storage.compact()
    let second = try FileManager.default.attributesOfItem(atPath: file)[.systemFileNumber] as? Int
    #expect(first == second)
    await storage.close()
    await engine.close()
  }

  @Test func readsAndWritesGoOnAroundIt() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try await engine.store(user(1))
    try await fill(storage, count: 200, keeping: 10)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        group.addTask { try await storage.put("w\(number)", "{}") }
        group.addTask { _ = try await storage.body("d1") }
        if number.isMultiple(of: 10) { group.addTask { try await storage.compact() } }
      }
      try await group.waitForAll()
    }
    #expect(try await storage.info().documentCount == 50)
    await storage.close()
    let again = try await engine.store(user(1))
    #expect(try await again.info().documentCount == 50)
    await again.close()
    await engine.close()
  }

  @Test func whatACrashLeftOfACopyIsRemovedAndNeverTakenForTheStore() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try await engine.store(user(1))
    try await storage.put("a", #"{"kept":1}"#)
    let file = try path(of: user(1), in: directory)
    await storage.close()
    let old = try contents(file)
    for rest in [".new", ".new-journal", ".new-wal"] { try write(old, to: file + rest) }
    let again = try await engine.store(user(1))
    #expect(leftovers(directory) == [])
    // A copy that appears while the store is open is not used either.
    try write(old, to: file + ".new")
    try await again.put("b", "{}")
    try await again.compact()
    #expect(try await again.body("b") == "{}")
    await again.close()
    #expect(try await engine.erase(user(1)))
    #expect(directory.files().filter { $0.hasPrefix("stores/") } == [])
    await engine.close()
  }

  @Test func copyThatCantBeWrittenLeavesTheStoreAsItWas() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try await engine.store(user(1))
    try await fill(storage, count: 200, keeping: 10)
    let file = try path(of: user(1), in: directory)
    try FileManager.default.createDirectory(
      atPath: file + ".new", withIntermediateDirectories: false)
    await #expect(throws: ServiceError.self) { try await storage.compact() }
    #expect(try await storage.body("d1") != nil)
    try await storage.put("later", "{}")
    try FileManager.default.removeItem(atPath: file + ".new")
    try await storage.compact()
    #expect(try await storage.body("later") == "{}")
    await storage.close()
    await engine.close()
  }
}
