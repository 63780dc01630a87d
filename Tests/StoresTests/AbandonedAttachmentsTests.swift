import Documents
import StoreTesting
import Synchronization
import Testing

@testable import Scheduling
@testable import Stores

/// What one update does for attachments, however many there are. Counted in notes, because a clock tells nothing on a busy
/// machine.
@Suite struct AbandonedAttachmentsTests {
  private let engine = MemoryEngine()
  private let id = DocumentID(stored: "a")
  private static let now = Timestamp(seconds: 1_800_000_000)

  @Test func newAttachmentIsWrittenInThreeNotes() async throws {
    let store = try await store()
    try await add(100, at: 1, to: store)
    // The document's record, the names and the count of bytes are common to all.
    #expect(try await notes(of: store) == 3 * 100 + 3)
    let written = try await recorded(in: store) { changes in
      try attach(100, at: 2, to: &changes)
    }
    #expect(written == 3 * 100 + 3)
  }

  @Test func purgeOfManyNamesRemovesFewOfThemItself() async throws {
    let store = try await store()
    for number in 1...20 { try await add(number < 3 ? 3 : 30, at: number, to: store) }
    let all = try await notes(of: store)
    #expect(all > 3 * 500)
    let written = try await recorded(in: store) { changes in try purge(in: &changes) }
    // 100 names with their bytes, the marks of the others, and the mark of the purge.
    #expect(written < 3 * AttachmentLimits.removedNames + 30)
    #expect(try await store.storage.read { view in try view.attachmentBytes() } > 0)
    try await store.removeAbandonedAttachments()
    #expect(try await attached(in: store) == 0)
    #expect(try await notes(of: store) == 0)
  }

  @Test func manyNamesInTheRecordItselfAreLeftToLaterUpdatesToo() async throws {
    let store = try await store()
    for number in 1...60 { try await add(3, at: number, to: store) }
    let written = try await recorded(in: store) { changes in try purge(in: &changes) }
    #expect(written < 3 * AttachmentLimits.removedNames + 10)
    try await store.removeAbandonedAttachments()
    #expect(try await notes(of: store) == 0)
  }

  @Test func longAttachmentIsRemovedInParts() async throws {
    let store = try await store()
    let pieces = 2 * AttachmentLimits.removedBytes / AttachmentLimits.pieceBytes + 1
    try await add(1, at: 1, to: store, bytes: pieces * AttachmentLimits.pieceBytes - 9)
    let written = try await recorded(in: store) { changes in try purge(in: &changes) }
    #expect(written < 10)
    // The pieces count as long as they are there.
    #expect(try await attached(in: store) == Int64(pieces * AttachmentLimits.pieceBytes - 9))
    try await store.removeAbandonedAttachments()
    #expect(try await attached(in: store) == 0)
    #expect(try await notes(of: store) == 0)
  }

  @Test func updateOfAStoreIsFollowedByTheRemoval() async throws {
    let store = try await store()
    for number in 1...10 { try await add(30, at: number, to: store) }
    try await store.update(loading: [id]) { changes in
      changes.purge(Purge(id: id, tree: RevisionTree(), leavesMarks: false))
    }
    #expect(try await attached(in: store) == 0)
    #expect(try await notes(of: store) == 0)
  }

  @Test func requestHoldsNoSeatDuringTheRemoval() async throws {
    let store = try await store()
    for number in 1...10 { try await add(30, at: number, to: store) }
    let work = Scheduling.Work(ProcessorAccount(), in: Seats(stores: .forStores()))
    let seated = Mutex<[Bool]>([])
    let hooked = HookedStorage(store.storage) { _, _ in
      seated.withLock { $0.append(work.isSeated) }
    }
    await work.begin()
    try await Scheduling.Work.$current.withValue(work) {
      try await open(hooked).update(loading: [id]) { changes in try purge(in: &changes) }
    }
    work.finish()
    let calls = seated.withLock { $0 }
    #expect(calls.count > 2 && calls == [true] + Array(repeating: false, count: calls.count - 1))
    #expect(try await notes(of: store) == 0)
  }

