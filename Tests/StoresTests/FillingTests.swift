import Documents
import NIOConcurrencyHelpers
import StoreTesting
import TestSupport
import Testing

@testable import Stores

/// Filling a store from an export: the store has all of the content or none.
@Suite struct FillingTests {
  private let engine = MemoryEngine()
  private let id = DocumentID(stored: "a")

  @Test func nobodySeesAnythingBeforeTheEnd() async throws {
    let manager = manager(of: engine, maximumOpen: 4)
    let name = try name()
    let reader = await manager.subscribe(to: name)
    try await manager.fill(name) { store in
      try await store.put(id, base: nil, body: .empty)
      #expect(try await manager.withStore(name, creating: false) { $0 == nil })
      #expect(try await engine.names(in: "user", after: nil, limit: 9).isEmpty)
    }
    #expect(await reader.lastWake() == .end, "readers of the empty store end")
    try await manager.withExisting(name) { store async throws in
      #expect(try await store.document(id) != nil)
    }
    #expect(try await engine.names(in: "staged", after: nil, limit: 9).isEmpty)
    await manager.close()
    #expect(engine.tally.violations == 0 && engine.tally.open == 0)
  }

  @Test func whatFailsLeavesTheAccountEmpty() async throws {
    let manager = manager(of: engine, maximumOpen: 4)
    let name = try name()
    let code = await code {
      try await manager.fill(name) { store in
        try await store.put(id, base: nil, body: .empty)
        throw ServiceError(.invalidExport, "Line 1")
      }
    }
    #expect(code == .invalidExport)
    #expect(try await engine.names(in: "staged", after: nil, limit: 9).isEmpty)
    #expect(try await engine.names(in: "user", after: nil, limit: 9).isEmpty)
    _ = try await manager.fill(name) { try await $0.put(id, base: nil, body: .empty) }
    await manager.close()
  }

  @Test func aStoreWithADocumentOrATombstoneIsNotFilled() async throws {
    let manager = manager(of: engine, maximumOpen: 4)
    let name = try name()
    try await manager.withStore(name) { store in
      let revision = try await store.put(id, base: nil, body: .empty)
      try await store.delete(id, base: revision)
    }
    #expect(await code { try await manager.fill(name) { _ in } } == .notEmpty)
    await manager.close()
  }

  @Test func whoeverWritesMeanwhileKeepsWhatTheyWrote() async throws {
    let manager = manager(of: engine, maximumOpen: 4)
    let name = try name()
    let code = await code {
      try await manager.fill(name) { store in
        try await store.put(DocumentID(stored: "imported"), base: nil, body: .empty)
        try await manager.withStore(name) { store in
          _ = try await store.put(id, base: nil, body: .empty)
        }
      }
    }
    #expect(code == .notEmpty)
    try await manager.withExisting(name) { store async throws in
      #expect(try await store.document(id) != nil)
      #expect(try await store.document(DocumentID(stored: "imported")) == nil)
    }
    await manager.close()
  }

  @Test func anAccountIsFilledOnceAtATimeAndSoManyAtOnce() async throws {
    let manager = manager(of: engine, maximumOpen: 4)
    var generator = SeededGenerator(seed: 9)
    let most = 2 * DatabaseManager.filledAtOnce
    let names = (0...most).map { _ in
      StoreName.user(.random(using: &generator))
    }
    try await nested(names[...].dropLast(), manager) {
      #expect(await code { try await manager.fill(names[0]) { _ in } } == .beingFilled)
      let last = names[most]
      #expect(await code { try await manager.fill(last) { _ in } } == .unavailable)
    }
    try await manager.fill(names[most]) { _ in }
    await manager.close()
  }

  @Test func leftoversAreRemovedAtTheStart() async throws {
    let name = try name()
    let storage = try #require(try await engine.open(.staged(name), creating: true))
    await storage.close()
    let manager = manager(of: engine, maximumOpen: 4)
    #expect(try await manager.removeStaged().isEmpty)
    #expect(try await engine.names(in: "staged", after: nil, limit: 9).isEmpty)
    await manager.close()
  }

  @Test func anAbsentStoreExportsNothingAndThatCanBeImported() async throws {
    var random = RandomStore(seed: 1)
    let (source, target) = (try random.name(), try random.name())
    let manager = random.manager(of: engine)
    let export = try await random.export(of: source, from: manager)
    #expect(RandomStore.told(export).isEmpty)
    #expect(try await random.read(export, into: target, of: manager) == ExportCounts())
    await manager.close()
  }

  private func nested(
    _ names: ArraySlice<StoreName>, _ manager: DatabaseManager,
    _ body: @escaping () async throws -> Void
  ) async throws {
    guard let first = names.first else { return try await body() }
    try await manager.fill(first) { _ in try await nested(names.dropFirst(), manager, body) }
  }

  private func name() throws -> StoreName {
    var generator = SeededGenerator(seed: 7)
    return .user(.random(using: &generator))
  }

  private func code(_ use: () async throws -> some Any) async -> ServiceError.Code? {
    do { _ = try await use() } catch { return ServiceError(error)?.code }
    return nil
  }
}
