import Documents
import Hotels
import Stores
import TestSupport
import Testing

/// What the undo of a batch restores, and what it leaves unchanged.
@Suite struct UndoTests {
  private func change(_ fixture: HotelFixture, _ text: String) async throws -> BatchAnswer {
    try await fixture.service.change(batch(text), in: fixture.user, as: .server)
  }

  /// Sends the undo from an answer, as a client does.
  private func undo(_ answer: BatchAnswer, in fixture: HotelFixture) async throws -> BatchAnswer {
    let root = try ParsedJSON(answer.bytes, limits: .request).root
    let undo = try #require(root["undo"])
    return try await fixture.service.change(
      BookmarkBatch(parsing: undo), in: fixture.user, as: .server)
  }

  /// A list of bookmarks without revisions.
  private func state(_ fixture: HotelFixture) async throws -> [String] {
    try await fixture.service.bookmarks(in: fixture.user, limit: 200).bookmarks.map {
      "\($0.id) \($0.bookmarkedAt.rfc3339) \($0.hotel.text)"
    }
  }

  private func filled() async throws -> HotelFixture {
    let fixture = try HotelFixture()
    for id in ["a", "b", "c", "d", "e"] {
      try await fixture.add(#"{"id":"\#(id)","n":1.0,"s":"\u0041"}"#)
      fixture.clock.advance(seconds: 60)
    }
    return fixture
  }

  /// Regression: a restored hotel became the newest bookmark, with the time of the undo.
  @Test func placeTimeAndFactsAreAsTheyWere() async throws {
    let fixture = try await filled()
    let before = try await state(fixture)
    let answer = try await change(
      fixture, #"{"add":[{"id":"b","n":2},{"id":"new","n":3}],"remove":["c","d","a"]}"#)
    #expect(answer.results.map(\.status) == [200, 201, 204, 204, 204])
    fixture.clock.advance(seconds: 60)
    let undone = try await undo(answer, in: fixture)
    #expect(undone.results.map(\.status) == [200, 204, 201, 201, 201])
    #expect(try await state(fixture) == before)
  }

  /// A long list is made before the update, and its positions are found in several steps.
  @Test(.bug(id: "35/27")) func aLongListIsAsItWas() async throws {
    let fixture = try await filled()
    let list = try #require(try await fixture.document("bookmarkedhotels"))
    let ids = ["a", "b"] + (0..<9_000).map { "x\($0)" } + ["c", "d", "e"]
    let before = #"{"type":"bookmarkedhotels","hotels":["\#(ids.joined(separator: #"",""#))"]}"#
    try await fixture.put("bookmarkedhotels", before, base: list.revision)
    let answer = try await change(
      fixture, #"{"add":[{"id":"b","n":2},{"id":"new","n":3}],"remove":["c","d","a"]}"#)
    #expect(answer.results.map(\.status) == [200, 201, 204, 204, 204])
    #expect(try await fixture.listText() != before)
    let undone = try await undo(answer, in: fixture)
    #expect(undone.results.map(\.status) == [200, 204, 201, 201, 201])
    #expect(try await fixture.listText() == before)
  }

  @Test func undoCanBeUndone() async throws {
    let fixture = try await filled()
    let answer = try await change(fixture, #"{"add":[{"id":"b","n":2}],"remove":["c","a"]}"#)
    let after = try await state(fixture)
    let undone = try await undo(answer, in: fixture)
    #expect(try await state(fixture) != after)
    #expect(try await undo(undone, in: fixture).results.map(\.status) == [200, 204, 204])
    #expect(try await state(fixture) == after)
  }

  /// Regression: a late undo overwrote another device's later change.
  @Test func whatWasChangedSinceIsLeftAloneAndNamed() async throws {
    let fixture = try await filled()
    let answer = try await change(
      fixture, #"{"add":[{"id":"a","n":2},{"id":"new","n":3}],"remove":["b","c"]}"#)
    try await fixture.add(#"{"id":"a","mine":true}"#)
    try await fixture.add(#"{"id":"new","mine":true}"#)
    try await fixture.add(#"{"id":"b","mine":true}"#)
    let undone = try await undo(answer, in: fixture)
    #expect(undone.results.map(\.id.text) == ["a", "new", "b", "c"])
    #expect(undone.results.map(\.status) == [409, 409, 409, 201])
    #expect(undone.undo.map(\.id.text) == ["c"])
    #expect(try await fixture.ids() == ["b", "new", "e", "d", "c", "a"])
    #expect(try await state(fixture).count { $0.contains("mine") } == 3)
  }

  @Test func undoTwiceChangesNothingMore() async throws {
    let fixture = try await filled()
    let answer = try await change(fixture, #"{"add":[{"id":"a","n":2}],"remove":["b"]}"#)
    _ = try await undo(answer, in: fixture)
    let state = try await fixture.info()
    #expect(try await undo(answer, in: fixture).results.map(\.status) == [409, 409])
    #expect(try await fixture.info() == state)
  }

  @Test func neighbourThatIsGoneLeavesThePlaceByNumber() async throws {
    let fixture = try await filled()
    let answer = try await change(fixture, #"{"remove":["c"]}"#)
    _ = try await change(fixture, #"{"remove":["b"]}"#)
    #expect(try await undo(answer, in: fixture).results.map(\.status) == [201])
    #expect(Set(try await fixture.ids()) == ["a", "c", "d", "e"])
  }

  @Test func whatABookmarkSaidThatIsNoLongerKeptIsNamed() async throws {
    let fixture = try await filled()
    let answer = try await change(fixture, #"{"remove":["c"]}"#)
    let rev = try #require(answer.undo.first).revision
    let forged = #"{"restore":[{"id":"c","rev":"\#(rev)","former":{"rev":"1-lost","place":0}}]}"#
    #expect(try await change(fixture, forged).results.map(\.status) == [410])
    #expect(try await fixture.ids() == ["e", "d", "b", "a"])
  }

  @Test func neighbourThatWasBookmarkedAnewDoesNotTakeTheOthersAlong() async throws {
    let fixture = try await filled()
    let answer = try await change(fixture, #"{"remove":["b","c"]}"#)
    _ = try await change(fixture, #"{"remove":["d"]}"#)
    try await fixture.add(#"{"id":"d","n":2}"#)
    _ = try await undo(answer, in: fixture)
    #expect(try await fixture.ids() == ["d", "e", "c", "b", "a"])
  }

  @Test func idsThatNameEachOtherComeBackAllTheSame() async throws {
    let fixture = try await filled()
    let answer = try await change(fixture, #"{"remove":["b","c"]}"#)
    let steps = answer.undo.map { step in
      let other = step.id.text == "b" ? "c" : "b"
      let former = #"{"rev":"\#(firstRevision(step, in: answer))","place":1,"after":"\#(other)"}"#
      return #"{"id":"\#(step.id)","rev":"\#(step.revision)","former":\#(former)}"#
    }
    _ = try await change(fixture, #"{"restore":[\#(steps.joined(separator: ","))]}"#)
    #expect(Set(try await fixture.ids()) == ["a", "b", "c", "d", "e"])
  }

  private func firstRevision(_ step: Restoration, in answer: BatchAnswer) -> String {
    let root = try? ParsedJSON(answer.bytes, limits: .request).root
    let steps = root?["undo"]?["restore"]?.elements.map(\.self) ?? []
    let found = steps.first { $0["id"]?.string == step.id.text }
    return found?["former"]?["rev"]?.string ?? ""
  }
}
