import Documents
import Hotels
import StoreTesting
import Stores
import TestSupport
import Testing

/// A restore of the list of bookmarks restores the bookmarks of that time.
@Suite struct ListRestoreTests {
  private let list = "bookmarkedhotels"

  private func restore(
    _ revision: RevisionID, of id: String = "bookmarkedhotels", in fixture: HotelFixture
  ) async throws -> RestoreOutcome {
    try await fixture.service.restore(
      RestoreRequest(revision: revision), of: DocumentID(stored: id), in: fixture.user, as: .server)
  }

  private func revision(_ fixture: HotelFixture) async throws -> RevisionID {
    try #require(try await fixture.document(list)?.revision)
  }

  /// Asserts that every hotel on the list has a live document, and that every live hotel is on the list.
  private func expectAgreement(_ fixture: HotelFixture) async throws {
    let hotels = try await fixture.stores.withExisting(fixture.user) { store in
      try await store.read { view in try view.ids(ofType: Hotel.type).map(\.text) }
    }
    let text = try #require(try await fixture.document(list)?.body)
    #expect(try BookmarkList(parsing: text).hotels.map(\.text).sorted() == hotels)
  }

  @Test func bookmarksAreThoseOfThenInTheirOrder() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a")
    let made = fixture.clock.now
    try await fixture.add(#"{"id":"b","n":1}"#)
    try await fixture.add(ids: "c")
    let then = try await revision(fixture)
    fixture.clock.advance(seconds: 60)
    try await fixture.add(#"{"id":"b","n":2}"#)
    try await fixture.add(#"{"id":"c","n":2}"#)
    for id in ["b", "a"] {
      _ = try await fixture.service.unbookmark(hotelID(id), in: fixture.user, as: .server)
    }
    try await fixture.add(ids: "d", "a")
    let later = try await revision(fixture)
    let outcome = try await restore(then, in: fixture)
    #expect(outcome.missing.isEmpty && !outcome.isDeleted)
    #expect(try await revision(fixture) == outcome.revision)
    #expect(try await fixture.ids() == ["c", "b", "a"])
    #expect(try await fixture.document("d")?.isDeleted == true)
    let (b, c) = (
      try await fixture.service.bookmark(hotelID("b"), in: fixture.user),
      try await fixture.service.bookmark(hotelID("c"), in: fixture.user)
    )
    // A restored bookmark has its last state and its time. A bookmark that stayed is unchanged.
    #expect(b?.hotel.text.contains(#""n":2"#) == true && b?.bookmarkedAt == made)
    #expect(c?.hotel.text.contains(#""n":2"#) == true)
    try await expectAgreement(fixture)
    _ = try await restore(later, in: fixture)
    #expect(try await fixture.ids() == ["a", "d", "c"])
    try await expectAgreement(fixture)
  }

  @Test func presentListWritesNothing() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a", "b")
    let state = try await fixture.info()
    let now = try await revision(fixture)
    #expect(try await restore(now, in: fixture).revision == now)
    #expect(try await fixture.info() == state)
  }

  @Test func hotelOfWhichNothingIsKeptIsNamedAndLeftOut() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a", "b", "c")
    let then = try await revision(fixture)
    for id in ["a", "b"] {
      _ = try await fixture.service.unbookmark(hotelID(id), in: fixture.user, as: .server)
    }
    try await fixture.stores.withExisting(fixture.user) { store in
      _ = try await store.update { changes in changes.dropHistory(of: DocumentID(stored: "b")) }
    }
    let outcome = try await restore(then, in: fixture)
    #expect(outcome.missing.map(\.text) == ["b"])
    #expect(try await fixture.ids() == ["c", "a"])
    try await expectAgreement(fixture)
  }

  @Test func deletedListIsNoBookmarks() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a", "b")
    let then = try await revision(fixture)
    let gone = try await fixture.stores.withExisting(fixture.user) { store in
      try await store.delete(BookmarkList.documentID, base: then)
    }
    _ = try await restore(then, in: fixture)
    #expect(try await fixture.ids() == ["b", "a"])
    _ = try await restore(gone, in: fixture)
    #expect(try await fixture.ids() == [])
    try await expectAgreement(fixture)
  }

  @Test func listOfAnAppThatWasMergedIsRefused() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a")
    let text = #"{"type":"bookmarkedhotels","hotels":["x"]}"#
    let other = try await fixture.put("user::guest", text)
    _ = try await fixture.service.reconcile(in: fixture.user)
    #expect(
      await code { _ = try await restore(other, of: "user::guest", in: fixture) } == .conflict)
    #expect(try await fixture.document("user::guest")?.isDeleted == true)
  }

  @Test(arguments: [BookmarkLimits.restoredHotels, BookmarkLimits.restoredHotels + 1])
  func listMayDifferBySoManyHotels(count: Int) async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a")
    let then = try await revision(fixture)
    let ids = (1...count).map { "\"h\($0)\"" }.joined(separator: ",")
    let text = #"{"type":"bookmarkedhotels","hotels":["a",\#(ids)]}"#
    let long = try await fixture.put(list, text, base: then)
    let refusal = await code { _ = try await restore(then, in: fixture) }
    let isRefused = count > BookmarkLimits.restoredHotels
    #expect(refusal == (isRefused ? .tooLarge : nil))
    #expect((try await revision(fixture) == long) == isRefused)
    if !isRefused { try await expectAgreement(fixture) }
  }

  @Test func fullStoreRefusesAllOfIt() async throws {
    let fixture = try HotelFixture(limits: { _ in StoreLimits(documents: 3, bytes: 1 << 20) })
    try await fixture.add(ids: "a", "b")
    let then = try await revision(fixture)
    _ = try await fixture.service.unbookmark(hotelID("b"), in: fixture.user, as: .server)
    try await fixture.put("note", "{}")
    let state = try await fixture.info()
    #expect(await code { _ = try await restore(then, in: fixture) } == .quotaExceeded)
    #expect(try await fixture.info() == state)
  }
}
