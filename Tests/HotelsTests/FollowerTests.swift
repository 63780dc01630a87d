import Documents
import Stores
import Synchronization
import Testing

@testable import Hotels

/// Conflicting lists are merged before the commit that brought them is acknowledged, whatever route they take.
@Suite(.timeLimit(.minutes(10))) struct FollowerTests {
  private static let follower = BookmarkMerge.follower(now: { Timestamp(seconds: 1_800_000_000) })
  private let base = #"{"type":"bookmarkedhotels","hotels":["x","y"]}"#

  /// Two phones' revisions of one list.
  private func pushConflict(_ fixture: HotelFixture) async throws {
    try await fixture.graft("bookmarkedhotels", ["1-a"], base)
    try await fixture.graft("bookmarkedhotels", ["2-b", "1-a"], #"{"hotels":["x","y","b"]}"#)
    try await fixture.graft("bookmarkedhotels", ["2-c", "1-a"], #"{"hotels":["y","c"]}"#)
  }

  @Test func pushedConflictLeavesOneLiveLeafBelowTheWinner() async throws {
    let fixture = try HotelFixture(follower: Self.follower)
    try await pushConflict(fixture)
    let tree = try #require(try await fixture.tree("bookmarkedhotels"))
    let winner = try #require(tree.winner)
    #expect(tree.conflicts.isEmpty)
    #expect(tree.deletedConflicts.count == 1)
    #expect(tree.history(of: winner.revision).map(\.description).dropFirst() == ["2-c", "1-a"])
    #expect(
      try await fixture.listText() == #"{"hotels":["y","c","b"],"type":"bookmarkedhotels"}"#)
    let changes = try await fixture.changes()
    #expect(changes.map(\.revision) == [winner.revision])
    #expect(changes.map(\.sequence) == [4])
  }

  @Test func pushingTheSameAgainChangesNothing() async throws {
    let fixture = try HotelFixture(follower: Self.follower)
    try await pushConflict(fixture)
    let state = try await fixture.info()
    try await pushConflict(fixture)
    #expect(try await fixture.info() == state)
  }

  @Test func conflictOfAWriterWhoDidNotKnowIsMerged() async throws {
    let fixture = try HotelFixture(follower: Self.follower)
    try await fixture.add(ids: "a")
    let seen = try #require(try await fixture.document("bookmarkedhotels")?.revision)
    try await fixture.add(ids: "b")
    try await fixture.graft(
      "bookmarkedhotels", ["2-f0", seen.description], #"{"hotels":["a","p"]}"#)
    #expect(try await fixture.tree("bookmarkedhotels")?.conflicts.isEmpty == true)
    let body = try #require(try await fixture.document("bookmarkedhotels")?.body)
    #expect(Set(try BookmarkList(parsing: body).texts) == ["a", "b", "p"])
  }

  @Test func listUnderAnotherIDBecomesTheCanonicalOne() async throws {
    let fixture = try HotelFixture(follower: Self.follower)
    try await fixture.put("user::guest", #"{"hotels":["b","a"],"type":"bookmarkedhotels"}"#)
    #expect(try await fixture.listText() == #"{"type":"bookmarkedhotels","hotels":["b","a"]}"#)
    #expect(try await fixture.document("user::guest")?.isDeleted == true)
    try await fixture.put("3f2b", #"{"hotels":["c"],"type":"bookmarkedhotels"}"#)
    let list = try BookmarkList(
      parsing: #require(try await fixture.document("bookmarkedhotels")).body)
    #expect(Set(list.texts) == ["a", "b", "c"])
    #expect(try await fixture.document("3f2b")?.isDeleted == true)
  }

  @Test func listThatComesLateOnAClosedBranchIsMerged() async throws {
    let fixture = try HotelFixture(follower: Self.follower)
    try await pushConflict(fixture)
    try await fixture.graft(
      "bookmarkedhotels", ["3-d", "2-b", "1-a"], #"{"hotels":["x","y","b","d"]}"#)
    let list = try BookmarkList(
      parsing: #require(try await fixture.document("bookmarkedhotels")).body)
    #expect(list.texts == ["y", "c", "b", "d"])
    #expect(try await fixture.tree("bookmarkedhotels")?.conflicts.isEmpty == true)
  }

  @Test func leafThatWinsSinceAnotherWasDeletedIsFound() async throws {
    let fixture = try HotelFixture(follower: Self.follower)
    try await fixture.graft("app", ["2-n"], #"{"type":"note"}"#)
    try await fixture.graft("app", ["1-l"], #"{"type":"bookmarkedhotels","hotels":["a"]}"#)
    #expect(try await fixture.document("bookmarkedhotels") == nil)
    try await fixture.graft("app", ["3-n", "2-n"], "{}", isDeleted: true)
    #expect(try await fixture.listText() == #"{"type":"bookmarkedhotels","hotels":["a"]}"#)
  }

  @Test func conflictsOfOtherDocumentsStay() async throws {
    let fixture = try HotelFixture(follower: Self.follower)
    try await fixture.graft("n", ["1-a"], #"{"type":"note","v":1}"#)
    try await fixture.graft("n", ["1-b"], #"{"type":"note","v":2}"#)
    #expect(try await fixture.tree("n")?.conflicts.map(\.description) == ["1-a"])
    #expect(try await fixture.info().lastSequence == 2)
  }

  @Test func mergesAreNotFollowed() async throws {
    let runs = Mutex(0)
    let follower = CommitFollower(concerns: BookmarkMerge.concerns) {
      store, ids, context in
      runs.withLock { $0 += 1 }
      try await Self.follower.follow(store, ids, context)
    }
    let fixture = try HotelFixture(follower: follower)
    try await pushConflict(fixture)
    #expect(runs.withLock { $0 } == 1)
    try await fixture.put("user::guest", #"{"type":"bookmarkedhotels","hotels":["a"]}"#)
    #expect(runs.withLock { $0 } == 2)
    for id in ["a", "b", "c"] { try await fixture.add(ids: id) }
    _ = try await fixture.service.unbookmark(hotelID("a"), in: fixture.user, as: .server)
    #expect(runs.withLock { $0 } == 2)
  }

  @Test func failedMergeLeavesTheCommitAndIsTriedAgain() async throws {
    let fails = Mutex(true)
    let follower = CommitFollower(concerns: BookmarkMerge.concerns) {
      store, ids, context in
      guard !fails.withLock({ $0 }) else { throw ServiceError(.storageFull, "full") }
      try await Self.follower.follow(store, ids, context)
    }
    let fixture = try HotelFixture(follower: follower)
    try await pushConflict(fixture)
    #expect(try await fixture.tree("bookmarkedhotels")?.conflicts.map(\.description) == ["2-b"])
    fails.withLock { $0 = false }
    try await fixture.graft("bookmarkedhotels", ["3-e", "2-c", "1-a"], #"{"hotels":["y","c"]}"#)
    #expect(try await fixture.tree("bookmarkedhotels")?.conflicts.isEmpty == true)
    let list = try BookmarkList(
      parsing: #require(try await fixture.document("bookmarkedhotels")).body)
    #expect(list.texts == ["y", "c", "b"])
  }

  @Test func mergeThatAnEndedProcessOwesComesWhenTheStoreIsOpenedAgain() async throws {
    let owing = CommitFollower(concerns: BookmarkMerge.concerns) { _, _, _ in
      throw ServiceError(.unavailable, "The process ends")
    }
    let ended = try HotelFixture(follower: owing)
    try await pushConflict(ended)
    for note in ["a", "b"] {
      try await ended.graft("h", ["1-\(note)"], #"{"type":"hotel","\#(note)":1}"#)
    }
    try await ended.put("user::guest", #"{"hotels":["g"],"type":"bookmarkedhotels"}"#)
    await ended.stores.close()
    let owed = try HotelFixture(over: ended.engine, follower: owing)
    #expect(try await owed.tree("h")?.conflicts.isEmpty == false)
    await owed.stores.close()
    let fixture = try HotelFixture(over: ended.engine, follower: Self.follower)
    #expect(try await fixture.tree("bookmarkedhotels")?.conflicts.isEmpty == true)
    #expect(try await fixture.tree("h")?.conflicts.isEmpty == true)
    #expect(try await fixture.document("user::guest")?.isDeleted == true)
    #expect(
      try await fixture.listText() == #"{"hotels":["y","c","b","g"],"type":"bookmarkedhotels"}"#)
    #expect(try await fixture.document("h")?.body.text == #"{"type":"hotel","b":1,"a":1}"#)
    // The note goes when the store was opened, and otherwise with the next commit.
    let notes = {
      try await fixture.stores.withExisting(fixture.user) { store in
        try await store.read { view in try view.localUsage(of: "receipt/unfollowed/").count }
      }
    }
    #expect(try await notes() == 0)
    try await fixture.graft("h", ["1-c"], #"{"type":"hotel","c":1}"#)
    #expect(try await fixture.tree("h")?.conflicts.isEmpty == true)
    #expect(try await notes() == 1)
    try await fixture.add(ids: "next")
    #expect(try await notes() == 0)
  }

  @Test func whatIsOwedOfManyHotelsComesInTheBackground() async throws {
    let owing = CommitFollower(concerns: BookmarkMerge.concerns) { _, _, _ in
      throw ServiceError.ended
    }
    let ended = try HotelFixture(follower: owing)
    for number in 0..<100 {
      for note in ["a", "b"] {
        try await ended.graft("h\(number)", ["1-\(note)"], #"{"type":"hotel","\#(note)":1}"#)
      }
    }
    await ended.stores.close()
    let fixture = try HotelFixture(over: ended.engine, follower: Self.follower)
    var left = 0
    repeat {
      left = 0
      for number in 0..<100 where try await fixture.tree("h\(number)")?.conflicts.isEmpty == false {
        left += 1
      }
      #expect(left <= 36)
      await Task.yield()
    } while left > 0
    await fixture.stores.close()
  }

  @Test func mergeThatALaterCommitOwesIsNotTakenForTheEarlierOne() async throws {
    let runs = Mutex(0)
    let id = DocumentID(stored: "h")
    let owing = CommitFollower(concerns: BookmarkMerge.concerns) { store, _, context in
      guard
        runs.withLock({
          $0 += 1; return $0
        }) == 1
      else { throw ServiceError.ended }
      // A third phone's revision comes while the first two are merged.
      let body = try DocumentBody(parsing: Array(#"{"type":"hotel","c":1}"#.utf8))
      try await store.update(loading: [id], as: context) { changes in
        let mutation = try Edit.insert(
          id, in: try changes.tree(id), history: [try RevisionID("1-c")], body: body,
          isDeleted: false, known: nil)
        changes.write(mutation)
      }
    }
    let ended = try HotelFixture(follower: owing)
    for note in ["a", "b"] {
      try await ended.graft("h", ["1-\(note)"], #"{"type":"hotel","\#(note)":1}"#)
    }
    try await ended.add(ids: "next")
    await ended.stores.close()
    let fixture = try HotelFixture(over: ended.engine, follower: Self.follower)
    #expect(try await fixture.tree("h")?.conflicts.isEmpty == true)
  }

  @Test func mergeBeyondTheQuotaLosesNothing() async throws {
    let bytes = Mutex<Int64>(70)
    let fixture = try HotelFixture(
      limits: { _ in
        StoreLimits(
          documents: 9, bytes: bytes.withLock { $0 }, history: HistoryLimits(revisions: 20))
      }, follower: Self.follower)
    let lists = [#"{"hotels":["aaaaaaaa","bbbbbbbb"]}"#, #"{"hotels":["cccccccc","dddddddd"]}"#]
    try await fixture.graft("bookmarkedhotels", ["1-a"], lists[0])
    try await fixture.graft("bookmarkedhotels", ["1-b"], lists[1])
    #expect(try await fixture.tree("bookmarkedhotels")?.conflicts.map(\.description) == ["1-a"])
    #expect(try await fixture.text("bookmarkedhotels", "1-a") == lists[0])
    // The limits are read when the store is opened.
    bytes.withLock { $0 = 1_000 }
    await fixture.stores.close()
    let roomy = try HotelFixture(over: fixture.engine, follower: Self.follower)
    try await roomy.add(ids: "n")
    let list = try BookmarkList(
      parsing: #require(try await roomy.document("bookmarkedhotels")).body)
    #expect(list.texts == ["cccccccc", "dddddddd", "aaaaaaaa", "bbbbbbbb", "n"])
  }
}
