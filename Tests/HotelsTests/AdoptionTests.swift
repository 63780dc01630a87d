import Documents
import Hotels
import Stores
import Testing

@Suite struct AdoptionTests {
  private func adopt(_ hall: Hall) async throws -> Int {
    try await hall.service.adopt(guest: hall.guest, into: hall.user)
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
