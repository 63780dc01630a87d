import Documents
import StoreTesting
import Stores
import Testing

@testable import Hotels

/// What goes from a store that nobody writes to.
@Suite struct UpkeepTests {
  private static let day: Int64 = 86_400

  private func keepUp(_ hall: Hall, _ name: StoreName? = nil) async throws -> Remains {
    try await hall.service.keepUp(name ?? hall.user, at: hall.clock.now)
  }

  @Test func answersToKeysGoADayLaterWithoutAnotherWrite() async throws {
    let hall = try Hall()
    for number in 0..<60 {
      let receipt = try #require(
        ReceiptRequest(key: "\(number)", fingerprint: Array(repeating: 1, count: 32)))
      _ = try await hall.service.change(
        batch(#"{"add":[{"id":"a","name":"A"}]}"#), in: hall.user, receipt: receipt)
    }
    let early = try await keepUp(hall)
    #expect(early.removed[.receipts] == nil && early.kept[.receipts] == 60)
    hall.clock.turn(bySeconds: Self.day + 1)
    let late = try await keepUp(hall)
    #expect(late.removed[.receipts] == 60 && late.kept[.receipts] == 0)
    let again = try await keepUp(hall)
    #expect(again.removed[.receipts] == nil)
    #expect(try await hall.ids() == ["a"])
  }

  @Test func absentStoreIsNeitherMadeNorMissed() async throws {
    let hall = try Hall()
    #expect(try await keepUp(hall) == Remains())
    #expect(hall.engine.tally.created == 0)
  }

  @Test func listWithManyClosedBranchesShrinksWithoutAChange() async throws {
    let hall = try Hall()
    try await hall.graft("bookmarkedhotels", ["1-a"], Self.list)
    try await hall.graft("bookmarkedhotels", ["2-z", "1-a"], Self.list)
    for number in 100..<200 {
      try await hall.graft(
        "bookmarkedhotels", ["2-b\(number)", "1-a"], "{}", isDeleted: true)
    }
    let before = try #require(await hall.tree("bookmarkedhotels"))
    #expect(before.leaves.count == 101)
    #expect(try await keepUp(hall).kept[.branches] == 36)
    let after = try #require(await hall.tree("bookmarkedhotels"))
    #expect(after.leaves.count == 65)
    #expect(after.winner == before.winner)
    #expect(try await hall.text("bookmarkedhotels", "2-z") == Self.list)
    let changes = try await hall.changes()
    #expect(try await keepUp(hall).kept[.branches] == 36)
    #expect(try await hall.changes() == changes)
    // The branches that are left go, and their marks, one after the other.
    hall.clock.turn(bySeconds: 91 * Self.day)
    #expect(try await keepUp(hall).kept[.branches] == 64)
    hall.clock.turn(bySeconds: 91 * Self.day)
    #expect(try await keepUp(hall).removed[.branches] == 64)
    #expect(try await hall.listText() == Self.list)
  }

  @Test func receiptOfWhatAGuestHadGoesWithTheGuestsStore() async throws {
    let hall = try Hall()
    try await hall.add(ids: "a", in: hall.guest)
    _ = try await hall.service.adopt(guest: hall.guest, into: hall.user)
    #expect(try await keepUp(hall).kept[.adoptions] == 1)
    // Nothing comes twice as long as it could.
    _ = try await hall.service.unbookmark(hotelID("a"), in: hall.user)
    #expect(try await hall.service.adopt(guest: hall.guest, into: hall.user).bookmarks == 0)
    _ = try await hall.stores.erase(hall.guest)
    #expect(try await keepUp(hall).removed[.adoptions] == 1)
    #expect(try await keepUp(hall).kept[.adoptions] == 0)
    #expect(try await hall.service.adopt(guest: hall.guest, into: hall.user).bookmarks == 0)
    #expect(try await hall.ids().isEmpty)
  }

  private static let list = #"{"type":"bookmarkedhotels","hotels":[]}"#
}
