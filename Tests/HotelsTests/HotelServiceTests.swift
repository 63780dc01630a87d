import Documents
import Hotels
import Stores
import Testing

@Suite struct HotelServiceTests {
  @Test func bookmarkPutsListAndHotelInOneUpdate() async throws {
    let hall = try Hall()
    let outcome = try await hall.add(#"{"id":"hotel_1","name":"Medway"}"#)
    #expect(outcome.isCreated)
    #expect(outcome.bookmark.bookmarkedAt == hall.clock.now)
    #expect(try await hall.listText() == #"{"type":"bookmarkedhotels","hotels":["hotel_1"]}"#)
    let document = try #require(try await hall.document("hotel_1"))
    #expect(document.body.text == #"{"id":"hotel_1","name":"Medway","type":"hotel"}"#)
    #expect(document.revision == outcome.bookmark.revision)
    #expect(try await hall.info().lastSequence == 2)
  }

  @Test func sameFactsAgainWriteNothing() async throws {
    let hall = try Hall()
    let first = try await hall.add(#"{"id":"h","a":1,"b":2}"#).bookmark
    let again = try await hall.add(#"{ "b":2, "a":1, "id":"h", "type":"hotel" }"#)
    guard case .unchanged(let bookmark) = again else {
      Issue.record("wrote a revision")
      return
    }
    #expect(bookmark.revision == first.revision)
    #expect(try await hall.info().lastSequence == 2)
    #expect(try await hall.ids() == ["h"])
  }

  @Test func otherFactsMakeARevisionOfTheHotelAlone() async throws {
    let hall = try Hall()
    let first = try await hall.add(#"{"id":"h","stars":3}"#).bookmark
    let list = try await hall.document("bookmarkedhotels")?.revision
    hall.clock.turn(bySeconds: 60)
    guard case .replaced(let bookmark) = try await hall.add(#"{"id":"h","stars":4}"#) else {
      Issue.record("no update")
      return
    }
    #expect(bookmark.revision.generation == 2)
    #expect(bookmark.bookmarkedAt == first.bookmarkedAt)
    #expect(try await hall.document("bookmarkedhotels")?.revision == list)
    let read = try #require(try await hall.service.bookmark(hotelID("h"), in: hall.user))
    #expect(read.bookmarkedAt == first.bookmarkedAt)
    #expect(read.revision == bookmark.revision)
  }

  @Test func unbookmarkLeavesATombstoneAndTheListGoesOn() async throws {
    let hall = try Hall()
    try await hall.add(ids: "a", "b", "c")
    let tombstone = try await hall.service.unbookmark(hotelID("b"), in: hall.user)
    #expect(try await hall.ids() == ["c", "a"])
    let document = try #require(try await hall.document("b"))
    #expect(document.isDeleted)
    #expect(document.revision == tombstone)
    #expect(try await hall.document("bookmarkedhotels")?.revision.generation == 4)
    #expect(try await hall.service.bookmark(hotelID("b"), in: hall.user) == nil)
  }

  @Test func unbookmarkOfWhatIsNotBookmarkedIsNil() async throws {
    let hall = try Hall()
    #expect(try await hall.service.unbookmark(hotelID("a"), in: hall.guest) == nil)
    try await hall.add(ids: "a")
    #expect(try await hall.service.unbookmark(hotelID("b"), in: hall.user) == nil)
    #expect(try await hall.info().lastSequence == 2)
  }

  @Test func unbookmarkClosesEveryBranchOfTheHotel() async throws {
    let hall = try Hall()
    try await hall.add(ids: "h")
    try await hall.graft("h", ["1-f0"], #"{"type":"hotel","from":"elsewhere"}"#)
    #expect(try await hall.tree("h")?.conflicts.count == 1)
    _ = try await hall.service.unbookmark(hotelID("h"), in: hall.user)
    #expect(try await hall.document("h")?.isDeleted == true)
    #expect(try await hall.tree("h")?.leaves.allSatisfy(\.isDeleted) == true)
  }

  @Test func rebookmarkGoesOnFromTheTombstoneAndIsTheNewest() async throws {
    let hall = try Hall()
    try await hall.add(ids: "a", "b")
    _ = try await hall.service.unbookmark(hotelID("a"), in: hall.user)
    hall.clock.turn(bySeconds: 5)
    let outcome = try await hall.add(#"{"id":"a"}"#)
    #expect(outcome.isCreated)
    #expect(outcome.bookmark.revision.generation == 3)
    #expect(outcome.bookmark.bookmarkedAt == hall.clock.now)
    let read = try await hall.service.bookmark(hotelID("a"), in: hall.user)
    #expect(read?.bookmarkedAt == hall.clock.now)
    #expect(try await hall.ids() == ["a", "b"])
  }

  @Test func thirtyTwoConcurrentBookmarkersLoseNone() async throws {
    let hall = try Hall()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for place in 0..<32 {
        group.addTask { try await hall.add(#"{"id":"hotel_\#(place % 16)"}"#) }
      }
      try await group.waitForAll()
    }
    let ids = try await hall.ids()
    #expect(ids.count == 16)
    #expect(Set(ids) == Set((0..<16).map { "hotel_\($0)" }))
    let stored = try await hall.document("bookmarkedhotels")?.body
    #expect(try BookmarkList(parsing: #require(stored)).hotels.count == 16)
  }

  @Test func conditionsAreHeldInTheUpdate() async throws {
    let hall = try Hall()
    let (service, user) = (hall.service, hall.user)
    let (facts, id) = (HotelAddition(facts: try hotel(#"{"id":"h"}"#)), try hotelID("h"))
    #expect(
      await code { _ = try await service.bookmark(facts, in: user, condition: .exists) }
        == .precondition)
    #expect(
      await code { _ = try await service.unbookmark(id, in: user, condition: .exists) }
        == .precondition)
    let first = try await service.bookmark(facts, in: user, condition: .absent).bookmark
    #expect(
      await code { _ = try await service.bookmark(facts, in: user, condition: .absent) }
        == .precondition)
    let changed = HotelAddition(facts: try hotel(#"{"id":"h","a":1}"#))
    _ = try await service.bookmark(changed, in: user, condition: .matches([first.revision]))
    #expect(
      await code {
        _ = try await service.unbookmark(id, in: user, condition: .matches([first.revision]))
      } == .precondition)
    #expect(try await service.unbookmark(id, in: user, condition: .exists) != nil)
  }

  @Test func documentThatIsNoHotelIsNotOverwritten() async throws {
    let hall = try Hall()
    try await hall.put("h", #"{"type":"note"}"#)
    #expect(await code { try await hall.add(#"{"id":"h"}"#) } == .occupied)
    #expect(try await hall.document("h")?.body.text == #"{"type":"note"}"#)
    #expect(try await hall.document("bookmarkedhotels") == nil)
  }

  @Test func guestsStoreIsFull() async throws {
    let hall = try Hall(limits: { _ in
      StoreLimits(documents: 3, bytes: 4_096, history: HistoryLimits(revisions: 20))
    })
    try await hall.add(ids: "a", "b", in: hall.guest)
    do {
      try await hall.add(#"{"id":"c"}"#, in: hall.guest)
      Issue.record("the store takes more than its quota")
    } catch let error as HotelError {
      #expect(error.store?.code == .quotaExceeded)
    }
    #expect(try await hall.ids(in: hall.guest) == ["b", "a"])
    _ = try await hall.service.unbookmark(hotelID("a"), in: hall.guest)
    try await hall.add(ids: "c", in: hall.guest)
    #expect(try await hall.ids(in: hall.guest) == ["c", "b"])
  }
}
