import Documents
import StoreTesting
import Stores
import TestSupport
import Testing

@Suite struct QuotaTests {
  private let engine = MemoryEngine()

  @Test(.bug(id: "S17")) func theLastDocumentFitsAndTheNextDoesNot() async throws {
    try await withStore(documents: 3) { store async throws in
      for number in 0..<3 { try await put(store, "\(number)") }
      #expect(await code { try await put(store, "3") } == .quotaExceeded)
      #expect(try await info(store).documentCount == 3)
      #expect(try await info(store).lastSequence == 3)
    }
  }

  @Test(.bug(id: "S17")) func theLastByteFitsAndTheNextDoesNot() async throws {
    try await withStore(bytes: 20) { store async throws in
      let first = try await put(store, "a", #"{"x":12345}"#)
      try await put(store, "b", #"{"x":123}"#)
      #expect(try await info(store).bodyBytes == 20)
      #expect(await code { try await put(store, "c", "{}") } == .quotaExceeded)
      #expect(
        await code { try await put(store, "a", #"{"x":123456}"#, base: first) } == .quotaExceeded)
      let shorter = try await put(store, "a", #"{"x":1}"#, base: first)
      try await put(store, "a", #"{"x":54321}"#, base: shorter)
      #expect(try await info(store).bodyBytes == 20)
    }
  }

  @Test(.bug(id: "S17")) func aHundredParallelWritersNeverExceedTheLimit() async throws {
    try await withStore(documents: 10) { store async throws in
      let kept = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<100 {
          group.addTask {
            do {
              try await store.put(DocumentID(stored: "\(number)"), base: nil, body: .empty)
              return true
            } catch { return false }
          }
        }
        return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      #expect(kept == 10)
      #expect(try await info(store).documentCount == 10)
    }
  }

  @Test func deletionsAlwaysPassAndMakeRoom() async throws {
    try await withStore(documents: 2, bytes: 18) { store async throws in
      let first = try await put(store, "a", #"{"x":123}"#)
      try await put(store, "b", #"{"x":123}"#)
      #expect(await code { try await put(store, "c", "{}") } == .quotaExceeded)
      try await store.delete(DocumentID(stored: "a"), base: first)
      try await put(store, "c", #"{"x":1}"#)
      #expect(try await info(store).documentCount == 2)
      #expect(await code { try await put(store, "a") } == .quotaExceeded)
    }
  }

  @Test func aDeletionPassesEvenIfALongerBranchWins() async throws {
    try await withStore(documents: 1, bytes: 31) { store async throws in
      let id = DocumentID(stored: "a")
      let (winner, base) = (try RevisionID("1-b"), try RevisionID("1-a"))
      try await graft(store, id, [winner], "{}")
      try await graft(store, id, [base], #"{"x":"longer than it may be"}"#)
      #expect(try await info(store).storedBytes == 31)
      try await store.delete(id, base: winner)
      #expect(try await store.document(id)?.revision == base)
      #expect(try await info(store).storedBytes == 31)
      #expect(
        await code { try await put(store, "a", #"{"x":"longer than it may be!"}"#, base: base) }
          == .quotaExceeded)
      try await put(store, "a", #"{"x":"long as it is"}"#, base: base)
    }
  }

  @Test(.bug(id: "S17")) func losingLeavesCountAndAreNotTakenBeyondTheLimit() async throws {
    try await withStore(bytes: 20) { store async throws in
      let id = DocumentID(stored: "a")
      try await graft(store, id, [try RevisionID("1-b")], #"{"x":123}"#)
      try await graft(store, id, [try RevisionID("1-a")], #"{"x":123}"#)
      #expect(
        await code { try await graft(store, id, [RevisionID("1-0")], #"{"x":1}"#) }
          == .quotaExceeded)
      #expect(try await info(store).storedBytes == 18)
    }
  }

  @Test(.bug(id: "S17")) func historyMakesWayForDocuments() async throws {
    try await withStore(bytes: 100) { store async throws in
      var base: RevisionID?
      for number in 0..<40 {
        base = try await put(store, "a", #"{"x":\#(10 + number)}"#, base: base)
        #expect(try await info(store).storedBytes <= 8 + 12)
      }
      #expect(try await info(store).keptBytes > 0)
      // The two bodies fit only if the history of `a` is removed.
      let body = #"{"x":"0123456789012345678901234567890123456789"}"#
      try await put(store, "a", body, base: base)
      #expect(try await info(store).storedBytes == Int64(body.utf8.count))
      try await put(store, "b", body)
      #expect(await code { try await put(store, "c", #"{"x":12345}"#) } == .quotaExceeded)
    }
  }

  @Test(.bug(id: "S17")) func aHundredParallelWritersNeverExceedTheBytes() async throws {
    try await withStore(bytes: 95) { store async throws in
      let body = try DocumentBody(parsing: Array(#"{"x":123}"#.utf8))
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<100 {
          group.addTask {
            _ = try? await store.put(DocumentID(stored: "\(number)"), base: nil, body: body)
          }
        }
      }
      #expect(try await info(store).storedBytes == 90)
    }
  }

  @Test func documentsThatComeAndGoInOneUpdateAreSetOff() async throws {
    try await withStore(documents: 1) { store async throws in
      let (old, new) = (DocumentID(stored: "old"), DocumentID(stored: "new"))
      let base = try await put(store, "old")
      try await store.update(loading: [old, new]) { changes in
        try changes.put(new, base: nil, body: .empty)
        try changes.delete(old, base: base)
      }
      #expect(try await info(store).documentCount == 1)
    }
  }

  @Test func aPurgePassesInAFullStoreAndMakesRoomInItsOwnUpdate() async throws {
    try await withStore(documents: 2, bytes: 40) { store async throws in
      let ids = ["a", "b", "c"].map { DocumentID(stored: $0) }
      try await graft(store, ids[0], [try RevisionID("1-b")], "{}")
      try await graft(store, ids[0], [try RevisionID("1-a")], #"{"x":"longer than it may be"}"#)
      try await put(store, "b", #"{"x":1}"#)
      #expect(await code { try await put(store, "c") } == .quotaExceeded)
      // The purge may make a branch with a longer body the winner.
      try await purge(store, ids[0], [try RevisionID("1-b")], putting: nil)
      #expect(try await info(store).storedBytes == 36)
      #expect(await code { try await purge(store, ids[1], [], putting: ids[2]) } == .quotaExceeded)
      try await purge(store, ids[0], [try RevisionID("1-a")], putting: ids[2])
      #expect(try await info(store).documentCount == 2)
      #expect(try await info(store).bodyBytes == 9)
      #expect(try await store.document(ids[0]) == nil)
    }
  }

  /// Purges leaves of a document and writes another, empty document in one update.
  private func purge(
    _ store: DocumentStore, _ id: DocumentID, _ leaves: Set<RevisionID>, putting other: DocumentID?
  ) async throws {
    try await store.update(loading: Set([id, other].compactMap { $0 })) {
      changes in
      if let rest = try changes.tree(id)?.purging(leaves) {
        changes.purge(Purge(id: id, tree: rest))
      }
      if let other { try changes.put(other, base: nil, body: .empty) }
    }
  }

  @Test func localDocumentsOfClientsHaveTheSameLimitsAndTheServicesNotesNone() async throws {
    try await withStore(documents: 2, bytes: 10) { store async throws in
      try await setLocal(store, "_local/a", 5)
      try await setLocal(store, "_local/b", 5)
      #expect(await code { try await setLocal(store, "_local/c", 0) } == .quotaExceeded)
      #expect(await code { try await setLocal(store, "_local/a", 6) } == .quotaExceeded)
      try await setLocal(store, "_local/a", 4)
      try await setLocal(store, "receipt/note", 1_000)
      try await setLocal(store, "_local/b", nil)
      try await setLocal(store, "_local/c", 6)
      #expect(try await info(store).documentCount == 0)
    }
  }

  /// Writes a local document of `length` bytes; nil removes it.
  private func setLocal(_ store: DocumentStore, _ id: String, _ length: Int?) async throws {
    try await store.update { changes in
      let document = length.map {
        LocalDocument(revision: 1, body: [UInt8](repeating: 1, count: $0))
      }
      changes.write(LocalEdit(LocalID(stored: id), document))
    }
  }

  @Test func ruleThatKeepsNoHistoryLeavesNoFormerBody() async throws {
    try await withStore { store async throws in
      let former = try await put(store, "a", #"{"secret":1}"#)
      let id = try DocumentID("a")
      try await store.update(loading: [id]) { changes in
        changes.keepsHistory = false
        _ = try changes.put(id, base: former, body: .empty)
      }
      #expect(try await store.read { view in try view.body(id, former) } == nil)
    }
  }

  @Test func guestsAndTheSystemHaveTheirOwnLimits() throws {
    var generator = SeededGenerator(seed: 1)
    let account = AccountID.random(using: &generator)
    #expect(StoreLimits.standard(for: .guest(account)) == .guest)
    #expect(StoreLimits.standard(for: .user(account)) == .full)
    #expect(StoreLimits.standard(for: .list(account)) == .list)
    #expect(StoreLimits.standard(for: .named(try #require(DatabaseName("a")))) == .database)
    #expect(StoreLimits.standard(for: .system) == .unbounded)
  }

  private func withStore(
    documents: Int64 = 100, bytes: Int64 = 1 << 20,
    _ use: (DocumentStore) async throws -> Void
  ) async throws {
    let limits = StoreLimits(
      documents: documents, bytes: bytes, history: HistoryLimits(revisions: 100))
    let manager = manager(of: engine, maximumOpen: 1, limits: limits)
    try await manager.withStore(.system) { store in try await use(store) }
    await manager.close()
  }

  @discardableResult
  private func put(
    _ store: DocumentStore, _ id: String, _ text: String = "{}", base: RevisionID? = nil
  ) async throws -> RevisionID {
    try await store.put(
      DocumentID(id), base: base, body: DocumentBody(parsing: Array(text.utf8)))
  }

  private func graft(
    _ store: DocumentStore, _ id: DocumentID, _ history: [RevisionID], _ text: String
  ) async throws {
    let body = try DocumentBody(parsing: Array(text.utf8))
    try await store.update(loading: [id]) { changes in
      let tree = try changes.tree(id)
      let mutation = try Edit.insert(
        id, in: tree, history: history, body: body, isDeleted: false, known: nil)
      changes.write(mutation)
    }
  }

  private func info(_ store: DocumentStore) async throws -> StoreInfo {
    try await store.read { view in try view.info() }
  }

  private func code(_ use: () async throws -> some Any) async -> ServiceError.Code? {
    do { _ = try await use() } catch { return (error as? ServiceError)?.code }
    return nil
  }
}
