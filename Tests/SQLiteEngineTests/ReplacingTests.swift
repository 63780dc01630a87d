import Documents
import Scheduling
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

/// One store replaces another, with an interruption after each step. Then the replaced store is unchanged, absent or
/// complete.
@Suite struct ReplacingTests {
  @Test func afterACrashAtAnyStepTheStoreIsAbsentOrWhole() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path)
    let name = try user(1)
    let staged = StoreName.staged(name)
    await (try await engine.store(name)).close()
    let storage = try await engine.store(staged)
    for number in 0..<50 { try await storage.put("document-\(number)", #"{"n":1}"#) }
    await storage.close()

    var copies = [(try directory.copy(), "nothing is done")]
    let entry = try #require(try await engine.registry.entry(staged.key))
    let dataDirectory = engine.directory
    let source = SQLiteStorage(
      key: staged.key, file: dataDirectory.file(for: staged.key), blank: engine.blank,
      counters: StorageCounters(), reserve: engine.reserve, access: engine.access,
      threads: engine.pool)
    try await source.file.run { file in try file.rename(to: name.key, epoch: entry.epoch) }
    copies.append((try directory.copy(), "the file says whose it will be"))
    _ = try await engine.erase(name)
    copies.append((try directory.copy(), "the empty one is gone"))
    let target = dataDirectory.file(for: name.key)
    try await source.file.run { file in try file.move(to: target, in: dataDirectory) }
    copies.append((try directory.copy(), "the file has moved"))
    try await engine.registry.set(.init(epoch: entry.epoch), for: name.key)
    copies.append((try directory.copy(), "it is registered"))
    try await engine.registry.set(nil, for: staged.key)
    copies.append((try directory.copy(), "all is done"))
    await engine.close()

    for (step, (copy, what)) in copies.enumerated() {
      let counts = try DirectoryScrub().run(
        copy.path, ScrubReporter(finding: { _ in }, progress: { _, _ in }))
      #expect(counts.findings == 0, "\(what)")
      let other = try await FileEngine.open(directory: copy.path)
      let manager = DatabaseManager(
        engine: other, maximumOpen: 4, now: { Timestamp(milliseconds: 1) })
      #expect(try await manager.removeStaged().isEmpty, "\(what)")
      let count = try await manager.withStore(name, creating: false) { store in
        try await store?.read { view in try view.info() }.documentCount ?? 0
      }
      #expect(count == (step < 3 ? 0 : 50), "\(what)")
      let names = try await other.names(in: "user", after: nil, limit: 9)
      #expect(names == (step == 2 ? [] : [name]), "\(what)")
      #expect(try await other.names(in: "staged", after: nil, limit: 9).isEmpty, "\(what)")
      await manager.close()
      await other.close()
      let files = copy.files().filter { $0.hasPrefix("stores/") }
      #expect(files.count == names.count, "\(what)")
    }
  }

  @Test func anErasureThatWasCutShortIsFoundAtTheStart() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path)
    let staged = StoreName.staged(try user(1))
    await (try await engine.store(staged)).close()
    let entry = try #require(try await engine.registry.entry(staged.key))
    try await engine.registry.set(.init(epoch: entry.epoch, isErasing: true), for: staged.key)
    #expect(try await engine.names(in: "staged", after: nil, limit: 9) == [staged])
    _ = try await engine.erase(staged)
    #expect(directory.files().filter { $0.hasPrefix("stores/") }.isEmpty)
    await engine.close()
  }
}