  /// The names of a revision that was purged come again, in another revision, before they are removed.
  @Test func namesThatComeAgainKeepTheirBytes() async throws {
    let store = try await store()
    for number in 1...10 { try await add(30, at: number, to: store) }
    let all = try await attached(in: store)
    _ = try await recorded(in: store) { changes in try purge(in: &changes) }
    for number in 1...10 { try await add(30, at: number, to: store) }
    try await store.removeAbandonedAttachments()
    #expect(try await attached(in: store) == all)
    let keys = try await store.read { view in
      try view.attachmentKeys(of: id, revision(1)).values.map { try view.attachment($0)?.documents }
    }
    #expect(keys == Array(repeating: 1, count: 30))
    _ = try await recorded(in: store) { changes in try purge(in: &changes) }
    try await store.removeAbandonedAttachments()
    #expect(try await notes(of: store) == 0)
  }

  @Test(arguments: [false, true])
  func bytesOfALostRecordAreFreedByARepair(inShortestSlices: Bool) async throws {
    let store = try await store()
    for number in 1...4 { try await add(number == 1 ? 2 : 30, at: number, to: store) }
    let other = DocumentID(stored: "b")
    try await store.update(loading: [other]) { changes in
      try attach(2, at: 1, to: &changes, of: other)
    }
    let all = try await attached(in: store)
    try await store.update { changes in changes.write(LocalEdit(.attached(id), nil)) }
    if inShortestSlices {
      try await engine.inShortestSlices { _ = try await store.forgetIncompleteAttachments() }
    } else {
      #expect(try await store.forgetIncompleteAttachments() == 0)
    }
    // The other document has two of them.
    #expect(try await attached(in: store) == 2 * 9)
    #expect(all > 2 * 9)
    try await store.update(loading: [other]) { changes in
      changes.purge(Purge(id: other, tree: RevisionTree(), leavesMarks: false))
    }
    #expect(try await notes(of: store) == 0)
  }

