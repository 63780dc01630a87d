import Documents
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import Hotels

/// What goes from a store that nobody writes to.
@Suite struct MaintenanceTests {
  private static let day: Int64 = 86_400

  private func maintain(_ fixture: HotelFixture, _ name: StoreName? = nil) async throws -> Remains {
    try await fixture.service.maintain(name ?? fixture.user, at: fixture.clock.now)
  }

  @Test func answersToKeysGoADayLaterWithoutAnotherWrite() async throws {
    let fixture = try HotelFixture()
    for number in 0..<60 {
      let receipt = try fixture.receipt("\(number)")
      _ = try await fixture.service.change(
        batch(#"{"add":[{"id":"a","name":"A"}]}"#), in: fixture.user,
        as: WriteContext(author: .server, receipt: receipt)
      ) { _ in KeptAnswer(status: 200) }
    }
    let early = try await maintain(fixture)
    #expect(early.removed[.receipts] == nil && early.kept[.receipts] == 60)
    fixture.clock.advance(seconds: Self.day + 1)
    let late = try await maintain(fixture)
    #expect(late.removed[.receipts] == 60 && late.kept[.receipts] == 0)
    let again = try await maintain(fixture)
    #expect(again.removed[.receipts] == nil)
    #expect(try await fixture.ids() == ["a"])
  }

  @Test func absentStoreIsNeitherMadeNorMissed() async throws {
    let fixture = try HotelFixture()
    #expect(try await maintain(fixture) == Remains())
    #expect(fixture.engine.tally.created == 0)
  }

  @Test func listWithManyClosedBranchesShrinksWithoutAChange() async throws {
    let fixture = try HotelFixture()
    try await fixture.graft("bookmarkedhotels", ["1-a"], Self.list)
    try await fixture.graft("bookmarkedhotels", ["2-z", "1-a"], Self.list)
    for number in 100..<200 {
      try await fixture.graft(
        "bookmarkedhotels", ["2-b\(number)", "1-a"], "{}", isDeleted: true)
    }
    let before = try #require(await fixture.tree("bookmarkedhotels"))
    #expect(before.leaves.count == 101)
    #expect(try await maintain(fixture).kept[.branches] == 36)
    let after = try #require(await fixture.tree("bookmarkedhotels"))
    #expect(after.leaves.count == 65)
    #expect(after.winner == before.winner)
    #expect(try await fixture.text("bookmarkedhotels", "2-z") == Self.list)
    let changes = try await fixture.changes()
    #expect(try await maintain(fixture).kept[.branches] == 36)
    #expect(try await fixture.changes() == changes)
    // Later the other branches become marks, and later still the marks are removed.
    fixture.clock.advance(seconds: 91 * Self.day)
    #expect(try await maintain(fixture).kept[.branches] == 64)
    fixture.clock.advance(seconds: 91 * Self.day)
    #expect(try await maintain(fixture).removed[.branches] == 64)
    #expect(try await fixture.listText() == Self.list)
  }

  @Test func branchesThatAPeerClosedStayUntilTheirTimeIsOver() async throws {
    let fixture = try HotelFixture()
    try await fixture.graft("bookmarkedhotels", ["2-z", "1-a"], Self.list)
    for number in 0..<3 {
      try await fixture.graft("bookmarkedhotels", ["2-b\(number)", "1-a"], "{}", isDeleted: true)
    }
    let changes = try await fixture.changes()
    for days in [0, 1, 89] {
      fixture.clock.advance(seconds: Int64(days) * Self.day)
      #expect(try await maintain(fixture).removed[.branches] ?? 0 == 0)
      #expect(try await fixture.changes() == changes, "a store that nobody wrote to has no changes")
    }
    fixture.clock.advance(seconds: Self.day)
    #expect(try await maintain(fixture).kept[.branches] == 3)
    #expect(try await fixture.tree("bookmarkedhotels")?.leaves.count == 1)
    #expect(try await fixture.changes() != changes)
  }

  @Test func receiptOfWhatAGuestHadGoesWithTheGuestsStore() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a", in: fixture.guest)
    _ = try await fixture.service.adopt(guest: fixture.guest, into: fixture.user)
    #expect(try await maintain(fixture).kept[.adoptions] == 1)
    // Nothing comes twice as long as it could.
    _ = try await fixture.service.unbookmark(hotelID("a"), in: fixture.user, as: .server)
    #expect(
      try await fixture.service.adopt(guest: fixture.guest, into: fixture.user).bookmarks == 0)
    _ = try await fixture.stores.erase(fixture.guest)
    #expect(try await maintain(fixture).removed[.adoptions] == 1)
    #expect(try await maintain(fixture).kept[.adoptions] == 0)
    #expect(
      try await fixture.service.adopt(guest: fixture.guest, into: fixture.user).bookmarks == 0)
    #expect(try await fixture.ids().isEmpty)
  }

  private static let list = #"{"type":"bookmarkedhotels","hotels":[]}"#
}
