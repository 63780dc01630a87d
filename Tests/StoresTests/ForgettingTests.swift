import Documents
import NIOConcurrencyHelpers
import StoreTesting
import TestSupport
import Testing

@testable import Stores

/// A store forgets what was deleted at least 90 days ago, and nothing else.
@Suite struct ForgettingTests {
  private static let day: Int64 = 86_400
  private let clock = TestClock()
  private let stores: DatabaseManager
  private let name: StoreName

  init() throws {
    name = .user(try #require(AccountID("0123456789abcdef0123456789abcdef")))
    stores = DatabaseManager(
      engine: MemoryEngine(), maximumOpen: 4, now: { [clock] in clock.now })
  }

  @Test func oldTombstonesGoAndYoungOnesStay() async throws {
    try await delete("a", "b")
    clock.advance(seconds: 60 * Self.day)
    try await put("live")
    try await delete("c")
    clock.advance(seconds: 40 * Self.day)
    #expect(try await forget() == 2)
    #expect(try await ids() == ["c", "live"])
    #expect(try await forget() == 0)
    clock.advance(seconds: 60 * Self.day)
    #expect(try await forget() == 1)
    #expect(try await ids() == ["live"])
  }

  @Test func documentThatLivesAgainIsLeftAlone() async throws {
    try await delete("a")
    clock.advance(seconds: 60 * Self.day)
    try await put("a")
    clock.advance(seconds: 60 * Self.day)
    #expect(try await forget() == 0)
    #expect(try await ids() == ["a"])
  }

  @Test func closedBranchGoesAndItsMarkStays() async throws {
    let loser = try await conflict("a")
    let tombstone = try await stores.withExisting(name) { store in
      try await store.delete(DocumentID(stored: "a"), base: loser)
    }
    clock.advance(seconds: 91 * Self.day)
    #expect(try await forget() == 1)
    let (leaves, marks) = try await stores.withExisting(name) { store in
      try await store.read { view in
        let id = DocumentID(stored: "a")
        return (try view.tree(id)?.leaves.count, try PurgeMarks(view).of(id))
      }
    }
    #expect(leaves == 1)
    #expect(marks.knows(tombstone) && marks.knows(loser))
    // The first call moved the document to the end of the feed. The next call has nothing to remove.
    clock.advance(seconds: 91 * Self.day)
    #expect(try await forget() == 0)
  }

  @Test func sparedDocumentKeepsItsBranchesAndNotItsTombstone() async throws {
    let loser = try await conflict("spared")
    try await stores.withExisting(name) { store in
      _ = try await store.delete(DocumentID(stored: "spared"), base: loser)
    }
    clock.advance(seconds: 91 * Self.day)
    #expect(try await forget() == 0)
  }

  @Test func manyGoInSmallUpdatesAndNoVisitBeginsAnew() async throws {
    for number in 0..<250 { try await put("live\(number)") }
    for number in 0..<50 { try await delete("gone\(number)") }
    clock.advance(seconds: 91 * Self.day)
    #expect(try await forget() == 50)
    let examined = try await log()?.examined
    #expect(examined == 350)
    #expect(try await forget() == 0)
    #expect(try await log()?.examined == examined)
  }

  @Test func updateThatComesBetweenKeepsItsDocument() async throws {
    try await delete("a")
    clock.advance(seconds: 91 * Self.day)
    let limit = clock.now.adding(seconds: -90 * Self.day)
    // The update asks again whether the tombstone is old enough. The second answer is no.
    let calls = NIOLockedValueBox(0)
    let removed = try await stores.withExisting(name) { store in
      try await store.forget(sparing: DocumentID(stored: "spared")) { moment in
        let call = calls.withLockedValue { calls in
          calls += 1
          return calls
        }
        return call == 1 && moment <= limit
      }
    }
    #expect(removed.removed[.tombstones] == 0)
    #expect(try await ids() == ["a"])
  }

  private func forget() async throws -> Int? {
    let limit = clock.now.adding(seconds: -90 * Self.day)
    return try await stores.withExisting(name) { store in
      try await store.forget(sparing: DocumentID(stored: "spared")) { $0 <= limit }
        .removed[.tombstones]
    }
  }

  private func put(_ id: String) async throws {
    _ = try await stores.withStore(name) { store in
      try await store.put(DocumentID(stored: id), base: nil, body: .empty)
    }
  }

  private func delete(_ ids: String...) async throws {
    for id in ids {
      try await stores.withStore(name) { store in
        let revision = try await store.put(DocumentID(stored: id), base: nil, body: .empty)
        try await store.delete(DocumentID(stored: id), base: revision)
      }
    }
  }

  /// Makes a document with two branches.
  /// - Returns: the leaf that is not the winner.
  private func conflict(_ text: String) async throws -> RevisionID {
    let id = DocumentID(stored: text)
    return try await stores.withStore(name) { store in
      let root = try await store.put(id, base: nil, body: .empty)
      let other = try RevisionID("2-" + String(repeating: "0", count: 32))
      _ = try await store.put(id, base: root, body: .empty)
      try await store.update { changes in
        changes.write(
          try Edit.insert(
            id, in: changes.view.tree(id), history: [other, root], body: .empty, isDeleted: false,
            known: nil))
      }
      return other
    }
  }

  private func ids() async throws -> [String] {
    try await stores.withExisting(name) { store in
      try await store.read { view in
        var ids: [String] = []
        try view.documents(DocumentRange(includesDeleted: true)) { document in
          ids.append(document.id.text)
          return true
        }
        return ids
      }
    }
  }

  private func log() async throws -> PurgeLog? {
    try await stores.withExisting(name) { store in try await store.read { try $0.purgeLog() } }
  }
}
