import Documents
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import Hotels

/// The undo of an adoption removes what came from the guest, and nothing else.
@Suite struct AdoptionUndoTests {
  private func adopt(_ fixture: HotelFixture) async throws {
    _ = try await fixture.service.adopt(guest: fixture.guest, into: fixture.user)
  }

  private func guest(_ fixture: HotelFixture) throws -> AccountID {
    guard case .guest(let id) = fixture.guest else { throw ServiceError.absent }
    return id
  }

  private func undo(_ fixture: HotelFixture) async throws {
    try await fixture.service.undoAdoption(of: guest(fixture), in: fixture.user, as: .server)
  }

  /// All live documents of the user except the list.
  private func documents(_ fixture: HotelFixture) async throws -> [String] {
    try await fixture.stores.withExisting(fixture.user) { store in
      try await store.read { view in
        var found: [String] = []
        try view.documents(DocumentRange()) { document in
          if document.id != BookmarkList.documentID { found.append(document.id.text) }
          return true
        }
        return found
      }
    }
  }

  private func bodyBytes(_ id: String, _ fixture: HotelFixture) async throws -> Int64 {
    try await fixture.stores.withExisting(fixture.user) { store in
      try await store.read { view in try view.storedBytes(of: DocumentID(stored: id)) }
    }
  }

  @Test func newAccountIsEmptyAgain() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a", "b", in: fixture.guest)
    let note = try await fixture.put("note", #"{"n":1}"#, in: fixture.guest)
    try await fixture.graft("note", ["1-00"], #"{"n":2}"#, in: fixture.guest)
    try await adopt(fixture)
    #expect(try await documents(fixture) == ["a", "b", "note"])
    try await undo(fixture)
    #expect(try await fixture.ids() == [])
    #expect(try await documents(fixture) == [])
    #expect(try await fixture.listText()?.contains(#""hotels":[]"#) == true)
    // No content is kept, only tombstones of two bytes each.
    #expect(try await bodyBytes("a", fixture) == 2)
    #expect(try await bodyBytes("note", fixture) == 4)
    #expect(try await fixture.text("note", note.description) == nil)
  }

  @Test func accountFromBeforeIsWhatItWas() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "mine", "both")
    let own = try await fixture.put("note", #"{"of":"user"}"#)
    try await fixture.put("hotel", #"{"type":"hotel","id":"hotel"}"#)
    try await fixture.add(ids: "both", "theirs", "hotel", in: fixture.guest)
    try await fixture.put("note", #"{"of":"guest"}"#, in: fixture.guest)
    try await adopt(fixture)
    #expect(try await fixture.ids() == ["hotel", "theirs", "both", "mine"])
    try await undo(fixture)
    #expect(try await fixture.ids() == ["both", "mine"])
    #expect(try await documents(fixture) == ["both", "hotel", "mine", "note"])
    let note = try #require(try await fixture.tree("note"))
    #expect(note.liveLeaves.map(\.revision) == [own])
  }

  @Test func laterEditsAreKept() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a", "b", "c", in: fixture.guest)
    let note = try await fixture.put("note", #"{"n":1}"#, in: fixture.guest)
    try await adopt(fixture)
    try await fixture.add(#"{"id":"a","mine":true}"#)
    _ = try await fixture.service.unbookmark(hotelID("b"), in: fixture.user, as: .server)
    try await fixture.add(ids: "d")
    try await fixture.put("note", #"{"n":2}"#, base: note)
    try await undo(fixture)
    #expect(try await fixture.ids() == ["d", "a"])
    #expect(try await documents(fixture) == ["a", "d", "note"])
    // The document came from the guest, although the user deleted it.
    #expect(try await bodyBytes("b", fixture) == 2)
  }

  @Test func whatIsUndoneNeverComesAgain() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a", in: fixture.guest)
    try await adopt(fixture)
    try await undo(fixture)
    let state = try await fixture.info()
    try await adopt(fixture)
    try await undo(fixture)
    #expect(try await fixture.info() == state)
    #expect(try await fixture.service.adoptions(in: fixture.user) == [])
  }

  @Test(arguments: [-1, 0]) func undoneIsWhatIsYoungerThanADay(seconds: Int64) async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a", in: fixture.guest)
    let time = fixture.clock.now
    try await adopt(fixture)
    fixture.clock.advance(seconds: BookmarkLimits.undoSeconds + seconds)
    let isYoung = seconds < 0
    let listed = try await fixture.service.adoptions(in: fixture.user)
    #expect(listed.count == (isYoung ? 1 : 0))
    for adoption in listed {
      #expect(try adoption.guest == guest(fixture))
      #expect(adoption.bookmarks == 1 && adoption.time == time && adoption.differing.isEmpty)
      #expect(adoption.undoableUntil == time.adding(seconds: BookmarkLimits.undoSeconds))
    }
    #expect(await code { try await undo(fixture) } == (isYoung ? nil : .undoOver))
    #expect(try await fixture.ids() == (isYoung ? [] : ["a"]))
  }

  @Test func nothingCameFromAStranger() async throws {
    let fixture = try HotelFixture()
    #expect(await code { try await undo(fixture) } == .missing)
    try await fixture.add(ids: "mine")
    #expect(await code { try await undo(fixture) } == .missing)
    #expect(try await fixture.service.adoptions(in: fixture.user) == [])
  }

  /// More revisions than one step removes.
  @Test func manyRevisionsGoInSteps() async throws {
    let fixture = try HotelFixture()
    for number in 0..<450 {
      try await fixture.graft(
        "note", ["1-g\(number)"], #"{"n":\#(number)}"#, in: fixture.guest)
    }
    try await fixture.add(ids: "a", in: fixture.guest)
    try await adopt(fixture)
    try await undo(fixture)
    #expect(try await documents(fixture) == [])
    #expect(try await fixture.tree("note")?.liveLeaves.isEmpty == true)
    #expect(try await bodyBytes("note", fixture) == 450 * 2)
  }

  @Test func receiptSaysWhatCameAndAnOlderOneCanNotBeUndone() async throws {
    let reference = AdoptionReceipt.Reference(
      id: DocumentID(stored: "a/\"é"), revision: RevisionID(generation: 2, digest: "x"))
    var receipt = AdoptionReceipt(bookmarks: 7, waiting: [])
    (receipt.time, receipt.isUndone) = (Timestamp(milliseconds: 17), true)
    receipt.add([.init(reference: reference), .init(reference: reference, isListedOnly: true)])
    #expect(AdoptionReceipt(LocalDocument(revision: 1, body: receipt.body)) == receipt)
    receipt.add(
      Array(repeating: .init(reference: reference), count: BookmarkLimits.undoneRevisions - 1))
    #expect(receipt.time == nil && receipt.came.isEmpty)
    let fixture = try HotelFixture()
    let id = LocalID(receipt: fixture.guest.key)
    let note = LocalDocument(revision: 1, body: Array(#"{"adopted":3}"#.utf8))
    try await fixture.stores.withStore(fixture.user) { store in
      try await store.update { changes in changes.write(LocalEdit(id, note)) }
    }
    #expect(await code { try await undo(fixture) } == .undoOver)
  }
}
