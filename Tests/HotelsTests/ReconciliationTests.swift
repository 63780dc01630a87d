import Documents
import Hotels
import Stores
import Testing

@Suite struct ReconciliationTests {
  private func putHotels(_ fixture: HotelFixture, _ ids: String...) async throws {
    for id in ids { try await fixture.put(id, #"{"type":"hotel","id":"\#(id)"}"#) }
  }

  @Test func travelSamplesOwnListsAreUnderstoodBeforeTheyAreMerged() async throws {
    let fixture = try HotelFixture()
    try await putHotels(fixture, "a", "b", "c", "hotel_10025")
    try await fixture.put("bookmarkedhotels", #"{"type":"bookmarkedhotels","hotels":["a"]}"#)
    try await fixture.put("user::guest", #"{"type":"bookmarkedhotels","hotels":["c",10025]}"#)
    try await fixture.put("3f2b", #"{"type":"bookmarkedhotels","hotels":["b","a"]}"#)
    let state = try await fixture.info()
    #expect(try await fixture.ids() == ["hotel_10025", "c", "b", "a"])
    #expect(try await fixture.service.bookmark(hotelID("hotel_10025"), in: fixture.user) != nil)
    #expect(try await fixture.info() == state)
  }

  @Test func nextChangeLeavesOneList() async throws {
    let fixture = try HotelFixture()
    try await putHotels(fixture, "a", "b")
    try await fixture.put("user::guest", #"{"type":"bookmarkedhotels","hotels":["a"]}"#)
    try await fixture.put("3f2b", #"{"type":"bookmarkedhotels","hotels":["b"]}"#)
    try await fixture.add(ids: "n")
    #expect(
      try await fixture.listText() == #"{"type":"bookmarkedhotels","hotels":["b","a","n"]}"#)
    #expect(try await fixture.document("user::guest")?.isDeleted == true)
    #expect(try await fixture.document("3f2b")?.isDeleted == true)
    #expect(try await fixture.ids() == ["n", "a", "b"])
    #expect(try await fixture.service.reconcile(in: fixture.user) == false)
  }

  @Test func unbookmarkWorksOnAnAppsOwnList() async throws {
    let fixture = try HotelFixture()
    try await putHotels(fixture, "a", "b")
    try await fixture.put("user::guest", #"{"type":"bookmarkedhotels","hotels":["a","b"]}"#)
    #expect(
      try await fixture.service.unbookmark(hotelID("a"), in: fixture.user, as: .server) != nil)
    #expect(try await fixture.ids() == ["b"])
  }

  @Test func appsListThatComesBackCountsWithItsDifferencesOnly() async throws {
    let fixture = try HotelFixture()
    try await putHotels(fixture, "a", "b", "c")
    let base = try await fixture.put(
      "user::guest", #"{"type":"bookmarkedhotels","hotels":["a","b"]}"#)
    _ = try await fixture.service.reconcile(in: fixture.user)
    _ = try await fixture.service.unbookmark(hotelID("a"), in: fixture.user, as: .server)
    // The phone did not know about the merge when it added c to its own list.
    try await fixture.graft(
      "user::guest", ["2-f0", base.description],
      #"{"type":"bookmarkedhotels","hotels":["a","b","c"]}"#)
    #expect(try await fixture.ids() == ["c", "b"])
    #expect(try await fixture.service.reconcile(in: fixture.user))
    #expect(try await fixture.ids() == ["c", "b"])
    #expect(try await fixture.document("user::guest")?.isDeleted == true)
  }

  /// Only one of two conflicting revisions is a list. The merge of lists does not change the other one.
  @Test func leafThatIsNoListStays() async throws {
    let fixture = try HotelFixture()
    try await putHotels(fixture, "a")
    try await fixture.graft("app", ["1-a"], #"{"type":"bookmarkedhotels","hotels":["a"]}"#)
    try await fixture.graft("app", ["2-n", "1-a"], #"{"type":"note","text":"mine"}"#)
    try await fixture.graft(
      "app", ["2-o", "1-a"], #"{"type":"bookmarkedhotels","hotels":["a","b"]}"#)
    #expect(try await fixture.service.reconcile(in: fixture.user))
    #expect(
      try await fixture.listText() == #"{"type":"bookmarkedhotels","hotels":["a","b"]}"#)
    let document = try await fixture.document("app")
    #expect(document?.isDeleted == false)
    #expect(document?.revision.description == "2-n")
    #expect(try await fixture.service.reconcile(in: fixture.user) == false)
  }

  @Test func conflictingRevisionsAreMergedToTheSameRevisionEverywhere() async throws {
    let fixture = try HotelFixture()
    for name in [fixture.user, fixture.guest] {
      let revisions = [
        (["1-a"], #"{"type":"bookmarkedhotels","hotels":["x","y"],"v":1.0}"#),
        (["2-b", "1-a"], #"{"type":"bookmarkedhotels","hotels":["x","y","b"],"v":1.0}"#),
        (["2-c", "1-a"], #"{"type":"bookmarkedhotels","hotels":["y","c"],"v":1.0}"#),
      ]
      // The result does not depend on which branch arrives first.
      for index in name == fixture.user ? [0, 1, 2] : [0, 2, 1] {
        let (history, text) = revisions[index]
        try await fixture.graft("bookmarkedhotels", history, text, in: name)
      }
      #expect(try await fixture.service.reconcile(in: name))
      #expect(
        try await fixture.listText(in: name)
          == #"{"type":"bookmarkedhotels","hotels":["y","c","b"],"v":1.0}"#)
      #expect(try await fixture.tree("bookmarkedhotels", in: name)?.conflicts == [])
    }
    let documents = try await (
      fixture.document("bookmarkedhotels"), fixture.document("bookmarkedhotels", in: fixture.guest)
    )
    #expect(documents.0?.revision == documents.1?.revision)
    #expect(documents.0?.revision.generation == 3)
  }

  @Test func changeOnConflictingListsIsARevisionOfItsOwn() async throws {
    let fixture = try HotelFixture()
    try await fixture.graft("bookmarkedhotels", ["1-a"], #"{"hotels":["x"]}"#)
    try await fixture.graft("bookmarkedhotels", ["1-b"], #"{"hotels":["y"]}"#)
    try await fixture.add(ids: "n")
    #expect(try await fixture.document("bookmarkedhotels")?.revision.generation == 3)
    #expect(try await fixture.listText() == #"{"hotels":["y","x","n"],"type":"bookmarkedhotels"}"#)
  }

  @Test func deletedListStartsAnewFromItsTombstone() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a")
    let base = try #require(try await fixture.document("bookmarkedhotels")?.revision)
    try await fixture.graft(
      "bookmarkedhotels", ["2-d", base.description], "{}", isDeleted: true)
    #expect(try await fixture.ids() == [])
    try await fixture.add(ids: "b")
    #expect(try await fixture.ids() == ["b"])
    #expect(try await fixture.document("bookmarkedhotels")?.revision.generation == 3)
  }

  @Test func fullStoreCanStillBeEmptied() async throws {
    let fixture = try HotelFixture(limits: { _ in
      StoreLimits(documents: 9, bytes: 200, history: HistoryLimits(revisions: 20))
    })
    try await putHotels(fixture, "a", "b")
    let long = (0..<3).map { "\"waiting\($0)\"" }.joined(separator: ",")
    try await fixture.put("bookmarkedhotels", #"{"hotels":["a"]}"#)
    try await fixture.graft("bookmarkedhotels", ["1-0"], "{\"hotels\":[\"b\",\(long)]}")
    #expect(
      try await fixture.service.unbookmark(hotelID("a"), in: fixture.user, as: .server) != nil)
    #expect(try await fixture.ids() == ["b"])
  }

  @Test(arguments: [
    #"{"type":"bookmarkedhotels"}"#, #"{"type":"bookmarkedhotels","hotels":{"a":1}}"#,
    #"{"type":"bookmarkedhotels","hotels":[[["a"]],{"b":[]},null,-1,""]}"#,
    #"{"type":"bookmarkedhotels","hotels":"a"}"#, #"{"type":7,"hotels":null}"#, "{}",
  ])
  func hostileListsAreEmptyLists(text: String) async throws {
    let fixture = try HotelFixture()
    try await fixture.put("bookmarkedhotels", text)
    try await fixture.put("other", text)
    #expect(try await fixture.ids() == [])
    try await fixture.add(ids: "a")
    #expect(try await fixture.ids() == ["a"])
  }

  @Test func tenThousandIDsDoNotStandInTheWay() async throws {
    let fixture = try HotelFixture()
    let ids = (0..<10_000).map { "\"id\($0)\"" }.joined(separator: ",")
    try await fixture.put("bookmarkedhotels", "{\"type\":\"bookmarkedhotels\",\"hotels\":[\(ids)]}")
    try await fixture.add(ids: "a")
    #expect(try await fixture.ids().first == "a")
    _ = try await fixture.service.unbookmark(hotelID("a"), in: fixture.user, as: .server)
    #expect(try await fixture.listText()?.contains("\"a\"") == false)
  }

  @Test func listsBeyondWhatIsReadAtOnceAreMergedInTheEnd() async throws {
    let fixture = try HotelFixture()
    for index in 0..<70 {
      try await putHotels(fixture, "h\(index)")
      try await fixture.put(
        "list\(index)", #"{"type":"bookmarkedhotels","hotels":["h\#(index)"]}"#)
    }
    #expect(try await fixture.service.reconcile(in: fixture.user))
    #expect(try await fixture.ids().count == 70)
    #expect(try await fixture.service.reconcile(in: fixture.user) == false)
  }
}
