import Documents
import Hotels
import StoreTesting
import Stores
import TestSupport
import Testing

/// How the restore of an earlier revision changes the document and the bookmarks.
@Suite struct RestoreTests {
  private func restore(
    _ id: String, _ revision: RevisionID, base: RevisionID? = nil,
    condition: RevisionCondition = .none, in fixture: HotelFixture
  ) async throws -> RestoreOutcome {
    try await fixture.service.restore(
      RestoreRequest(revision: revision, base: base), of: DocumentID(stored: id),
      in: fixture.user, condition: condition, as: .server)
  }

  private func code(
    _ id: String, _ revision: String, base: String? = nil,
    condition: RevisionCondition = .none, in fixture: HotelFixture
  ) async -> ServiceError.Code? {
    await HotelsTests.code {
      _ = try await restore(
        id, RevisionID(revision), base: base.map { try RevisionID($0) }, condition: condition,
        in: fixture)
    }
  }

  private func revision(_ id: String, _ fixture: HotelFixture) async throws -> RevisionID {
    try #require(try await fixture.document(id)?.revision)
  }

  @Test func earlierRevisionComesBackAsANewOneByteForByte() async throws {
    let fixture = try HotelFixture()
    let first = try await fixture.put("note", #"{"n":1.0,"s":"\u0041"}"#)
    let second = try await fixture.put("note", #"{"n":2}"#, base: first)
    let outcome = try await restore("note", first, in: fixture)
    let document = try #require(try await fixture.document("note"))
    #expect(document.body.text == #"{"n":1.0,"s":"\u0041"}"#)
    #expect(document.revision == outcome.revision)
    #expect(!outcome.isDeleted && outcome.missing.isEmpty)
    let history = try await fixture.tree("note")?.history(of: outcome.revision)
    #expect(history == [outcome.revision, second, first])
    let back = try await restore("note", second, in: fixture)
    #expect(back.revision.generation == 4)
    #expect(try await fixture.document("note")?.body.text == #"{"n":2}"#)
  }

  @Test func restoringTwiceWritesOnce() async throws {
    let fixture = try HotelFixture()
    let first = try await fixture.put("note", #"{"n":1}"#)
    try await fixture.put("note", #"{"n":2}"#, base: first)
    let outcome = try await restore("note", first, in: fixture)
    let state = try await fixture.info()
    #expect(try await restore("note", first, in: fixture) == outcome)
    #expect(try await restore("note", outcome.revision, in: fixture) == outcome)
    #expect(try await fixture.info() == state)
  }

  @Test(arguments: [2, 100]) func conflictingRevisionsGoToTheHistory(leaves: Int) async throws {
    let fixture = try HotelFixture()
    for leaf in 0..<leaves {
      try await fixture.graft("note", ["2-x\(leaf)", "1-a"], #"{"leaf":\#(leaf)}"#)
    }
    try await fixture.graft("note", ["3-won", "2-w", "1-a"], #"{"leaf":"winner"}"#)
    let loser = try RevisionID("2-x1")
    let outcome = try await restore("note", loser, in: fixture)
    let tree = try #require(try await fixture.tree("note"))
    #expect(tree.conflicts.isEmpty)
    #expect(tree.winner?.revision == outcome.revision)
    #expect(try await fixture.document("note")?.body.text == #"{"leaf":1}"#)
    #expect(try await fixture.text("note", "2-x0") == #"{"leaf":0}"#)
  }

  @Test func changedHotelKeepsItsPlaceAndTime() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(#"{"id":"a","n":1}"#)
    let (first, made) = (try await revision("a", fixture), fixture.clock.now)
    fixture.clock.advance(seconds: 60)
    try await fixture.add(ids: "b")
    try await fixture.add(#"{"id":"a","n":2}"#)
    _ = try await restore("a", first, in: fixture)
    let bookmark = try await fixture.service.bookmark(hotelID("a"), in: fixture.user)
    #expect(bookmark?.hotel.text.contains(#""n":1"#) == true)
    #expect(bookmark?.bookmarkedAt == made)
    #expect(try await fixture.ids() == ["b", "a"])
  }

  @Test func unbookmarkedHotelIsBookmarkedAgainAsTheNewest() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(#"{"id":"a","n":1}"#)
    let first = try await revision("a", fixture)
    try await fixture.add(ids: "b")
    _ = try await fixture.service.unbookmark(hotelID("a"), in: fixture.user, as: .server)
    fixture.clock.advance(seconds: 60)
    let outcome = try await restore("a", first, in: fixture)
    #expect(try await fixture.ids() == ["a", "b"])
    let bookmark = try await fixture.service.bookmark(hotelID("a"), in: fixture.user)
    #expect(bookmark?.revision == outcome.revision)
    #expect(bookmark?.bookmarkedAt == fixture.clock.now)
    #expect(bookmark?.hotel.text.contains(#""n":1"#) == true)
  }

  @Test func whatIsNoHotelAnyMoreLeavesTheList() async throws {
    let fixture = try HotelFixture()
    let note = try await fixture.put("a", #"{"type":"note"}"#)
    try await fixture.put("a", #"{"type":"hotel","id":"a"}"#, base: note)
    _ = try await fixture.service.bookmark(
      HotelAddition(known: hotelID("a")), in: fixture.user, as: .server)
    try await fixture.add(ids: "b")
    #expect(try await fixture.ids() == ["b", "a"])
    _ = try await restore("a", note, in: fixture)
    #expect(try await fixture.listText()?.contains(#""hotels":["b"]"#) == true)
    #expect(try await fixture.document("a")?.body.text == #"{"type":"note"}"#)
  }

  @Test func restoredDeletionDeletesAndUnbookmarks() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a", "b")
    let gone = try await fixture.service.unbookmark(hotelID("a"), in: fixture.user, as: .server)
    let tombstone = try #require(gone)
    try await fixture.add(ids: "a")
    let outcome = try await restore("a", tombstone, in: fixture)
    #expect(outcome.isDeleted)
    #expect(try await fixture.document("a")?.isDeleted == true)
    #expect(try await revision("a", fixture) == outcome.revision)
    #expect(try await fixture.listText()?.contains(#""hotels":["b"]"#) == true)
    let state = try await fixture.info()
    #expect(try await restore("a", tombstone, in: fixture) == outcome)
    #expect(try await fixture.info() == state)
  }

  /// Restoring the tombstone with which a merge ends a branch deleted the document.
  @Test func anEndedBranchDeletesNothing() async throws {
    let fixture = try HotelFixture()
    let list = try #require(AccountID(String(repeating: "c", count: 32)))
    let (id, tombstone) = (list.text, try RevisionID("3-closed"))
    let cases: [(StoreName, ServiceError.Code)] = [
      (.list(list), .forbidden), (fixture.user, .conflict),
    ]
    for (name, refusal) in cases {
      try await fixture.graft(id, ["1-a"], #"{"type":"wiki","title":"Rome"}"#, in: name)
      let won = ["3-won", "2-w", "1-a"]
      try await fixture.graft(id, won, #"{"type":"wiki","title":"Oslo"}"#, in: name)
      try await fixture.graft(id, ["3-closed", "2-x", "1-a"], "{}", isDeleted: true, in: name)
      let restore = { (revision: RevisionID) in
        try await fixture.service.restore(
          RestoreRequest(revision: revision), of: DocumentID(stored: id), in: name, as: .server)
      }
      let code = await HotelsTests.code { _ = try await restore(tombstone) }
      #expect(code == refusal)
      #expect(try await fixture.document(id, in: name)?.isDeleted == false)
      let text = try await restore(RevisionID("1-a"))
      #expect(!text.isDeleted)
      #expect(try await fixture.document(id, in: name)?.body.text.contains("Rome") == true)
    }
  }

  @Test func whatCanNotComeBackIsRefused() async throws {
    let fixture = try HotelFixture()
    #expect(await code("note", "1-a", in: fixture) == .absent)
    var revisions: [RevisionID] = []
    for number in 0..<StoreLimits.storedAncestors + 3 {
      revisions.append(
        try await fixture.put("note", #"{"n":\#(number)}"#, base: revisions.last))
    }
    let (old, last) = (revisions[0].description, revisions[revisions.count - 1])
    #expect(await code("note", old, in: fixture) == .missing)
    #expect(await code("note", "1-unknown", in: fixture) == .missing)
    #expect(await code("other", "1-a", in: fixture) == .missing)
    #expect(await code("_design/views", "1-a", in: fixture) == .forbidden)
    let (recent, stale) = (revisions[10].description, revisions[11])
    #expect(await code("note", recent, base: stale.description, in: fixture) == .conflict)
    for condition in [RevisionCondition.matches([stale]), .matches([]), .absent] {
      #expect(await code("note", recent, condition: condition, in: fixture) == .precondition)
    }
    #expect(try await revision("note", fixture) == last)
    for condition in [RevisionCondition.matches([stale, last]), .exists] {
      let base = try await revision("note", fixture)
      let isMet = condition == .exists || base == last
      #expect(
        await code("note", recent, base: base.description, condition: condition, in: fixture)
          == (isMet ? nil : .precondition))
    }
  }

  @Test func conditionsHoldForATombstoneToo() async throws {
    let fixture = try HotelFixture()
    let first = try await fixture.put("note", #"{"n":1}"#)
    let gone = try await fixture.stores.withExisting(fixture.user) { store in
      try await store.delete(DocumentID(stored: "note"), base: first)
    }
    let text = first.description
    #expect(await code("note", text, condition: .exists, in: fixture) == .precondition)
    #expect(await code("note", text, condition: .matches([first]), in: fixture) == .precondition)
    #expect(await code("note", text, condition: .matches([gone]), in: fixture) == nil)
    #expect(await code("note", text, condition: .absent, in: fixture) == .precondition)
  }
}
