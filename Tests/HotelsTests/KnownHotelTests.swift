import Documents
import Hotels
import Testing

/// Bookmarking by id: what a person made of a bookmark stays, what the upstream gave follows it.
@Suite struct KnownHotelTests {
  private func shown(_ text: String) throws -> Hotel {
    try Hotel(ParsedJSON(Array(text.utf8), limits: .document).root, from: .upstream)
  }

  private func bookmark(_ hall: Hall, _ text: String) async throws -> BookmarkOutcome {
    let hotel = try shown(text)
    return try await hall.service.bookmark(
      HotelAddition(known: hotel.id, shown: hotel), in: hall.user)
  }

  private func says(_ hall: Hall) async throws -> String? {
    try await hall.service.bookmark(hotelID("h"), in: hall.user)?.hotel.text
  }

  /// A second phone that bookmarked the same hotel took the first one's note away.
  @Test func bookmarkingWhatIsBookmarkedChangesNothing() async throws {
    let hall = try Hall()
    _ = try await bookmark(hall, #"{"id":"h","name":"Inn"}"#)
    try await hall.add(#"{"id":"h","name":"Inn","myNote":"sea view"}"#)
    let state = try await hall.info()
    guard case .unchanged = try await bookmark(hall, #"{"id":"h","name":"Inn"}"#) else {
      return _ = Issue.record("it was changed")
    }
    #expect(try await hall.info() == state)
    #expect(try await says(hall) == #"{"id":"h","name":"Inn","myNote":"sea view","type":"hotel"}"#)
  }

  @Test func onlyWhatTheUpstreamChangedComesIn() async throws {
    let hall = try Hall()
    _ = try await bookmark(hall, #"{"id":"h","name":"Inn","phone":"1"}"#)
    try await hall.add(#"{"id":"h","name":"My inn","phone":"1","myNote":"sea view"}"#)
    guard case .updated = try await bookmark(hall, #"{"id":"h","name":"Hotel","phone":"2"}"#)
    else { return _ = Issue.record("it was not changed") }
    #expect(
      try await says(hall)
        == #"{"id":"h","name":"My inn","phone":"2","myNote":"sea view","type":"hotel"}"#)
  }

  /// A result that is sent back as the body is what the upstream gave.
  @Test func factsThatASearchHasShownFollowTheUpstream() async throws {
    let hall = try Hall()
    var sent = HotelAddition(facts: try hotel(#"{"id":"h","name":"Inn","myNote":"mine"}"#))
    sent.shown = try shown(#"{"id":"h","name":"Inn"}"#)
    _ = try await hall.service.bookmark(sent, in: hall.user)
    #expect(
      try await hall.service.refresh([shown(#"{"id":"h","name":"Hotel"}"#)], in: hall.user) == 1)
    #expect(
      try await says(hall) == #"{"id":"h","name":"Hotel","myNote":"mine","type":"hotel"}"#)
  }

  @Test func onlyFactsReplaceAndTheOutcomeSaysSo() async throws {
    let hall = try Hall()
    try await hall.add(#"{"id":"h","a":1}"#)
    guard case .replaced = try await hall.add(#"{"id":"h","b":2}"#) else {
      return _ = Issue.record("it was not replaced")
    }
    guard case .unchanged = try await hall.add(#"{"id":"h","b":2}"#) else {
      return _ = Issue.record("it was changed")
    }
    #expect(try await says(hall) == #"{"id":"h","b":2,"type":"hotel"}"#)
  }

  @Test func ownHotelNeedsNoUpstreamToBeBookmarkedAgain() async throws {
    let hall = try Hall()
    try await hall.add(#"{"id":"h","mine":true}"#)
    let again = try await hall.service.bookmark(
      HotelAddition(known: hotelID("h")), in: hall.user)
    guard case .unchanged = again else { return _ = Issue.record("it was changed") }
  }

  @Test func hotelThatNobodyKnowsIsRefusedAndMakesNoStore() async throws {
    let hall = try Hall()
    let unknown = HotelAddition(known: try hotelID("h"))
    #expect(
      await code { _ = try await hall.service.bookmark(unknown, in: hall.guest) } == .unknownHotel)
    #expect(
      await code {
        _ = try await hall.service.change(batch(#"{"add":[{"id":"h"}]}"#), in: hall.guest)
      } == .unknownHotel)
    await #expect(throws: (any Error).self) { try await hall.info(in: hall.guest) }
    try await hall.add(ids: "other")
    #expect(
      await code {
        _ = try await hall.service.change(
          batch(#"{"add":[{"id":"n","name":"N"},{"id":"h"}]}"#), in: hall.user)
      } == .unknownHotel)
    #expect(try await hall.ids() == ["other"])
  }

  /// What is noted of the upstream moves with a guest's bookmarks into an account.
  @Test func adoptedBookmarkFollowsTheUpstreamStill() async throws {
    let hall = try Hall()
    let old = try shown(#"{"id":"h","name":"Inn"}"#)
    _ = try await hall.service.bookmark(HotelAddition(known: old.id, shown: old), in: hall.guest)
    _ = try await hall.service.adopt(guest: hall.guest, into: hall.user)
    #expect(
      try await hall.service.refresh([shown(#"{"id":"h","name":"Hotel"}"#)], in: hall.user) == 1)
    #expect(try await says(hall) == #"{"id":"h","name":"Hotel","type":"hotel"}"#)
  }
}
