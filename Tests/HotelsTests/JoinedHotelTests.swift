import Documents
import Stores
import TestSupport
import Testing

@testable import Hotels

/// Hotels that an account and the guest who joins it have both.
@Suite struct JoinedHotelTests {
  private let fixture: HotelFixture
  private let guest: AccountID

  init() throws {
    fixture = try HotelFixture()
    guest = try #require(AccountID(String(repeating: "b", count: 32)))
  }

  /// Adopts the guest and returns the earlier revisions with the guest's words.
  @discardableResult
  private func adopt(_ claim: String = "first") async throws -> [DifferingHotel] {
    let adoption = try await fixture.service.adopt(
      guest: fixture.guest, into: fixture.user, claim: claim)
    #expect(adoption.isWhole)
    return try await fixture.service.adoption(of: guest, in: fixture.user)?.differing ?? []
  }

  private func undo() async throws {
    try await fixture.service.undoAdoption(of: guest, in: fixture.user, as: .server)
  }

  private func hotel(_ id: String = "h") async throws -> String? {
    try await fixture.document(id)?.body.text
  }

  @Test func memberThatOneSideHasJoins() async throws {
    try await fixture.add(#"{"id":"h","n":1e3,"guestNote":"quiet"}"#, in: fixture.guest)
    try await fixture.add(#"{"id":"h","myNote":"mine","n":1000.0}"#)
    let before = try #require(try await fixture.document("h")?.revision)
    #expect(try await adopt() == [])
    #expect(
      try await hotel()
        == #"{"id":"h","myNote":"mine","n":1000.0,"type":"hotel","guestNote":"quiet"}"#)
    let tree = try #require(try await fixture.tree("h"))
    #expect(tree.nodes.count == 2 && tree.nodes.first?.revision == before)
    #expect(try await fixture.service.adoptions(in: fixture.user).map(\.bookmarks) == [0])
  }

  @Test func whereBothDifferTheAccountsStaysAndTheGuestsHotelCanBeRestored() async throws {
    try await fixture.add(#"{"id":"h","note":"guest's","x":1}"#, in: fixture.guest)
    try await fixture.add(#"{"id":"h","note":"account's"}"#)
    let earlier = try await adopt()
    #expect(earlier.map(\.id) == ["h"])
    #expect(try await hotel() == #"{"id":"h","note":"account's","type":"hotel","x":1}"#)
    let tree = try #require(try await fixture.tree("h"))
    #expect(tree.leaves.count == 1 && tree.nodes.count == 3)
    let revision = try #require(earlier.first?.revision)
    _ = try await fixture.service.restore(
      RestoreRequest(revision: revision), of: DocumentID("h"), in: fixture.user, as: .server)
    #expect(try await hotel() == #"{"id":"h","note":"guest's","x":1,"type":"hotel"}"#)
    #expect(try await fixture.ids() == ["h"])
    // A log-in whose answer was lost is repeated: it names the same, and writes nothing.
    let state = try await fixture.info()
    #expect(try await adopt() == earlier)
    #expect(try await fixture.info() == state)
  }

  @Test func sameHotelInAnotherSpellingChangesNothing() async throws {
    try await fixture.add(#"{"id":"h","n":10.0,"a":{"b":1,"c":2}}"#, in: fixture.guest)
    try await fixture.add(#"{"id":"h","a":{"c":2.0,"b":1e0},"n":1e1,"mine":true}"#)
    let before = try await fixture.document("h")?.revision
    #expect(try await adopt() == [])
    #expect(try await fixture.document("h")?.revision == before)
  }

  @Test func undoRestoresTheAccountsFormerHotelAndForgetsTheGuests() async throws {
    try await fixture.add(#"{"id":"h","note":"guest's","x":1}"#, in: fixture.guest)
    try await fixture.add(#"{"id":"j","guestNote":"quiet"}"#, in: fixture.guest)
    try await fixture.add(#"{"id":"h","note":"first"}"#)
    let first = try #require(try await fixture.document("h")?.revision.description)
    try await fixture.add(#"{"id":"h","note":"account's"}"#)
    try await fixture.add(#"{"id":"j"}"#)
    let (before, other) = (try await hotel(), try await hotel("j"))
    let earlier = try #require(try await adopt().first?.revision)
    let joined = try #require(try await fixture.document("h")?.revision)
    try await undo()
    #expect(try await hotel() == before)
    #expect(try await hotel("j") == other)
    #expect(try await fixture.ids() == ["j", "h"])
    for revision in [earlier, joined] {
      #expect(try await fixture.text("h", revision.description) == nil)
    }
    // The account's own history stays.
    #expect(try await fixture.text("h", first)?.contains("first") == true)
    #expect(try await fixture.service.adoptions(in: fixture.user) == [])
    #expect(try await fixture.ids(in: fixture.guest) == ["j", "h"])
  }

  @Test func whatWasEditedAfterTheLogInStays() async throws {
    try await fixture.add(#"{"id":"h","note":"guest's"}"#, in: fixture.guest)
    try await fixture.add(#"{"id":"h","note":"account's"}"#)
    try await adopt()
    try await fixture.add(#"{"id":"h","note":"later"}"#)
    try await undo()
    #expect(try await hotel()?.contains("later") == true)
    #expect(try await fixture.ids() == ["h"])
  }

  @Test func memberThatWasEditedAfterTheLogInStaysAndTheGuestsOthersGo() async throws {
    try await fixture.add(#"{"id":"h","x":1,"y":2}"#, in: fixture.guest)
    try await fixture.add(#"{"id":"h","note":"mine"}"#)
    try await adopt()
    try await fixture.add(#"{"id":"h","note":"mine","x":3,"y":2,"z":4}"#)
    try await undo()
    #expect(try await hotel() == #"{"id":"h","note":"mine","x":3,"z":4,"type":"hotel"}"#)
  }

  /// Each undo takes out what its own guest's hotel brought, whichever comes first.
  @Test(arguments: [false, true])
  func twoGuestsCanBeUndoneInAnyOrder(isLastFirst: Bool) async throws {
    let last = try #require(AccountID(String(repeating: "c", count: 32)))
    try await fixture.add(#"{"id":"h","note":"first's","x":1}"#, in: fixture.guest)
    try await fixture.add(#"{"id":"h","note":"last's","y":2}"#, in: .guest(last))
    try await fixture.add(#"{"id":"h","note":"account's"}"#)
    let before = try #require(try await hotel())
    try await adopt()
    _ = try await fixture.service.adopt(guest: .guest(last), into: fixture.user)
    let own = #"{"id":"h","note":"account's","type":"hotel""#
    #expect(try await hotel() == own + #","x":1,"y":2}"#)
    let between = own + (isLastFirst ? #","x":1}"# : #","y":2}"#)
    for (id, rest) in zip(isLastFirst ? [last, guest] : [guest, last], [between, before]) {
      try await fixture.service.undoAdoption(of: id, in: fixture.user, as: .server)
      #expect(try await hotel() == rest)
    }
    #expect(try await fixture.tree("h")?.leaves.count == 1)
    #expect(try await fixture.service.adoptions(in: fixture.user) == [])
  }

  @Test func hotelThatWasOnNoListOfTheAccountIsJoinedAndListed() async throws {
    try await fixture.add(#"{"id":"h","guestNote":"quiet"}"#, in: fixture.guest)
    try await fixture.put("h", #"{"type":"hotel","id":"h","myNote":"mine"}"#)
    try await adopt()
    #expect(try await fixture.ids() == ["h"])
    #expect(try await hotel()?.contains("quiet") == true)
    try await undo()
    #expect(try await fixture.ids() == [])
    #expect(try await hotel() == #"{"type":"hotel","id":"h","myNote":"mine"}"#)
  }

  @Test func hotelWhoseIDAnotherDocumentHasBecomesAConflict() async throws {
    try await fixture.add(#"{"id":"h","guestNote":"quiet"}"#, in: fixture.guest)
    let own = try await fixture.put("h", #"{"type":"note"}"#)
    try await adopt()
    let leaves = try #require(try await fixture.tree("h")?.liveLeaves.map(\.revision))
    let theirs = try #require(leaves.first { $0 != own })
    #expect(leaves.count == 2)
    #expect(try await fixture.text("h", theirs.description)?.contains("quiet") == true)
    try await undo()
    #expect(try await fixture.tree("h")?.liveLeaves.map(\.revision) == [own])
    #expect(try await hotel() == #"{"type":"note"}"#)
  }

  @Test(arguments: [0, 1]) func hotelThatWouldBecomeTooLargeKeepsTheGuestsAsAnEarlierOne(
    beyond: Int
  ) async throws {
    let own = #"{"id":"h","type":"hotel","a":"x"}"#
    let member = #","b":"""#
    let count = BookmarkLimits.hotelBytes - own.utf8.count - member.utf8.count + beyond
    let text = String(repeating: "y", count: count)
    try await fixture.add(#"{"id":"h","b":"\#(text)"}"#, in: fixture.guest)
    try await fixture.add(own)
    let earlier = try await adopt()
    #expect(
      try await hotel()?.utf8.count == (beyond == 0 ? BookmarkLimits.hotelBytes : own.utf8.count))
    #expect(earlier.count == beyond)
    for hotel in earlier {
      #expect(try await fixture.text("h", hotel.revision.description)?.contains(text) == true)
    }
  }

  /// After an undo the guest has its data again, and another log-in takes all of it over again.
  @Test func guestThatWasGivenBackCanBeTakenOverAgain() async throws {
    try await fixture.add(#"{"id":"h","note":"guest's"}"#, in: fixture.guest)
    try await fixture.add(ids: "theirs", in: fixture.guest)
    let note = try await fixture.put("note", #"{"n":1}"#, in: fixture.guest)
    try await fixture.graft("note", ["1-00"], #"{"n":2}"#, in: fixture.guest)
    try await fixture.add(#"{"id":"h","note":"account's"}"#)
    try await adopt()
    try await undo()
    #expect(try await fixture.ids() == ["h"])
    // The former claim's adoption does not come again.
    let state = try await fixture.info()
    try await adopt()
    #expect(try await fixture.info() == state)
    let earlier = try await adopt("second")
    #expect(earlier.map(\.id) == ["h"])
    #expect(Set(try await fixture.ids()) == ["h", "theirs"])
    let leaves = try #require(try await fixture.tree("note")?.liveLeaves.map(\.revision))
    var bodies: Set<String> = []
    for leaf in leaves { bodies.insert(try await fixture.text("note", leaf.description) ?? "") }
    #expect(bodies == [#"{"n":1}"#, #"{"n":2}"#] && !leaves.contains(note))
    try await undo()
    #expect(try await fixture.ids() == ["h"])
    #expect(try await fixture.tree("note")?.liveLeaves.isEmpty == true)
    #expect(try await hotel()?.contains("account's") == true)
  }

  @Test func receiptReadsWhatItWrites() throws {
    let reference = AdoptionReceipt.Reference(
      id: DocumentID(stored: "h"), revision: try RevisionID("3-c"))
    var receipt = AdoptionReceipt(bookmarks: 1, waiting: [])
    (receipt.time, receipt.claim, receipt.isAgain) = (Timestamp(milliseconds: 17), "x", true)
    // As deep as a document may be.
    let depth = JSONLimits.document.maximumDepth - 1
    let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    receipt.members = Array(#"{"n":1.0,"d":\#(deep)}"#.utf8)
    let revisions = [try RevisionID("1-a"), try RevisionID("2-b")]
    receipt.add([
      .init(reference: reference), .init(reference: reference, isListedOnly: true),
      .init(reference: reference, joined: .init(former: revisions[0], guests: nil)),
      .init(
        reference: reference, isListedOnly: true,
        joined: .init(former: revisions[0], guests: revisions[1])),
    ])
    #expect(AdoptionReceipt(LocalDocument(revision: 1, body: receipt.body)) == receipt)
    #expect(receipt.differing == [DifferingHotel(id: "h", revision: revisions[1])])
  }
}
