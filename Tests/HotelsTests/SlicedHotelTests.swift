import Documents
import Scheduling
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import Hotels

/// Reads of bookmarks that continue from slice to slice.
@Suite struct SlicedHotelTests {
  /// A store with bookmarks, one of them removed, and other documents.
  private func filled() async throws -> HotelFixture {
    let fixture = try HotelFixture()
    for number in 10..<30 {
      try await fixture.add(#"{"id":"h\#(number)","n":\#(number)}"#)
    }
    _ = try await fixture.service.unbookmark(
      #require(HotelID("h17")), in: fixture.user, as: .server)
    try await fixture.graft("h20", ["9-x", "8-y"], #"{"type":"other"}"#)
    try await fixture.put("note", #"{"type":"note"}"#)
    return fixture
  }

  /// All pages, one after the other.
  private func pages(_ fixture: HotelFixture) async throws -> [String] {
    var (texts, cursor) = ([String](), BookmarkCursor?.none)
    repeat {
      let page = try await fixture.service.bookmarks(in: fixture.user, limit: 6, after: cursor)
      texts.append(String(decoding: page.bytes, as: UTF8.self) + page.tag)
      cursor = page.next
    } while cursor != nil
    let lost = try #require(BookmarkCursor("12-0123456789abcdef"))
    let last = try await fixture.service.bookmarks(in: fixture.user, limit: 3, after: lost)
    return texts + [String(decoding: last.bytes, as: UTF8.self)]
  }

  @Test func pagesPutTogetherInSlicesAreTheSame() async throws {
    let fixture = try await filled()
    let whole = try await pages(fixture)
    #expect(whole.count == 4)
    #expect(try await fixture.engine.inShortestSlices { try await pages(fixture) } == whole)
  }

  @Test func listsReadInSlicesAreMergedTheSame() async throws {
    func conflicted() async throws -> HotelFixture {
      let fixture = try await filled()
      let base = try #require(try await fixture.document("bookmarkedhotels")?.revision)
      for (leaf, ids) in [("f0", #""h10","p""#), ("f1", #""h12","q""#), ("f2", #""h13""#)] {
        try await fixture.graft(
          "bookmarkedhotels", ["\(base.generation + 1)-\(leaf)", base.description],
          #"{"type":"bookmarkedhotels","hotels":[\#(ids)]}"#)
      }
      try await fixture.put("user::guest", #"{"type":"bookmarkedhotels","hotels":["h29","h17"]}"#)
      return fixture
    }
    let (fixture, sliced) = try await (conflicted(), conflicted())
    let before = try await pages(fixture)
    let (read, isMerged) = try await sliced.engine.inShortestSlices {
      (try await pages(sliced), try await sliced.service.reconcile(in: sliced.user))
    }
    #expect(try await fixture.service.reconcile(in: fixture.user) && isMerged)
    #expect(before.map(\.count) == read.map(\.count))
    #expect(try await fixture.listText() == sliced.listText())
    #expect(try await sliced.ids() == fixture.ids())
  }

  /// The user's store opened by itself, with what its storage counts.
  private func reopened(
    _ fixture: HotelFixture
  ) async throws -> (storage: MemoryStorage, store: DocumentStore) {
    await fixture.stores.close()
    let storage = try #require(
      try await fixture.engine.open(fixture.user, creating: false) as? MemoryStorage)
    let store = DocumentStore(
      name: fixture.user, storage: storage, limits: .standard(for: fixture.user),
      now: { fixture.clock.now })
    return (storage, store)
  }

  @Test(.bug(id: "35/27")) func longListIsReadInSeveralSlices() async throws {
    let fixture = try HotelFixture()
    let ids = (0..<200).map { "\"h\($0)\"" }.joined(separator: ",")
    try await fixture.put("bookmarkedhotels", #"{"type":"bookmarkedhotels","hotels":[\#(ids)]}"#)
    let (storage, store) = try await reopened(fixture)
    let lists = try await fixture.engine.inShortestSlices {
      try await store.read(inSlices: ListReader()) { reader, view in try reader.read(view) }
    }
    #expect(lists.list.hotels.map(\.text) == (0..<200).map { "h\($0)" })
    #expect(storage.reads.counts.states >= 4)
    // Only the first slice and the last one read more than ids.
    #expect(storage.reads.counts.trees == 2)
  }

  @Test(.bug(id: "35/27"), arguments: [(10, 1), (3_000, 3)])
  func longListIsReadAndMadeBeforeTheUpdateThatChangesIt(count: Int, updates: Int) async throws {
    let fixture = try HotelFixture()
    let ids = (0..<count).map { "\"hotel\($0)\"" }.joined(separator: ",")
    try await fixture.put(
      "bookmarkedhotels", #"{"type":"bookmarkedhotels","hotels":[\#(ids)],"n":1}"#)
    let (storage, store) = try await reopened(fixture)
    let (first, new) = (try #require(HotelID("hotel0")), try #require(HotelID("new")))
    let before = storage.reads.counts.commits
    try await store.change([], at: fixture.clock.now, as: .server) { edit in
      edit.unlist(first)
      edit.list([new])
    }
    #expect(storage.reads.counts.commits - before == updates)
    let body = try await store.read { view in try view.document(BookmarkList.documentID)?.body }
    let then = (1..<count).map { "\"hotel\($0)\"" }.joined(separator: ",")
    #expect(
      body.map { String(decoding: $0, as: UTF8.self) }
        == #"{"type":"bookmarkedhotels","hotels":[\#(then),"new"],"n":1}"#)
  }

  /// A long list is compared with a former one before the update, and made once more if a hotel can't be restored.
  @Test(.bug(id: "35/27"), arguments: [(10, 0, 1), (3_000, 0, 3), (3_000, 1, 4)])
  func longListIsRestoredBeforeTheUpdate(count: Int, missing: Int, updates: Int) async throws {
    let fixture = try HotelFixture()
    let ids = (0..<count).map { "\"hotel\($0)\"" }
    func body(_ ids: some Sequence<String>) -> String {
      #"{"type":"bookmarkedhotels","hotels":[\#(ids.joined(separator: ","))],"n":1}"#
    }
    let then = try await fixture.put("bookmarkedhotels", body(ids))
    try await fixture.put(
      "bookmarkedhotels", body(ids.dropFirst(missing).reversed()), base: then)
    let (storage, store) = try await reopened(fixture)
    let former = try await fixture.engine.inShortestSlices { try await store.list(then) }
    #expect(former?.hotels.count == count)
    let before = storage.reads.counts.commits
    let outcome = try await store.change([], at: fixture.clock.now, as: .server) { edit in
      try edit.restore(
        RestoreRequest(revision: then), of: BookmarkList.documentID, isFixed: false, saying: former,
        .none)
    }
    #expect(outcome.missing.map(\.text) == (0..<missing).map { "hotel\($0)" })
    #expect(storage.reads.counts.commits - before == updates)
    let restored = try await store.read { view in try view.document(BookmarkList.documentID)?.body }
    #expect(
      restored.map { String(decoding: $0, as: UTF8.self) } == body(ids.dropFirst(missing)))
  }

  /// Memory for bytes in all.
  private final class FewBytes: MemoryAccount {
    let most: Int
    init(_ most: Int) { self.most = most }
    func reserveAnswer(_ count: Int) -> Bool { count <= most }
    func releaseAnswer() {}
  }

  @Test func longListIsReadOnlyIfThereIsMemoryForIt() async throws {
    let fixture = try HotelFixture()
    let ids = (0..<3_000).map { "\"hotel\($0)\"" }.joined(separator: ",")
    let body = #"{"type":"bookmarkedhotels","hotels":[\#(ids)]}"#
    try await fixture.put("bookmarkedhotels", body)
    let seats = Seats(stores: .forStores())
    for (most, code) in [(16 * body.utf8.count, nil), (16 * body.utf8.count - 1, .unavailable)]
      as [(Int, ServiceError.Code?)]
    {
      let work = Work(ProcessorAccount(isLimited: false), in: seats)
      work.setMemory(FewBytes(most))
      var found: ServiceError.Code?
      do {
        let all = try await fixture.engine.reading(in: Slice(of: work)) {
          try await fixture.ids()
        }
        #expect(all.isEmpty)
      } catch let error as ServiceError { found = error.code }
      #expect(found == code)
    }
  }

  /// Who writes other documents before each read and each update does not keep lists from being merged.
  @Test func listsAreMergedWhileOtherDocumentsChange() async throws {
    let fixture = try HotelFixture()
    for leaf in ["b", "c"] {
      try await fixture.graft(
        "bookmarkedhotels", ["2-\(leaf)", "1-a"],
        #"{"type":"bookmarkedhotels","hotels":["\#(leaf)"]}"#)
    }
    try await fixture.put("user::guest", #"{"type":"bookmarkedhotels","hotels":["d"]}"#)
    await fixture.stores.close()
    let storage = try #require(
      try await fixture.engine.open(fixture.user, creating: false) as? MemoryStorage)
    let hooked = HookedStorage(storage) { number, storage in
      try await storage.update(loading: [], at: fixture.clock.now) { changes in
        _ = try changes.put(DocumentID(stored: "note\(number)"), base: nil, body: .empty)
      }
    }
    let store = DocumentStore(
      name: fixture.user, storage: hooked, limits: .standard(for: fixture.user),
      now: { fixture.clock.now })
    #expect(try await store.mergeLists(at: fixture.clock.now, as: .server))
    let body = try await store.read { view in try view.document(BookmarkList.documentID)?.body }
    #expect(
      body.map { String(decoding: $0, as: UTF8.self) }
        == #"{"type":"bookmarkedhotels","hotels":["c","b","d"]}"#)
  }

  /// Who writes a long list in each slice does not keep others from reading it.
  @Test func listThatIsWrittenMeanwhileIsReadInOneSlice() async throws {
    let fixture = try HotelFixture()
    var (base, reader, lists) = (RevisionID?.none, ListReader(), [BookmarkList?]())
    for turn in 0..<4 {
      let ids = (0..<200).map { "\"h\(turn)-\($0)\"" }.joined(separator: ",")
      base = try await fixture.put(
        "bookmarkedhotels", #"{"type":"bookmarkedhotels","hotels":[\#(ids)]}"#, base: base)
      let step = try await fixture.engine.inShortestSlices {
        try await fixture.stores.withExisting(fixture.user) { store in
          try await store.read { [reader] view in
            var next = reader
            let list = try next.read(view)?.list
            return (reader: next, list: list)
          }
        }
      }
      reader = step.reader
      lists.append(step.list)
    }
    #expect(lists.map { $0?.hotels.first?.text } == [nil, nil, nil, "h3-0"])
  }

  @Test func mirrorPutTogetherInSlicesIsTheSame() async throws {
    let fixture = try await filled()
    let service = fixture.service
    let whole = try #require(try await service.mirror(of: fixture.user, since: nil))
    try await fixture.add(ids: "new")
    _ = try await service.unbookmark(
      #require(HotelID("h11")), in: fixture.user, as: .server)
    let later = try #require(try await service.mirror(of: fixture.user, since: whole.token))
    #expect(later.removed.map { $0.id.text } == ["h11"])
    try await fixture.engine.inShortestSlices {
      #expect(try await service.mirror(of: fixture.user, since: whole.token)?.json == later.json)
      let anew = try #require(try await service.mirror(of: fixture.user, since: nil))
      #expect(anew.token == later.token)
      #expect(anew.order == later.order)
      #expect(anew.hotels.count == whole.hotels.count)
      #expect(!anew.hasMore)
    }
  }

  @Test func searchAmongBookmarksSeesAllOfThemInSlices() async throws {
    let fixture = try await filled()
    let ids = ["h12", "h17", "h20", "gone", "h29"].compactMap { HotelID($0) }
    try await fixture.engine.inShortestSlices {
      let found = try await fixture.service.bookmarked(among: ids, in: fixture.user)
      #expect(found.map(\.text).sorted() == ["h12", "h29"])
      let all = try await fixture.service.allBookmarks(in: fixture.user)
      let ids = try await fixture.ids()
      #expect(all.map(\.id.text) == ids)
      #expect(all.count == 18)
    }
  }

  @Test func adoptionInSlicesTakesAll() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "one", "two", "three", in: fixture.guest)
    try await fixture.put("a", #"{"n":1}"#, in: fixture.guest)
    try await fixture.graft("b", ["1-x"], #"{"n":2}"#, in: fixture.guest)
    try await fixture.graft("b", ["1-y"], #"{"n":3}"#, in: fixture.guest)
    let adoption = try await fixture.engine.inShortestSlices {
      try await fixture.service.adopt(guest: fixture.guest, into: fixture.user)
    }
    #expect(adoption == Adoption(bookmarks: 3, isWhole: true))
    #expect(try await fixture.ids() == ["three", "two", "one"])
    #expect(try await fixture.text("b", "1-x") == #"{"n":2}"#)
    #expect(try await fixture.text("b", "1-y") == #"{"n":3}"#)
    #expect(try await fixture.document("a")?.body.text == #"{"n":1}"#)
  }
}
