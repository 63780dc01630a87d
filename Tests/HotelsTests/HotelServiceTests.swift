import Documents
import Hotels
import Stores
import TestSupport
import Testing

@Suite struct HotelServiceTests {
  @Test func bookmarkPutsListAndHotelInOneUpdate() async throws {
    let fixture = try HotelFixture()
    let outcome = try await fixture.add(#"{"id":"hotel_1","name":"Medway"}"#)
    #expect(outcome.effect == .created)
    #expect(outcome.bookmark.bookmarkedAt == fixture.clock.now)
    #expect(try await fixture.listText() == #"{"type":"bookmarkedhotels","hotels":["hotel_1"]}"#)
    let document = try #require(try await fixture.document("hotel_1"))
    #expect(document.body.text == #"{"id":"hotel_1","name":"Medway","type":"hotel"}"#)
    #expect(document.revision == outcome.bookmark.revision)
    #expect(try await fixture.info().lastSequence == 2)
  }

  @Test func sameFactsAgainWriteNothing() async throws {
    let fixture = try HotelFixture()
    let first = try await fixture.add(#"{"id":"h","a":1,"b":2}"#).bookmark
    let again = try await fixture.add(#"{ "b":2, "a":1, "id":"h", "type":"hotel" }"#)
    #expect(again.effect == .unchanged, "wrote a revision")
    #expect(again.bookmark.revision == first.revision)
    #expect(try await fixture.info().lastSequence == 2)
    #expect(try await fixture.ids() == ["h"])
  }

  @Test func otherFactsMakeARevisionOfTheHotelAlone() async throws {
    let fixture = try HotelFixture()
    let first = try await fixture.add(#"{"id":"h","stars":3}"#).bookmark
    let list = try await fixture.document("bookmarkedhotels")?.revision
    fixture.clock.advance(seconds: 60)
    let outcome = try await fixture.add(#"{"id":"h","stars":4}"#)
    #expect(outcome.effect == .replaced)
    let bookmark = outcome.bookmark
    #expect(bookmark.revision.generation == 2)
    #expect(bookmark.bookmarkedAt == first.bookmarkedAt)
    #expect(try await fixture.document("bookmarkedhotels")?.revision == list)
    let read = try #require(try await fixture.service.bookmark(hotelID("h"), in: fixture.user))
    #expect(read.bookmarkedAt == first.bookmarkedAt)
    #expect(read.revision == bookmark.revision)
  }

  @Test func unbookmarkLeavesATombstoneAndTheListGoesOn() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a", "b", "c")
    let tombstone = try await fixture.service.unbookmark(
      hotelID("b"), in: fixture.user, as: .server)
    #expect(try await fixture.ids() == ["c", "a"])
    let document = try #require(try await fixture.document("b"))
    #expect(document.isDeleted)
    #expect(document.revision == tombstone)
    #expect(try await fixture.document("bookmarkedhotels")?.revision.generation == 4)
    #expect(try await fixture.service.bookmark(hotelID("b"), in: fixture.user) == nil)
  }

  @Test func unbookmarkOfWhatIsNotBookmarkedIsNil() async throws {
    let fixture = try HotelFixture()
    #expect(
      try await fixture.service.unbookmark(hotelID("a"), in: fixture.guest, as: .server) == nil)
    try await fixture.add(ids: "a")
    #expect(
      try await fixture.service.unbookmark(hotelID("b"), in: fixture.user, as: .server) == nil)
    #expect(try await fixture.info().lastSequence == 2)
  }

  @Test func unbookmarkClosesEveryBranchOfTheHotel() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "h")
    try await fixture.graft("h", ["1-f0"], #"{"type":"hotel","from":"elsewhere"}"#)
    #expect(try await fixture.tree("h")?.conflicts.count == 1)
    _ = try await fixture.service.unbookmark(hotelID("h"), in: fixture.user, as: .server)
    #expect(try await fixture.document("h")?.isDeleted == true)
    #expect(try await fixture.tree("h")?.leaves.allSatisfy(\.isDeleted) == true)
  }

  @Test func rebookmarkGoesOnFromTheTombstoneAndIsTheNewest() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a", "b")
    _ = try await fixture.service.unbookmark(hotelID("a"), in: fixture.user, as: .server)
    fixture.clock.advance(seconds: 5)
    let outcome = try await fixture.add(#"{"id":"a"}"#)
    #expect(outcome.effect == .created)
    #expect(outcome.bookmark.revision.generation == 3)
    #expect(outcome.bookmark.bookmarkedAt == fixture.clock.now)
    let read = try await fixture.service.bookmark(hotelID("a"), in: fixture.user)
    #expect(read?.bookmarkedAt == fixture.clock.now)
    #expect(try await fixture.ids() == ["a", "b"])
  }

  @Test func thirtyTwoConcurrentBookmarkersLoseNone() async throws {
    let fixture = try HotelFixture()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<32 {
        group.addTask { try await fixture.add(#"{"id":"hotel_\#(index % 16)"}"#) }
      }
      try await group.waitForAll()
    }
    let ids = try await fixture.ids()
    #expect(ids.count == 16)
    #expect(Set(ids) == Set((0..<16).map { "hotel_\($0)" }))
    let stored = try await fixture.document("bookmarkedhotels")?.body
    #expect(try BookmarkList(parsing: #require(stored)).hotels.count == 16)
  }

  @Test func conditionsAreHeldInTheUpdate() async throws {
    let fixture = try HotelFixture()
    let (service, user) = (fixture.service, fixture.user)
    let (facts, id) = (HotelAddition(facts: try hotel(#"{"id":"h"}"#)), try hotelID("h"))
    #expect(
      await code {
        _ = try await service.bookmark(facts, in: user, condition: .exists, as: .server)
      }
        == .precondition)
    #expect(
      await code { _ = try await service.unbookmark(id, in: user, condition: .exists, as: .server) }
        == .precondition)
    let first = try await service.bookmark(facts, in: user, condition: .absent, as: .server)
      .bookmark
    #expect(
      await code {
        _ = try await service.bookmark(facts, in: user, condition: .absent, as: .server)
      }
        == .precondition)
    let changed = HotelAddition(facts: try hotel(#"{"id":"h","a":1}"#))
    _ = try await service.bookmark(
      changed, in: user, condition: .matches([first.revision]), as: .server)
    #expect(
      await code {
        _ = try await service.unbookmark(
          id, in: user, condition: .matches([first.revision]), as: .server)
      } == .precondition)
    #expect(try await service.unbookmark(id, in: user, condition: .exists, as: .server) != nil)
  }

  @Test func documentThatIsNoHotelIsNotOverwritten() async throws {
    let fixture = try HotelFixture()
    try await fixture.put("h", #"{"type":"note"}"#)
    #expect(await code { try await fixture.add(#"{"id":"h"}"#) } == .occupied)
    #expect(try await fixture.document("h")?.body.text == #"{"type":"note"}"#)
    #expect(try await fixture.document("bookmarkedhotels") == nil)
  }

  @Test func guestsStoreIsFull() async throws {
    let fixture = try HotelFixture(limits: { _ in
      StoreLimits(documents: 3, bytes: 4_096, history: HistoryLimits(revisions: 20))
    })
    try await fixture.add(ids: "a", "b", in: fixture.guest)
    do {
      try await fixture.add(#"{"id":"c"}"#, in: fixture.guest)
      Issue.record("the store takes more than its quota")
    } catch let error as ServiceError {
      #expect(error.code == .quotaExceeded)
    }
    #expect(try await fixture.ids(in: fixture.guest) == ["b", "a"])
    _ = try await fixture.service.unbookmark(hotelID("a"), in: fixture.guest, as: .server)
    try await fixture.add(ids: "c", in: fixture.guest)
    #expect(try await fixture.ids(in: fixture.guest) == ["c", "b"])
  }
}
