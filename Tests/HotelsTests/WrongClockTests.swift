import Documents
import Hotels
import Stores
import TestSupport
import Testing

/// Devices and servers whose clocks are wrong by decades (FAULTS Y02): only revisions decide which change is
/// later.
@Suite struct WrongClockTests {
  private static let decades: Int64 = 25 * 365 * 86_400

  /// One that is far behind and one that is far ahead.
  private func fixtures() throws -> (behind: HotelFixture, ahead: HotelFixture) {
    let (behind, ahead) = (try HotelFixture(), try HotelFixture())
    behind.clock.advance(seconds: -Self.decades)
    ahead.clock.advance(seconds: Self.decades)
    return (behind, ahead)
  }

  /// Copies the leaves of a document from one user's store to another's.
  private func bring(_ id: String, from source: HotelFixture, to target: HotelFixture) async throws
  {
    let tree = try #require(try await source.tree(id))
    for leaf in tree.leaves {
      let text = try #require(try await source.text(id, leaf.revision.description))
      let history = tree.history(of: leaf.revision).map(\.description)
      try await target.graft(id, history, text, isDeleted: leaf.isDeleted)
    }
  }

  @Test(.bug(id: "Y02")) func clocksDecadesApartMakeTheSameRevisions() async throws {
    let fixtures = try fixtures()
    for fixture in [fixtures.behind, fixtures.ahead] {
      try await fixture.add(ids: "a", "b", "c")
      _ = try await fixture.service.unbookmark(hotelID("b"), in: fixture.user, as: .server)
      let base = try await fixture.put("note", #"{"n":1}"#)
      try await fixture.put("note", #"{"n":2}"#, base: base)
    }
    for id in ["a", "b", "c", "note", "bookmarkedhotels"] {
      let tree = try #require(try await fixtures.behind.tree(id))
      #expect(try await fixtures.ahead.tree(id) == tree)
    }
  }

  @Test(.bug(id: "Y02")) func laterEditCountsWhateverTheClocksSay() async throws {
    let (behind, ahead) = try fixtures()
    try await ahead.add(ids: "a", "b")
    try await ahead.put("note", #"{"n":1}"#)
    for id in ["a", "b", "note", "bookmarkedhotels"] {
      try await bring(id, from: ahead, to: behind)
    }
    // This edit is later, although its clock shows a time half a century earlier.
    let base = try #require(try await behind.document("note")?.revision)
    let edit = try await behind.put("note", #"{"n":2}"#, base: base)
    _ = try await behind.service.unbookmark(hotelID("a"), in: behind.user, as: .server)
    try await behind.add(ids: "c")
    for id in ["a", "b", "c", "note", "bookmarkedhotels"] {
      try await bring(id, from: behind, to: ahead)
    }
    #expect(try await ahead.document("note")?.revision == edit)
    #expect(try await ahead.tree("note")?.conflicts.isEmpty == true)
    #expect(try await ahead.ids() == ["c", "b"])
    #expect(try await ahead.ids() == behind.ids())
  }

  /// If both sides have edited, the revisions decide, in whatever direction they are copied.
  @Test(.bug(id: "Y02")) func conflictsHaveTheSameWinnerOnBothSides() async throws {
    let (behind, ahead) = try fixtures()
    try await behind.put("note", #"{"of":"behind"}"#)
    try await ahead.put("note", #"{"of":"ahead"}"#)
    try await behind.add(ids: "a")
    try await ahead.add(ids: "b")
    for id in ["note", "a", "bookmarkedhotels"] { try await bring(id, from: behind, to: ahead) }
    for id in ["note", "b", "bookmarkedhotels"] { try await bring(id, from: ahead, to: behind) }
    let winner = try #require(try await behind.document("note")?.revision)
    #expect(try await ahead.document("note")?.revision == winner)
    #expect(try await Set(ahead.ids()) == ["a", "b"])
    #expect(try await behind.service.reconcile(in: behind.user))
    #expect(try await ahead.service.reconcile(in: ahead.user))
    #expect(try await ahead.ids() == behind.ids())
    #expect(try await ahead.listText() == behind.listText())
  }
}
