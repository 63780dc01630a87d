import Documents
import StoreTesting
import Stores
import TestSupport
import Testing

/// What a store returns of a document's earlier revisions.
@Suite struct DocumentHistoryTests {
  private let id = DocumentID(stored: "a")
  private let clock = TestClock()
  private let engine = MemoryEngine()

  private func withStore(_ use: (DocumentStore) async throws -> Void) async throws {
    let clock = clock
    let manager = DatabaseManager(engine: engine, maximumOpen: 1, now: { clock.now })
    let name = StoreName.user(try #require(AccountID(String(repeating: "b", count: 32))))
    try await manager.withStore(name, use)
    await manager.close()
  }

  private func body(_ number: Int) throws -> DocumentBody {
    try DocumentBody(parsing: Array("{\"n\":\(number)}".utf8))
  }

  private func graft(_ history: String..., isDeleted: Bool = false, in store: DocumentStore)
    async throws
  {
    let path = try history.map { try RevisionID($0) }
    try await store.update(loading: [id]) { changes in
      let tree = try changes.tree(id)
      changes.write(
        try Edit.insert(
          id, in: tree, history: path, body: .empty, isDeleted: isDeleted, known: nil))
    }
  }

  @Test func everyRevisionSaysWhenItCameAndFromWhom() async throws {
    let account = try #require(AccountID(String(repeating: "a", count: 32)))
    let authors = [Author.guest(account), .user(account), .administrator, .server]
    try await withStore { store async throws in
      var wanted: [Arrival] = []
      var base: RevisionID?
      for (number, author) in authors.enumerated() {
        let body = try body(number)
        base = try await store.put(id, base: base, body: body, as: WriteContext(author: author))
        wanted.insert(Arrival(time: clock.now, author: author), at: 0)
        clock.advance(seconds: 60)
      }
      let page = try #require(try await store.history(of: id, limit: 50))
      #expect(page.revisions.map(\.kept?.arrival) == wanted)
      #expect(page.revisions.map(\.revision.generation) == [4, 3, 2, 1])
      #expect(page.revisions.map(\.parent) == page.revisions.dropFirst().map(\.revision) + [nil])
      #expect(page.revisions.map(\.isCurrent) == [true, false, false, false])
      #expect(page.next == nil)
    }
  }

  @Test func whatNoRequestAsksForIsTheServers() async throws {
    try await withStore { store async throws in
      try await store.put(id, base: nil, body: .empty)
      let page = try #require(try await store.history(of: id, limit: 1))
      #expect(page.revisions.first?.kept?.arrival?.author == .server)
    }
  }

  @Test func branchesStandTogetherAndLeavesBesideTheWinnerConflict() async throws {
    try await withStore { store async throws in
      try await graft("2-b", "1-a", in: store)
      try await graft("2-c", "1-a", in: store)
      try await graft("3-d", "2-d", "1-a", isDeleted: true, in: store)
      let page = try #require(try await store.history(of: id, limit: 50)).revisions
      #expect(page.map(\.revision.description) == ["3-d", "2-d", "2-c", "2-b", "1-a"])
      #expect(page.map(\.isCurrent) == [false, false, true, false, false])
      #expect(page.map(\.isConflicting) == [false, false, false, true, false])
      #expect(page.map(\.isDeleted) == [true, false, false, false, false])
      // The ancestors of a peer's revision are only ids, so they have no body.
      #expect(page.map { $0.kept != nil } == [true, false, true, true, false])
    }
  }

  @Test(arguments: [1, 2, 7, 30, HistoryPage.maximumRevisions])
  func pagesAreTheWholeHistoryOnce(limit: Int) async throws {
    try await withStore { store async throws in
      var revisions: [RevisionID] = []
      for number in 0..<30 {
        revisions.append(try await store.put(id, base: revisions.last, body: body(number)))
      }
      var found: [RevisionID] = []
      var next: RevisionID?
      repeat {
        let after = next
        let page = try #require(
          try await engine.inShortestSlices {
            try await store.history(of: id, limit: limit, after: after)
          })
        #expect(page.revisions.count <= limit)
        found += page.revisions.map(\.revision)
        next = page.next
        // A revision that is written between two pages is on none of the later pages.
        try await store.put(
          id, base: store.document(id)?.revision, body: body(100 + found.count))
      } while next != nil
      #expect(found == revisions.reversed())
    }
  }

  @Test func historyOfAnUnusedIDIsNone() async throws {
    try await withStore { store async throws in
      #expect(try await store.history(of: id, limit: 50) == nil)
      #expect(try await store.revision(RevisionID("1-a"), of: id) == nil)
    }
  }

  @Test func aRevisionIsReadAsLongAsItsBodyIsKept() async throws {
    try await withStore { store async throws in
      var revisions: [RevisionID] = []
      for number in 0..<StoreLimits.storedAncestors + 3 {
        revisions.append(try await store.put(id, base: revisions.last, body: body(number)))
      }
      for (number, revision) in revisions.enumerated() {
        do {
          let document = try #require(try await store.revision(revision, of: id))
          #expect(document.body == (try body(number)).bytes)
          #expect(document.revision == revision)
          #expect(number >= 2)
        } catch let error as ServiceError {
          #expect(error.code == .missing)
          #expect(number < 2)
        }
      }
      #expect(try await store.revision(RevisionID("3-x"), of: id) == nil)
    }
  }
}
