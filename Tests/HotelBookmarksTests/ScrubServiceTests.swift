import Documents
import Foundation
import Logging
import SQLiteEngine
import StoreTesting
import Stores
import Synchronization
import TestSupport
import Testing

@testable import HotelBookmarks

@Suite struct ScrubServiceTests {
  private static let body = Array(#"{"type":"hotel","name":"The Rotten Inn"}"#.utf8)

  /// A data directory with one document, of which one byte is damaged.
  private static func rotten(_ name: StoreName) async throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path)
    let stores = ServiceAssembly.stores(over: StorageAssembly(engine), Settings())
    try await stores.withStore(name) { store in
      _ = try await store.put(DocumentID("inn"), base: nil, body: DocumentBody(parsing: body))
    }
    await stores.close()
    await engine.close()
    let files = try FileManager.default.subpathsOfDirectory(atPath: directory.path)
    for file in files where file.hasSuffix(".sqlite") {
      let path = directory.path + "/" + file
      var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      guard let range = bytes.range(of: Data(body)) else { continue }
      bytes[range.lowerBound + 20] ^= 0x21
      try bytes.write(to: URL(fileURLWithPath: path))
      return directory
    }
    throw CancellationError()
  }

  @Test func damageIsFoundAndRepairedBeforeAnybodyAsks() async throws {
    let account = try #require(AccountID(String(repeating: "0", count: 32)))
    let directory = try await Self.rotten(.user(account))
    let engine = try await FileEngine.open(directory: directory.path)
    let stores = ServiceAssembly.stores(over: StorageAssembly(engine), Settings())
    let service = ScrubService(
      backups: StoreBackups(engine: engine, stores: stores), logger: Logger(label: "test"),
      rest: .milliseconds(1))
    let running = Task { try await service.run() }
    while engine.statistics.repaired == 0 { try await Task.sleep(for: .milliseconds(10)) }
    running.cancel()
    try await running.value
    #expect(engine.statistics.repaired == 1)
    #expect(engine.knownDamage == 0)
    let found = try await stores.withExisting(.user(account)) { store in
      try await store.document(DocumentID("inn"))
    }
    #expect(found?.body == Self.body)
    await stores.close()
    await engine.close()
  }

  /// Regression: the metric, on which the alarm for damage is set, was 0 while a store could not be opened at all.
  @Test func aFileThatCannotBeReadCountsAsDamageUntilItIsReplaced() async throws {
    let account = try #require(AccountID(String(repeating: "0", count: 32)))
    let directory = try await Self.rotten(.user(account))
    let engine = try await FileEngine.open(directory: directory.path)
    let file = directory.path + "/" + engine.relativePath(of: .user(account))
    try Data(repeating: 0x5A, count: 8_192).write(to: URL(fileURLWithPath: file))
    let stores = ServiceAssembly.stores(over: StorageAssembly(engine), Settings())
    let backups = StoreBackups(engine: engine, stores: stores)
    let reporter = ScrubReporter { _ in
    } progress: { _, _ in
    }
    #expect(try await backups.repair(reporter).damagedStores == 1)
    #expect(engine.statistics.left == 1)
    _ = try await backups.replace(StoreName.user(account).key, from: nil, reporter)
    #expect(engine.statistics.left == 0)
    await stores.close()
    await engine.close()
  }

  /// A store that is left out of a regular backup comes with the next one only, a day later.
  @Test(arguments: [
    (errors: 1, code: ServiceError.Code.storage, isRead: true), (2, .storage, false),
    (1, .damaged, true), (2, .damaged, false),
  ])
  func anErrorOfTheDiskThatPassesIsNone(
    errors: Int, code: ServiceError.Code, isRead: Bool
  ) async throws {
    let account = try #require(AccountID(String(repeating: "0", count: 32)))
    let directory = try await Self.rotten(.user(account))
    let engine = try await FileEngine.open(directory: directory.path)
    let stores = ServiceAssembly.stores(over: StorageAssembly(engine), Settings())
    let backups = StoreBackups(engine: engine, stores: stores)
    let attempts = Mutex(0)
    let result = await Task {
      try await backups.using(.user(account)) { _ in
        let count = attempts.withLock { attempts in
          attempts += 1
          return attempts
        }
        if count <= errors { throw ServiceError(code, "The disk has an error") }
        return count
      }
    }.result
    #expect((try? result.get()) == (isRead ? errors + 1 : nil))
    #expect(attempts.withLock { $0 } == 2)
    await stores.close()
    await engine.close()
  }

  @Test func longestSliceIsThatOfAMinute() {
    let slices = RecentMaximum()
    #expect(slices.adding(7) == 7)
    for _ in 0..<59 { #expect(slices.adding(1) == 7) }
    #expect(slices.adding(2) == 2)
  }
}
