import Documents
import Stores
import Testing

@testable import Hotels

@Suite struct AdoptionTests {
  private func adopt(_ hall: Hall) async throws -> Int {
    let adoption = try await hall.service.adopt(guest: hall.guest, into: hall.user)
    #expect(adoption.isWhole)
    return adoption.bookmarks
  }

  @Test func guestsBookmarksComeAfterTheUsersOwnByteForByteAndWithTheirTimes() async throws {
    let hall = try Hall()
    try await hall.add(#"{"id":"g1","n":1.0,"x":"\u0041"}"#, in: hall.guest)
    let made = hall.clock.now
    hall.clock.turn(bySeconds: 100)
    try await hall.add(ids: "g2", in: hall.guest)
    try await hall.add(ids: "u1", "u2")
    hall.clock.turn(bySeconds: 100)
    #expect(try await adopt(hall) == 2)
    #expect(try await hall.ids() == ["g2", "g1", "u2", "u1"])
    let first = try #require(try await hall.service.bookmark(hotelID("g1"), in: hall.user))
    #expect(first.hotel.text == #"{"id":"g1","n":1.0,"x":"\u0041","type":"hotel"}"#)
    #expect(first.bookmarkedAt == made)
    #expect(try await hall.ids(in: hall.guest) == ["g2", "g1"])
  }

  @Test func whatTheUserHasBookmarkedStaysTheUsers() async throws {
    let hall = try Hall()
    try await hall.add(#"{"id":"h","of":"guest"}"#, in: hall.guest)
    try await hall.add(ids: "note", in: hall.guest)
    try await hall.add(#"{"id":"h","of":"user"}"#)
    try await hall.put("note", #"{"type":"note"}"#)
    #expect(try await adopt(hall) == 0)
    let bookmark = try await hall.service.bookmark(hotelID("h"), in: hall.user)
    #expect(bookmark?.hotel.text.contains("user") == true)
    #expect(bookmark?.revision.generation == 1)
    #expect(try await hall.ids() == ["h"])
  }

  @Test func secondAdoptionIsNothing() async throws {
    let hall = try Hall()
    try await hall.add(ids: "a", "b", in: hall.guest)
    #expect(try await adopt(hall) == 2)
    _ = try await hall.service.unbookmark(hotelID("a"), in: hall.user)
    try await hall.add(ids: "c", in: hall.guest)
    let state = try await hall.info()
    #expect(try await adopt(hall) == 0)
    #expect(try await hall.info() == state)
    #expect(try await hall.ids() == ["b"])
  }

  @Test func concurrentAdoptionsAreOne() async throws {
    let hall = try Hall()
    try await hall.add(ids: "a", "b", "c", in: hall.guest)
    let counts = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<8 { group.addTask { try await adopt(hall) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(counts.reduce(0, +) == 3)
    #expect(counts.count { $0 > 0 } == 1)
    #expect(try await hall.ids() == ["c", "b", "a"])
  }

  @Test func guestWhoNeverWroteBringsNothing() async throws {
    let hall = try Hall()
    #expect(try await adopt(hall) == 0)
    await #expect(throws: StoreError.self) { try await hall.info() }
  }

  @Test func unbookmarkedHotelGoesOnFromTheUsersTombstone() async throws {
    let hall = try Hall()
    try await hall.add(ids: "h")
    _ = try await hall.service.unbookmark(hotelID("h"), in: hall.user)
    try await hall.add(ids: "h", in: hall.guest)
    #expect(try await adopt(hall) == 1)
    #expect(try await hall.document("h")?.revision.generation == 3)
  }

  @Test func otherDocumentsComeWithTheirHistory() async throws {
    let hall = try Hall()
    try await hall.add(ids: "h", in: hall.guest)
    let first = try await hall.put("note", #"{"n":1}"#, in: hall.guest)
    let second = try await hall.put("note", #"{"n":2}"#, base: first, in: hall.guest)
    try await hall.graft("note", ["2-0", first.description], #"{"n":3}"#, in: hall.guest)
    try await hall.put("hotel_9", #"{"type":"hotel","id":"hotel_9"}"#, in: hall.guest)
    let gone = try await hall.put("gone", "{}", in: hall.guest)
    try await hall.graft(
      "gone", ["2-f", gone.description], "{}", isDeleted: true, in: hall.guest)
    #expect(try await adopt(hall) == 1)
    let note = try await hall.document("note")
    #expect(note?.revision == second)
    #expect(note?.body.text == #"{"n":2}"#)
    #expect(try await hall.tree("note")?.conflicts.map(\.description) == ["2-0"])
    #expect(try await hall.text("note", "2-0") == #"{"n":3}"#)
    #expect(try await hall.document("hotel_9") != nil)
    #expect(try await hall.document("gone") == nil)
    #expect(try await hall.ids() == ["h"])
  }

  /// Leaves that the user's document has beside those it knows of the guest's.
  private func leaves(_ hall: Hall) async throws -> Set<String> {
    Set(try await hall.tree("note")?.leaves.map(\.revision.description) ?? [])
  }

  /// Conflicting revisions used to hold up the bookmarks with them.
  @Test func revisionsThatDontFitHoldNothingUpAndComeLater() async throws {
    let hall = try Hall()
    let maximum = HistoryLimits.standard.liveLeaves
    let guests = Set((0..<maximum).map { "2-g\($0)" })
    for revision in guests {
      try await hall.graft("note", [revision, "1-g"], #"{"of":"\#(revision)"}"#, in: hall.guest)
    }
    try await hall.put("plain", #"{"x":1}"#, in: hall.guest)
    try await hall.add(ids: "h", in: hall.guest)
    let own = ["1-u1", "1-u2", "1-u3"]
    for revision in own { try await hall.graft("note", [revision], #"{"of":"user"}"#) }
    let first = try await hall.service.adopt(guest: hall.guest, into: hall.user)
    #expect(first == Adoption(bookmarks: 1, isWhole: false))
    #expect(try await hall.ids() == ["h"])
    #expect(try await hall.document("plain") != nil)
    let winner = try #require(try await hall.tree("note", in: hall.guest)?.winner?.revision)
    var known = try await leaves(hall)
    #expect(known.count == maximum)
    #expect(known.isSuperset(of: own) && known.contains(winner.description))
    // Nothing has changed: nothing comes, nothing is written.
    let state = try await hall.info()
    #expect(
      try await hall.service.adopt(guest: hall.guest, into: hall.user)
        == Adoption(bookmarks: 0, isWhole: false))
    #expect(try await hall.info() == state)
    // What the user resolves makes room, and does not come again.
    try await resolve(hall, own[0])
    try await resolve(hall, winner.description)
    let second = try await hall.service.adopt(guest: hall.guest, into: hall.user)
    #expect(second == Adoption(bookmarks: 0, isWhole: false))
    known.formUnion(try await leaves(hall))
    #expect(known.intersection(guests).count == maximum - 1)
    try await resolve(hall, own[1])
    #expect(try await adopt(hall) == 0)
    known.formUnion(try await leaves(hall))
    #expect(known.isSuperset(of: guests))
    for revision in guests where revision != winner.description {
      #expect(try await hall.text("note", revision) == #"{"of":"\#(revision)"}"#)
    }
    // All of it has come: nothing comes again, not even what was purged.
    let purged = try #require(try await hall.tree("note")?.winner?.revision)
    try await hall.stores.withStore(hall.user) { store throws(StoreError) in
      _ = try await store.update([DocumentID(stored: "note")]) { view throws(StoreError) in
        var decision = Decision(value: ())
        let tree = try view.tree(DocumentID(stored: "note")) ?? RevisionTree()
        decision.purges = [Purge(id: DocumentID(stored: "note"), tree: tree.purging([purged]))]
        return decision
      }
    }
    #expect(try await adopt(hall) == 0)
    #expect(try await hall.tree("note")?[purged] == nil)
  }

  /// A winner waits as well where the user's document is full, and bookmarks come all the same.
  @Test func fullDocumentOfTheUsersTakesNoWinner() async throws {
    let hall = try Hall()
    for number in 0..<HistoryLimits.standard.liveLeaves {
      try await hall.graft("note", ["1-u\(number)"], #"{"of":"user"}"#)
    }
    let guests = try await hall.put("note", #"{"of":"guest"}"#, in: hall.guest)
    try await hall.add(ids: "h", in: hall.guest)
    for count in [1, 0] {
      #expect(
        try await hall.service.adopt(guest: hall.guest, into: hall.user)
          == Adoption(bookmarks: count, isWhole: false))
    }
    #expect(try await hall.tree("note")?[guests] == nil)
    try await resolve(hall, "1-u7")
    #expect(try await adopt(hall) == 0)
    #expect(try await hall.text("note", guests.description) == #"{"of":"guest"}"#)
  }

  /// A receipt of before this could happen says that all has come.
  @Test func receiptWithoutWaitingRevisionsMeansAll() {
    let old = AdoptionReceipt(LocalDocument(revision: 1, body: Array(#"{"adopted":3}"#.utf8)))
    #expect(old == AdoptionReceipt(bookmarks: 3, waiting: []))
    let place = AdoptionReceipt.Place(
      id: DocumentID(stored: "a/\"é"), revision: RevisionID(generation: 2, digest: "x"))
    for waiting in [nil, [], [place]] as [Set<AdoptionReceipt.Place>?] {
      let receipt = AdoptionReceipt(bookmarks: 7, waiting: waiting)
      #expect(AdoptionReceipt(LocalDocument(revision: 1, body: receipt.body)) == receipt)
    }
    #expect(AdoptionReceipt(LocalDocument(revision: 1, body: Array("x".utf8))).waiting == nil)
  }

  /// Puts a tombstone on one of the user's leaves.
  private func resolve(_ hall: Hall, _ leaf: String) async throws {
    let leaf = try RevisionID(leaf)
    try await hall.stores.withStore(hall.user) { store throws(StoreError) in
      _ = try await store.delete(DocumentID(stored: "note"), base: leaf)
    }
  }

  @Test func documentsOfTheSameIDAreConflicts() async throws {
    let hall = try Hall()
    let own = try await hall.put("note", #"{"of":"user"}"#)
    let guests = try await hall.put("note", #"{"of":"guest"}"#, in: hall.guest)
    #expect(try await adopt(hall) == 0)
    let leaves = try await hall.tree("note")?.leaves.map(\.revision)
    #expect(Set(leaves ?? []) == [own, guests])
    let state = try await hall.info()
    #expect(try await adopt(hall) == 0)
    #expect(try await hall.info() == state)
  }
}
