import Documents
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import Hotels

@Suite struct AdoptionTests {
  private func adopt(_ fixture: HotelFixture) async throws -> Int {
    let adoption = try await fixture.service.adopt(guest: fixture.guest, into: fixture.user)
    #expect(adoption.isWhole)
    return adoption.bookmarks
  }

  @Test func guestsBookmarksComeAfterTheUsersOwnByteForByteAndWithTheirTimes() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(#"{"id":"g1","n":1.0,"x":"\u0041"}"#, in: fixture.guest)
    let made = fixture.clock.now
    fixture.clock.advance(seconds: 100)
    try await fixture.add(ids: "g2", in: fixture.guest)
    try await fixture.add(ids: "u1", "u2")
    fixture.clock.advance(seconds: 100)
    #expect(try await adopt(fixture) == 2)
    #expect(try await fixture.ids() == ["g2", "g1", "u2", "u1"])
    let first = try #require(try await fixture.service.bookmark(hotelID("g1"), in: fixture.user))
    #expect(first.hotel.text == #"{"id":"g1","n":1.0,"x":"\u0041","type":"hotel"}"#)
    #expect(first.bookmarkedAt == made)
    #expect(try await fixture.ids(in: fixture.guest) == ["g2", "g1"])
  }

  @Test func whatTheUserHasBookmarkedStaysTheUsers() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(#"{"id":"h","of":"guest"}"#, in: fixture.guest)
    try await fixture.add(ids: "note", in: fixture.guest)
    try await fixture.add(#"{"id":"h","of":"user"}"#)
    try await fixture.put("note", #"{"type":"note"}"#)
    #expect(try await adopt(fixture) == 0)
    let bookmark = try await fixture.service.bookmark(hotelID("h"), in: fixture.user)
    #expect(bookmark?.hotel.text == #"{"id":"h","of":"user","type":"hotel"}"#)
    #expect(try await fixture.ids() == ["h"])
    #expect(try await fixture.document("note")?.body.text == #"{"type":"note"}"#)
  }

  /// Members of the list's document that an app has added. The account's own stay.
  @Test(arguments: [true, false])
  func otherMembersOfTheGuestsListComeAndAnUndoRemovesThem(isNewcomer: Bool) async throws {
    let fixture = try HotelFixture()
    let guest = try #require(AccountID(String(repeating: "b", count: 32)))
    try await fixture.put("g", #"{"type":"hotel","id":"g"}"#, in: fixture.guest)
    let list = #"{"type":"bookmarkedhotels","name":"Rome","colour":1e1,"hotels":["g"],"by":"x"}"#
    try await fixture.put("bookmarkedhotels", list, in: fixture.guest)
    let own = #"{"type":"bookmarkedhotels","hotels":["u"],"name":"Own"}"#
    if !isNewcomer { try await fixture.put("bookmarkedhotels", own) }
    _ = try await adopt(fixture)
    let (came, former) =
      isNewcomer
      ? (
        #"{"name":"Rome","colour":1e1,"by":"x","type":"bookmarkedhotels","hotels":["g"]}"#,
        #"{"by":"me","type":"bookmarkedhotels","hotels":[]}"#
      )
      : (
        #"{"type":"bookmarkedhotels","hotels":["u","g"],"name":"Own","colour":1e1,"by":"x"}"#,
        #"{"type":"bookmarkedhotels","hotels":["u"],"name":"Own","by":"me"}"#
      )
    #expect(try await fixture.listText() == came)
    // What has changed since stays.
    let base = try await fixture.document("bookmarkedhotels")?.revision
    try await fixture.put(
      "bookmarkedhotels", came.replacing(#""by":"x""#, with: #""by":"me""#), base: base)
    try await fixture.service.undoAdoption(of: guest, in: fixture.user, as: .server)
    #expect(try await fixture.listText() == former)
  }

  @Test func secondAdoptionIsNothing() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a", "b", in: fixture.guest)
    #expect(try await adopt(fixture) == 2)
    _ = try await fixture.service.unbookmark(hotelID("a"), in: fixture.user, as: .server)
    try await fixture.add(ids: "c", in: fixture.guest)
    let state = try await fixture.info()
    #expect(try await adopt(fixture) == 0)
    #expect(try await fixture.info() == state)
    #expect(try await fixture.ids() == ["b"])
  }

  @Test func concurrentAdoptionsAreOne() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a", "b", "c", in: fixture.guest)
    let counts = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<8 { group.addTask { try await adopt(fixture) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(counts.reduce(0, +) == 3)
    #expect(counts.count { $0 > 0 } == 1)
    #expect(try await fixture.ids() == ["c", "b", "a"])
  }

  @Test func guestWhoNeverWroteBringsNothing() async throws {
    let fixture = try HotelFixture()
    #expect(try await adopt(fixture) == 0)
    await #expect(throws: ServiceError.self) { try await fixture.info() }
  }

  @Test func unbookmarkedHotelGoesOnFromTheUsersTombstone() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "h")
    _ = try await fixture.service.unbookmark(hotelID("h"), in: fixture.user, as: .server)
    try await fixture.add(ids: "h", in: fixture.guest)
    #expect(try await adopt(fixture) == 1)
    #expect(try await fixture.document("h")?.revision.generation == 3)
  }

  @Test func otherDocumentsComeWithTheirHistory() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "h", in: fixture.guest)
    let first = try await fixture.put("note", #"{"n":1}"#, in: fixture.guest)
    let second = try await fixture.put("note", #"{"n":2}"#, base: first, in: fixture.guest)
    try await fixture.graft("note", ["2-0", first.description], #"{"n":3}"#, in: fixture.guest)
    try await fixture.put("hotel_9", #"{"type":"hotel","id":"hotel_9"}"#, in: fixture.guest)
    let gone = try await fixture.put("gone", "{}", in: fixture.guest)
    try await fixture.graft(
      "gone", ["2-f", gone.description], "{}", isDeleted: true, in: fixture.guest)
    #expect(try await adopt(fixture) == 1)
    let note = try await fixture.document("note")
    #expect(note?.revision == second)
    #expect(note?.body.text == #"{"n":2}"#)
    #expect(try await fixture.tree("note")?.conflicts.map(\.description) == ["2-0"])
    #expect(try await fixture.text("note", "2-0") == #"{"n":3}"#)
    #expect(try await fixture.document("hotel_9") != nil)
    #expect(try await fixture.document("gone") == nil)
    #expect(try await fixture.ids() == ["h"])
  }

  /// Regression: ids on the guest's list without a hotel, and conflicting revisions of a bookmark, were lost.
  @Test(arguments: [0, PreparedList.shortCount])
  func whatIsListedComesWithoutItsHotelAndWithItsConflicts(further: Int) async throws {
    let fixture = try HotelFixture()
    let more = (0..<further).map { "x\($0)" }
    let listed = (["early", "h", "both", "last"] + more).map { "\"\($0)\"" }.joined(separator: ",")
    try await fixture.put(
      "bookmarkedhotels", #"{"type":"bookmarkedhotels","hotels":[\#(listed),"c"]}"#,
      in: fixture.guest)
    try await fixture.put("h", #"{"type":"hotel","of":"h"}"#, in: fixture.guest)
    for leaf in ["2-a", "2-b"] {
      try await fixture.graft(
        "c", [leaf, "1-c"], #"{"type":"hotel","of":"\#(leaf)"}"#, in: fixture.guest)
    }
    try await fixture.put(
      "bookmarkedhotels", #"{"type":"bookmarkedhotels","hotels":["both","own"]}"#)
    #expect(try await adopt(fixture) == 1)
    let ids = ["both", "own", "early", "h", "last"] + more + ["c"]
    let list = try BookmarkList(parsing: Array(#require(try await fixture.listText()).utf8))
    #expect(list.hotels.map(\.text) == ids)
    // A page has the hotels of 200 ids of the list.
    #expect(try await fixture.ids() == (further == 0 ? ["c", "h"] : ["c"]))
    for leaf in ["2-a", "2-b"] {
      #expect(try await fixture.text("c", leaf) == #"{"type":"hotel","of":"\#(leaf)"}"#)
    }
    // The undo leaves what the user had, and a hotel that has arrived since.
    try await fixture.put("early", #"{"type":"hotel"}"#)
    guard case .guest(let guest) = fixture.guest else { return }
    try await fixture.service.undoAdoption(of: guest, in: fixture.user, as: .server)
    let left = try BookmarkList(parsing: Array(#require(try await fixture.listText()).utf8))
    #expect(left.hotels.map(\.text) == ["both", "own", "early"])
    #expect(try await fixture.ids() == ["early"])
  }

  /// The leaves of the user's document, its own and the guest's.
  private func leaves(_ fixture: HotelFixture) async throws -> Set<String> {
    Set(try await fixture.tree("note")?.leaves.map(\.revision.description) ?? [])
  }

  /// Regression: conflicting revisions delayed the bookmarks as well.
  @Test func revisionsThatDontFitHoldNothingUpAndComeLater() async throws {
    let fixture = try HotelFixture()
    let maximum = HistoryLimits.standard.liveLeaves
    let guests = Set((0..<maximum).map { "2-g\($0)" })
    for revision in guests {
      try await fixture.graft(
        "note", [revision, "1-g"], #"{"of":"\#(revision)"}"#, in: fixture.guest)
    }
    try await fixture.put("plain", #"{"x":1}"#, in: fixture.guest)
    try await fixture.add(ids: "h", in: fixture.guest)
    let own = ["1-u1", "1-u2", "1-u3"]
    for revision in own { try await fixture.graft("note", [revision], #"{"of":"user"}"#) }
    let first = try await fixture.service.adopt(guest: fixture.guest, into: fixture.user)
    #expect(first == Adoption(bookmarks: 1, isWhole: false))
    #expect(try await fixture.ids() == ["h"])
    #expect(try await fixture.document("plain") != nil)
    let winner = try #require(try await fixture.tree("note", in: fixture.guest)?.winner?.revision)
    var known = try await leaves(fixture)
    #expect(known.count == maximum)
    #expect(known.isSuperset(of: own) && known.contains(winner.description))
    // Without a change, another adoption copies nothing and writes nothing.
    let state = try await fixture.info()
    #expect(
      try await fixture.service.adopt(guest: fixture.guest, into: fixture.user)
        == Adoption(bookmarks: 0, isWhole: false))
    #expect(try await fixture.info() == state)
    // After the user resolves conflicts, there is space for more revisions. The resolved ones are not copied again.
    try await resolve(fixture, own[0])
    try await resolve(fixture, winner.description)
    let second = try await fixture.service.adopt(guest: fixture.guest, into: fixture.user)
    #expect(second == Adoption(bookmarks: 0, isWhole: false))
    known.formUnion(try await leaves(fixture))
    #expect(known.intersection(guests).count == maximum - 1)
    try await resolve(fixture, own[1])
    #expect(try await adopt(fixture) == 0)
    known.formUnion(try await leaves(fixture))
    #expect(known.isSuperset(of: guests))
    for revision in guests where revision != winner.description {
      #expect(try await fixture.text("note", revision) == #"{"of":"\#(revision)"}"#)
    }
    // All revisions were copied. Another adoption copies none again, not even a purged one.
    let purged = try #require(try await fixture.tree("note")?.winner?.revision)
    try await fixture.stores.withStore(fixture.user) { store in
      let note = DocumentID(stored: "note")
      try await store.update(loading: [note]) { changes in
        let tree = try changes.tree(note) ?? RevisionTree()
        changes.purge(Purge(id: note, tree: tree.purging([purged])))
      }
    }
    #expect(try await adopt(fixture) == 0)
    #expect(try await fixture.tree("note")?[purged] == nil)
  }

  /// If the user's document is full, the guest's winner waits, too. The bookmarks are still copied.
  @Test func fullDocumentOfTheUsersTakesNoWinner() async throws {
    let fixture = try HotelFixture()
    for number in 0..<HistoryLimits.standard.liveLeaves {
      try await fixture.graft("note", ["1-u\(number)"], #"{"of":"user"}"#)
    }
    let guests = try await fixture.put("note", #"{"of":"guest"}"#, in: fixture.guest)
    try await fixture.add(ids: "h", in: fixture.guest)
    for count in [1, 0] {
      #expect(
        try await fixture.service.adopt(guest: fixture.guest, into: fixture.user)
          == Adoption(bookmarks: count, isWhole: false))
    }
    #expect(try await fixture.tree("note")?[guests] == nil)
    try await resolve(fixture, "1-u7")
    #expect(try await adopt(fixture) == 0)
    #expect(try await fixture.text("note", guests.description) == #"{"of":"guest"}"#)
  }

  @Test func receiptWithoutWaitingRevisionsMeansAll() {
    let whole = AdoptionReceipt(LocalDocument(revision: 1, body: Array(#"{"adopted":3}"#.utf8)))
    #expect(whole == AdoptionReceipt(bookmarks: 3, waiting: []))
    let reference = AdoptionReceipt.Reference(
      id: DocumentID(stored: "a/\"é"), revision: RevisionID(generation: 2, digest: "x"))
    for waiting in [nil, [], [reference]] as [Set<AdoptionReceipt.Reference>?] {
      let receipt = AdoptionReceipt(bookmarks: 7, waiting: waiting)
      #expect(AdoptionReceipt(LocalDocument(revision: 1, body: receipt.body)) == receipt)
    }
    #expect(AdoptionReceipt(LocalDocument(revision: 1, body: Array("x".utf8))).waiting == nil)
  }

  /// Puts a tombstone on one of the user's leaves.
  private func resolve(_ fixture: HotelFixture, _ leaf: String) async throws {
    let leaf = try RevisionID(leaf)
    try await fixture.stores.withStore(fixture.user) { store in
      _ = try await store.delete(DocumentID(stored: "note"), base: leaf)
    }
  }

  @Test func documentsOfTheSameIDAreConflicts() async throws {
    let fixture = try HotelFixture()
    let own = try await fixture.put("note", #"{"of":"user"}"#)
    let guests = try await fixture.put("note", #"{"of":"guest"}"#, in: fixture.guest)
    #expect(try await adopt(fixture) == 0)
    let leaves = try await fixture.tree("note")?.leaves.map(\.revision)
    #expect(Set(leaves ?? []) == [own, guests])
    let state = try await fixture.info()
    #expect(try await adopt(fixture) == 0)
    #expect(try await fixture.info() == state)
  }
}
