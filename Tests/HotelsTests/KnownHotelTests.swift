import Documents
import Hotels
import Stores
import Testing

/// Bookmarks by id: members that a person changed stay, and members that the upstream gave follow it.
@Suite struct KnownHotelTests {
  private func shown(_ text: String) throws -> Hotel {
    try Hotel(ParsedJSON(Array(text.utf8), limits: .document).root, from: .upstream)
  }

  private func bookmark(_ fixture: HotelFixture, _ text: String) async throws -> BookmarkOutcome {
    let hotel = try shown(text)
    return try await fixture.service.bookmark(
      HotelAddition(known: hotel.id, shown: hotel), in: fixture.user, as: .server)
  }

  private func says(_ fixture: HotelFixture) async throws -> String? {
    try await fixture.service.bookmark(hotelID("h"), in: fixture.user)?.hotel.text
  }

  /// Regression: when a second phone bookmarked the same hotel, the first phone's note was removed.
  @Test func bookmarkingWhatIsBookmarkedChangesNothing() async throws {
    let fixture = try HotelFixture()
    _ = try await bookmark(fixture, #"{"id":"h","name":"Inn"}"#)
    try await fixture.add(#"{"id":"h","name":"Inn","myNote":"sea view"}"#)
    let state = try await fixture.info()
    #expect(try await bookmark(fixture, #"{"id":"h","name":"Inn"}"#).effect == .unchanged)
    #expect(try await fixture.info() == state)
    #expect(
      try await says(fixture) == #"{"id":"h","name":"Inn","myNote":"sea view","type":"hotel"}"#)
  }

  @Test func onlyWhatTheUpstreamChangedComesIn() async throws {
    let fixture = try HotelFixture()
    _ = try await bookmark(fixture, #"{"id":"h","name":"Inn","phone":"1"}"#)
    try await fixture.add(#"{"id":"h","name":"My inn","phone":"1","myNote":"sea view"}"#)
    let outcome = try await bookmark(fixture, #"{"id":"h","name":"Hotel","phone":"2"}"#)
    #expect(outcome.effect == .updated)
    #expect(
      try await says(fixture)
        == #"{"id":"h","name":"My inn","phone":"2","myNote":"sea view","type":"hotel"}"#)
  }

  /// If a client sends a search result back as the body, its members count as given by the upstream.
  @Test func factsThatASearchHasShownFollowTheUpstream() async throws {
    let fixture = try HotelFixture()
    var sent = HotelAddition(facts: try hotel(#"{"id":"h","name":"Inn","myNote":"mine"}"#))
    sent.shown = try shown(#"{"id":"h","name":"Inn"}"#)
    _ = try await fixture.service.bookmark(sent, in: fixture.user, as: .server)
    #expect(
      try await fixture.service.refresh([shown(#"{"id":"h","name":"Hotel"}"#)], in: fixture.user)
        == 1)
    #expect(
      try await says(fixture) == #"{"id":"h","name":"Hotel","myNote":"mine","type":"hotel"}"#)
  }

  @Test func onlyFactsReplaceAndTheOutcomeSaysSo() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(#"{"id":"h","a":1}"#)
    #expect(try await fixture.add(#"{"id":"h","b":2}"#).effect == .replaced)
    #expect(try await fixture.add(#"{"id":"h","b":2}"#).effect == .unchanged)
    #expect(try await says(fixture) == #"{"id":"h","b":2,"type":"hotel"}"#)
  }

  @Test func ownHotelNeedsNoUpstreamToBeBookmarkedAgain() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(#"{"id":"h","mine":true}"#)
    let again = try await fixture.service.bookmark(
      HotelAddition(known: hotelID("h")), in: fixture.user, as: .server)
    #expect(again.effect == .unchanged)
  }

  @Test func hotelThatNobodyKnowsIsRefusedAndMakesNoStore() async throws {
    let fixture = try HotelFixture()
    let unknown = HotelAddition(known: try hotelID("h"))
    #expect(
      await code { _ = try await fixture.service.bookmark(unknown, in: fixture.guest, as: .server) }
        == .unknownHotel)
    #expect(
      await code {
        _ = try await fixture.service.change(
          batch(#"{"add":[{"id":"h"}]}"#), in: fixture.guest, as: .server)
      } == .unknownHotel)
    await #expect(throws: (any Error).self) { try await fixture.info(in: fixture.guest) }
    try await fixture.add(ids: "other")
    #expect(
      await code {
        _ = try await fixture.service.change(
          batch(#"{"add":[{"id":"n","name":"N"},{"id":"h"}]}"#), in: fixture.user, as: .server)
      } == .unknownHotel)
    #expect(try await fixture.ids() == ["other"])
  }

  /// The record of the upstream's facts moves with a guest's bookmarks to the user.
  @Test func adoptedBookmarkFollowsTheUpstreamStill() async throws {
    let fixture = try HotelFixture()
    let old = try shown(#"{"id":"h","name":"Inn"}"#)
    _ = try await fixture.service.bookmark(
      HotelAddition(known: old.id, shown: old), in: fixture.guest, as: .server)
    _ = try await fixture.service.adopt(guest: fixture.guest, into: fixture.user)
    #expect(
      try await fixture.service.refresh([shown(#"{"id":"h","name":"Hotel"}"#)], in: fixture.user)
        == 1)
    #expect(try await says(fixture) == #"{"id":"h","name":"Hotel","type":"hotel"}"#)
  }
}
