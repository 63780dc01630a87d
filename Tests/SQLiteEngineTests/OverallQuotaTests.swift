import Documents
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

/// The quota also limits what has no body: histories, and tombstones of documents that the store never had.
@Suite struct OverallQuotaTests {
  private static let limits = StoreLimits(
    documents: 1_000, bytes: 20_000, history: HistoryLimits(revisions: 1_000))

  @Test(.bug(id: "S17")) func tombstonesWithLongHistoriesComeToAnEnd() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try await engine.store(user(1))
    let store = DocumentStore(
      name: try user(1), storage: storage, limits: Self.limits,
      now: { Timestamp(milliseconds: 1) })
    let first = try await store.put(DocumentID("kept"), base: nil, body: .empty)
    var taken = 0
    while taken < 100, await tombstone("t\(taken)", of: 1_000, in: store) == nil { taken += 1 }
    // The overall limit is 16 times the limit on bytes. Each tombstone's history has about 20 KB.
    #expect((10...40).contains(taken))
    #expect(await tombstone("short", of: 1, in: store) == .quotaExceeded)
    #expect(await tombstone("t0", of: 1_000, in: store, word: "b") == .quotaExceeded)
    #expect(
      await code { try await store.put(DocumentID("new"), base: nil, body: .empty) }
        == .quotaExceeded)
    // An existing document can still be edited and deleted.
    let second = try await store.put(DocumentID("kept"), base: first, body: .empty)
    try await store.delete(DocumentID("kept"), base: second)
    #expect(try await storage.info().documentCount == 0)
    await storage.close()
  }

  private func tombstone(
    _ id: String, of revisions: Int, in store: DocumentStore, word: String = "a"
  ) async -> ServiceError.Code? {
    await code {
      let id = try DocumentID(id)
      let history = try (0..<revisions).map { step in
        try RevisionID("\(revisions - step)-\(word)\(step)0123456789")
      }
      try await store.update(loading: [id]) { changes in
        let tree = try changes.tree(id)
        let mutation = try Edit.insert(
          id, in: tree, history: history, body: .empty, isDeleted: true, known: nil)
        changes.write(mutation)
      }
    }
  }

  private func code(_ work: () async throws -> Void) async -> ServiceError.Code? {
    do { try await work() } catch { return (error as? ServiceError)?.code }
    return nil
  }
}
