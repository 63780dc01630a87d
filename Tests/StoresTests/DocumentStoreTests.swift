import Documents
import StoreTesting
import Testing

@testable import Stores

@Suite struct DocumentStoreTests {
  private let engine = MemoryEngine()
  private let id = DocumentID(stored: "a")

  @Test func putAndDeleteGoFromRevisionToRevision() async throws {
    try await withStore { store async throws in
      let first = try await store.put(id, base: nil, body: .empty)
      let second = try await store.put(id, base: first, body: .empty)
      #expect(try await store.document(id)?.revision == second)
      let third = try await store.delete(id, base: second)
      #expect(third.generation == 3)
      #expect(try await store.document(id)?.isDeleted == true)
      #expect(await rule { try await store.delete(id, base: third) } == .deleted)
      #expect(await rule { try await store.put(id, base: first, body: .empty) } == .conflict)
      let other = DocumentID(stored: "b")
      #expect(await rule { try await store.delete(other, base: nil) } == .missing)
      #expect(try await store.put(id, base: nil, body: .empty).generation == 4)
    }
  }

  @Test func onlyOneOfTwoWritersGoesOnFromARevision() async throws {
    try await withStore { store async throws in
      let base = try await store.put(id, base: nil, body: .empty)
      let won = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<20 {
          group.addTask { [id] in
            do {
              let body = try DocumentBody(parsing: Array("{\"n\":\(number)}".utf8))
              try await store.put(id, base: base, body: body)
              return true
            } catch { return false }
          }
        }
        return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      #expect(won == 1)
      #expect(try await store.document(id)?.revision.generation == 2)
    }
  }

  @Test func aRefusalAndAnEmptyUpdateWakeNobody() async throws {
    let manager = manager(of: engine, maximumOpen: 1)
    let reader = await manager.subscribe(to: .system)
    try await manager.withStore(.system) { store async throws in
      let base = RevisionID(generation: 9, digest: "x")
      #expect(await rule { try await store.put(id, base: base, body: .empty) } == .conflict)
      try await store.update { _ in 1 }
    }
    let next = Task { await reader.next(by: nil) }
    try await Task.sleep(for: .milliseconds(20))
    reader.end(.stopping)
    #expect(await next.value == .end)
    await manager.close()
  }

  @Test func aCommitAndAPurgeWakeReaders() async throws {
    let manager = manager(of: engine, maximumOpen: 1)
    let reader = await manager.subscribe(to: .system)
    try await manager.withStore(.system) { store async throws in
      try await store.put(id, base: nil, body: .empty)
      #expect(await reader.news() != nil)
      #expect(try await purgeCount(store) == 0)
      for expected in Int64(1)...2 {
        try await store.update(loading: [id]) { [id] changes in
          changes.purge(Purge(id: id, tree: RevisionTree()))
        }
        #expect(await reader.news() != nil)
        #expect(try await purgeCount(store) == expected)
      }
      #expect(try await store.document(id) == nil)
    }
    await manager.close()
  }

  /// A document's attachments may be tens of thousands of notes, which the update that removes them looks up again.
  @Test(.bug(id: "35/27"), .timeLimit(.minutes(1)))
  func lookingUpWhatAnUpdateHasWrittenTakesNoLongerTheMoreThatIs() async throws {
    try await withStore { store async throws in
      try await store.update { changes in
        let first = LocalID(receipt: "0")
        var found = 0
        for number in 0..<60_000 {
          let note = LocalDocument(revision: Int64(number + 1), body: [])
          changes.write(LocalEdit(LocalID(receipt: "\(number)"), note))
          if try changes.local(first)?.revision == 1 { found += 1 }
        }
        #expect(found == 60_000)
        changes.write(LocalEdit(first, nil))
        #expect(try changes.local(first) == nil)
      }
    }
  }

  private func purgeCount(_ store: DocumentStore) async throws -> Int64 {
    try await store.read { view in try view.purgeCount() }
  }

  private func withStore(_ use: (DocumentStore) async throws -> Void) async throws {
    let manager = manager(of: engine, maximumOpen: 1)
    try await manager.withStore(.system) { store in try await use(store) }
    await manager.close()
  }

  private func rule(_ use: () async throws -> some Any) async -> DocumentError.Code? {
    do { _ = try await use() } catch { return (error as? DocumentError)?.code }
    return nil
  }
}