  /// Names move from one note to another while the notes are counted. The notes that get them come before the one that was
  /// read last, so that they are found nowhere.
  @Test func countsAreRightWhenNamesMoveMeanwhile() async throws {
    let (store, other) = (try await store(), DocumentID(stored: "b"))
    for id in [id, other] {
      try await store.update(loading: [id]) { changes in
        try attach(200, at: 1, to: &changes, of: id)
      }
    }
    let hooked = HookedStorage(store.storage) { number, _ in
      if number == 2 {
        _ = try await recorded(in: store) { changes in try purge(other, in: &changes) }
      }
      // 200 attachments, the notes of both documents, and record and note of the first are read.
      guard number == 206 else { return }
      // Only the first update of the removal.
      let interrupted = HookedStorage(store.storage) { number, _ in
        if number > 2 { throw ServiceError(.unavailable, "The server has stopped") }
      }
      await #expect(throws: ServiceError.self) {
        try await open(interrupted).removeAbandonedAttachments()
      }
    }
    try await engine.inShortestSlices { try await open(hooked).recountAttachments() }
    try await store.removeAbandonedAttachments()
    let counts = try await store.read { view in
      try view.attachmentKeys(of: id, revision(1)).values.map { try view.attachment($0)?.documents }
    }
    #expect(counts == Array(repeating: 1, count: 200))
  }

  /// A note of names was lost, and the same attachments come again in another revision.
  @Test func namesOfALostNoteCountWhenTheyComeAgain() async throws {
    let store = try await store()
    try await add(30, at: 1, to: store)
    let notes = try await store.read { view in
      try view.localIDs(.below(LocalID.attachmentNamesPrefix)) { $0 }
    }
    #expect(notes.count == 1)
    try await store.update { changes in
      for note in notes { changes.write(LocalEdit(note, nil)) }
    }
    _ = try await store.forgetIncompleteAttachments()
    #expect(try await attached(in: store) == 0)
    try await store.update(loading: [id]) { changes in
      try attach(30, at: 1, to: &changes, as: revision(2))
    }
    let counts = try await store.read { view in
      try view.attachmentKeys(of: id, revision(2)).values.map { try view.attachment($0)?.documents }
    }
    #expect(counts == Array(repeating: 1, count: 30))
  }

  @Test(arguments: [(3, 9), (1, AttachmentLimits.pieceBytes)])
  func marksOfFewNamesOrBytesAreRemovedTogether(count: Int, bytes: Int) async throws {
    let store = try await store()
    let ids = (0..<60).map { DocumentID(stored: "\($0)") }
    for (number, id) in ids.enumerated() {
      try await store.update(loading: [id]) { changes in
        try attach(count, at: number, to: &changes, of: id, bytes: bytes)
      }
    }
    _ = try await recorded(in: store) { changes in
      for id in ids { try purge(id, in: &changes) }
    }
    #expect(try await attached(in: store) > 0)
    let counter = try #require(store.storage as? MemoryStorage).reads
    let before = counter.counts.commits
    try await store.removeAbandonedAttachments()
    #expect(counter.counts.commits == before + 1)
    #expect(try await notes(of: store) == 0)
  }

  private func store() async throws -> DocumentStore {
    open(try #require(try await engine.open(.system, creating: true)))
  }

  private func open(_ storage: any StoreStorage) -> DocumentStore {
    DocumentStore(name: .system, storage: storage, limits: .full, now: { Self.now })
  }

  private func revision(_ number: Int) -> RevisionID {
    RevisionID(generation: 1, digest: String(repeating: "0", count: 30) + "\(10 + number)")
  }

  /// Adds a branch with attachments of its own.
  private func add(
    _ count: Int, at number: Int, to store: DocumentStore, bytes: Int = 9
  ) async throws {
    try await store.update(loading: [id]) { changes in
      try attach(count, at: number, to: &changes, bytes: bytes)
    }
  }

  private func attach(
    _ count: Int, at number: Int, to changes: inout StoreChanges, of id: DocumentID? = nil,
    as revision: RevisionID? = nil, bytes: Int = 9
  ) throws {
    let id = id ?? self.id
    var contents: [AttachmentName: AttachmentContent] = [:]
    var stubs: [AttachmentStub] = []
    for file in 0..<count {
      var upload = AttachmentUpload(limit: .max)
      let text = "\(1_000 + number)/\(1_000 + file)"
      try upload.append(Array(text.utf8) + Array(repeating: 0, count: bytes - 9))
      let new = upload.finish()
      let name = try AttachmentName("file\(file)")
      contents[name] = .new(new)
      stubs.append(
        AttachmentStub(
          name: name, contentType: "text/plain", generation: 1, digest: new.facts.digest,
          length: new.facts.length))
    }
    let revision = revision ?? self.revision(number)
    changes.write(
      try Edit.insert(
        id, in: try changes.tree(id), history: [revision], body: try DocumentBody.empty.with(stubs),
        isDeleted: false, known: nil))
    try changes.attach(contents, to: AttachedRevision(id: id, revision: revision))
  }

  private func purge(_ id: DocumentID? = nil, in changes: inout StoreChanges) throws {
    changes.purge(Purge(id: id ?? self.id, tree: RevisionTree(), leavesMarks: false))
  }

  /// How many notes one update writes. Nothing follows it, as if the server had stopped.
  private func recorded(
    in store: DocumentStore, _ rule: @escaping @Sendable (inout StoreChanges) throws -> Void
  ) async throws -> Int {
    try await store.storage.update(loading: [id], at: Self.now) { changes in
      try rule(&changes)
      try AttachmentLedger.settle(&changes)
      return changes.locals.count
    }
  }

  private func attached(in store: DocumentStore) async throws -> Int64 {
    try await store.read { view in try view.attachmentBytes() }
  }

  /// How many notes about attachments there are.
  private func notes(of store: DocumentStore) async throws -> Int {
    try await store.read { view in
      let kinds = ["attach", "piece", "upload"]
      return try view.localIDs(.below(LocalID.receiptPrefix)) { id in
        kinds.contains { id.text.contains($0) } ? id : nil
      }.count
    }
  }
}
