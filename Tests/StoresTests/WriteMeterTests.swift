import Documents
import NIOConcurrencyHelpers
import StoreTesting
import Stores
import TestSupport
import Testing

/// What counts of a new guest's writes, and what is refused when nothing more may be written.
@Suite struct WriteMeterTests {
  private static let checkpoint = #"{"session_id":"s","history":[]}"#
  private let engine = MemoryEngine()
  private let counted = NIOLockedValueBox<Int64>(0)
  private let isFull = NIOLockedValueBox(false)

  /// A document of some bytes may bring a history of a thousand revisions.
  @Test(.bug(id: "35/30")) func historiesCount() async throws {
    try await withStore { store, context in
      try await graft(store, "plain", generations: 1, as: context)
      let plain = try await count { try await graft(store, "short", generations: 1, as: context) }
      let long = try await count { try await graft(store, "long", generations: 500, as: context) }
      #expect(long >= plain + 499 * 17)
      let edit = try await count { try await graft(store, "long", generations: 501, as: context) }
      #expect(edit <= plain)
    }
  }

  @Test(.bug(id: "35/30")) func atTheLimitNothingThatGrowsIsWritten() async throws {
    try await withStore { store, context in
      try await graft(store, "kept", generations: 1, as: context)
      try await setLocal(store, "_local/note", "{}", as: context)
      isFull.withLockedValue { $0 = true }
      for name in ["new", "gone"] {
        #expect(
          await code {
            try await graft(store, name, generations: 1, isDeleted: name == "gone", as: context)
          } == .overloaded)
      }
      #expect(
        await code { try await graft(store, "kept", generations: 9, isDeleted: true, as: context) }
          == .overloaded)
      #expect(
        await code { try await setLocal(store, "_local/a", "{}", as: context) } == .overloaded)
      #expect(
        await code { try await setLocal(store, "_local/note", #"{"x":1}"#, as: context) }
          == .overloaded)
      #expect(
        await code { try await setLocal(store, "answer", "{}", as: context) } == .overloaded)
      let long = #"{"session_id":"\#(String(repeating: "s", count: 70_000))","history":[]}"#
      #expect(
        await code { try await setLocal(store, "_local/c", long, as: context) } == .overloaded)
      try await setLocal(store, "_local/c", Self.checkpoint, as: context)
      try await setLocal(store, "_local/note", nil, as: context)
      try await graft(store, "kept", generations: 2, isDeleted: true, as: context)
    }
  }

  /// What a device has merged ends as many branches at once.
  @Test func atTheLimitAnyNumberOfBranchesEnd() async throws {
    try await withStore { store, context in
      let id = DocumentID(stored: "kept")
      let branches = (1...9).map { RevisionID(generation: 2, digest: "\($0)") }
      let first = RevisionID(generation: 1, digest: "a")
      for branch in branches {
        try await store.update(loading: [id], as: context) { changes in
          changes.write(
            try Edit.insert(
              id, in: changes.tree(id), history: [branch, first], body: .empty, isDeleted: false,
              known: nil))
        }
      }
      isFull.withLockedValue { $0 = true }
      try await store.update(loading: [id], as: context) { changes in
        var edits = DocumentEdits(id, in: try changes.tree(id), limit: .standard)
        for branch in branches {
          _ = try edits.put(base: branch, body: .empty, isDeleted: branch != branches.last)
        }
        changes.write(edits.finish())
      }
      let tree = try await store.read { view in try view.tree(id) }
      #expect(tree?.liveLeaves.map(\.revision.generation) == [3])
      #expect(tree?.leaves.count == 9)
    }
  }

  /// An empty store takes more than what is written to it.
  @Test(.bug(id: "35/30")) func atTheLimitNoStoreIsMade() async throws {
    try await withStore { store, context in
      isFull.withLockedValue { $0 = true }
      #expect(
        await code { try await setLocal(store, "_local/c", Self.checkpoint, as: context) }
          == .overloaded)
      #expect(
        await code { try await graft(store, "gone", generations: 1, isDeleted: true, as: context) }
          == .overloaded)
    }
  }

  /// A guest who has bookmarked nothing yet may have a device that writes its checkpoint again and again.
  @Test func storeOfACheckpointIsNotNew() async throws {
    try await withStore { store, context in
      try await setLocal(store, "_local/c", Self.checkpoint, as: context)
      isFull.withLockedValue { $0 = true }
      let again = try await count {
        try await setLocal(store, "_local/c", Self.checkpoint, as: context)
      }
      #expect(again > 0 && again < 16 << 10)
    }
  }

  private func withStore(
    _ use: (DocumentStore, WriteContext) async throws -> Void
  ) async throws {
    var generator = SeededGenerator(seed: 1)
    let guest = AccountID.random(using: &generator)
    let meter = WriteMeter(
      admit: { [isFull] in
        if isFull.withLockedValue({ $0 }) { throw ServiceError(.overloaded, "full") }
      }, count: { [counted] bytes in counted.withLockedValue { $0 += bytes } })
    let manager = manager(of: engine, maximumOpen: 1)
    try await manager.withStore(.guest(guest)) { store in
      try await use(store, WriteContext(author: .guest(guest), meter: meter))
    }
    await manager.close()
  }

  /// What a write counts.
  private func count(_ write: () async throws -> Void) async throws -> Int64 {
    let before = counted.withLockedValue { $0 }
    try await write()
    return counted.withLockedValue { $0 } - before
  }

  /// Writes a revision of a peer whose history begins with the first generation.
  private func graft(
    _ store: DocumentStore, _ id: String, generations: Int, isDeleted: Bool = false,
    as context: WriteContext
  ) async throws {
    let id = DocumentID(stored: id)
    let history = (1...generations).reversed().map {
      RevisionID(generation: $0, digest: String(repeating: "a", count: 28) + "\(1_000 + $0)")
    }
    try await store.update(loading: [id], as: context) { changes in
      let tree = try changes.tree(id)
      changes.write(
        try Edit.insert(
          id, in: tree, history: history, body: .empty, isDeleted: isDeleted, known: nil))
    }
  }

  private func setLocal(
    _ store: DocumentStore, _ id: String, _ text: String?, as context: WriteContext
  ) async throws {
    let document = text.map { LocalDocument(revision: 1, body: Array($0.utf8)) }
    try await store.update(as: context) { changes in
      changes.write(LocalEdit(LocalID(stored: id), document))
    }
  }

  private func code(_ use: () async throws -> some Any) async -> ServiceError.Code? {
    do { _ = try await use() } catch { return (error as? ServiceError)?.code }
    return nil
  }
}
