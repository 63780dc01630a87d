import Documents
import Hotels
import Stores
import Testing

@Suite struct ReconciliationTests {
  private func putHotels(_ hall: Hall, _ ids: String...) async throws {
    for id in ids { try await hall.put(id, #"{"type":"hotel","id":"\#(id)"}"#) }
  }

  @Test func travelSamplesOwnListsAreUnderstoodBeforeTheyAreMerged() async throws {
    let hall = try Hall()
    try await putHotels(hall, "a", "b", "c", "hotel_10025")
    try await hall.put("bookmarkedhotels", #"{"type":"bookmarkedhotels","hotels":["a"]}"#)
    try await hall.put("user::guest", #"{"type":"bookmarkedhotels","hotels":["c",10025]}"#)
    try await hall.put("3f2b", #"{"type":"bookmarkedhotels","hotels":["b","a"]}"#)
    let state = try await hall.info()
    #expect(try await hall.ids() == ["hotel_10025", "c", "b", "a"])
    #expect(try await hall.service.bookmark(hotelID("hotel_10025"), in: hall.user) != nil)
    #expect(try await hall.info() == state)
  }

  @Test func nextChangeLeavesOneList() async throws {
    let hall = try Hall()
    try await putHotels(hall, "a", "b")
    try await hall.put("user::guest", #"{"type":"bookmarkedhotels","hotels":["a"]}"#)
    try await hall.put("3f2b", #"{"type":"bookmarkedhotels","hotels":["b"]}"#)
    try await hall.add(ids: "n")
    #expect(
      try await hall.listText() == #"{"type":"bookmarkedhotels","hotels":["b","a","n"]}"#)
    #expect(try await hall.document("user::guest")?.isDeleted == true)
    #expect(try await hall.document("3f2b")?.isDeleted == true)
    #expect(try await hall.ids() == ["n", "a", "b"])
    #expect(try await hall.service.reconcile(in: hall.user) == false)
  }

  @Test func unbookmarkWorksOnAnAppsOwnList() async throws {
    let hall = try Hall()
    try await putHotels(hall, "a", "b")
    try await hall.put("user::guest", #"{"type":"bookmarkedhotels","hotels":["a","b"]}"#)
    #expect(try await hall.service.unbookmark(hotelID("a"), in: hall.user) != nil)
    #expect(try await hall.ids() == ["b"])
  }

  @Test func appsListThatComesBackCountsWithItsDifferencesOnly() async throws {
    let hall = try Hall()
    try await putHotels(hall, "a", "b", "c")
    let base = try await hall.put(
      "user::guest", #"{"type":"bookmarkedhotels","hotels":["a","b"]}"#)
    _ = try await hall.service.reconcile(in: hall.user)
    _ = try await hall.service.unbookmark(hotelID("a"), in: hall.user)
    // The phone had not heard of the merge when it added c to its own list.
    try await hall.graft(
      "user::guest", ["2-f0", base.description],
      #"{"type":"bookmarkedhotels","hotels":["a","b","c"]}"#)
    #expect(try await hall.ids() == ["c", "b"])
    #expect(try await hall.service.reconcile(in: hall.user))
    #expect(try await hall.ids() == ["c", "b"])
    #expect(try await hall.document("user::guest")?.isDeleted == true)
  }

  /// Only one of two conflicting revisions is a list: the other one is not the list's business.
  @Test func leafThatIsNoListStays() async throws {
    let hall = try Hall()
    try await putHotels(hall, "a")
    try await hall.graft("app", ["1-a"], #"{"type":"bookmarkedhotels","hotels":["a"]}"#)
    try await hall.graft("app", ["2-n", "1-a"], #"{"type":"note","text":"mine"}"#)
    try await hall.graft(
      "app", ["2-o", "1-a"], #"{"type":"bookmarkedhotels","hotels":["a","b"]}"#)
    #expect(try await hall.service.reconcile(in: hall.user))
    #expect(
      try await hall.listText() == #"{"type":"bookmarkedhotels","hotels":["a","b"]}"#)
    let document = try await hall.document("app")
    #expect(document?.isDeleted == false)
    #expect(document?.revision.description == "2-n")
    #expect(try await hall.service.reconcile(in: hall.user) == false)
  }

  @Test func conflictingRevisionsAreMergedToTheSameRevisionEverywhere() async throws {
    let hall = try Hall()
    for name in [hall.user, hall.guest] {
      let revisions = [
        (["1-a"], #"{"type":"bookmarkedhotels","hotels":["x","y"],"v":1.0}"#),
        (["2-b", "1-a"], #"{"type":"bookmarkedhotels","hotels":["x","y","b"],"v":1.0}"#),
        (["2-c", "1-a"], #"{"type":"bookmarkedhotels","hotels":["y","c"],"v":1.0}"#),
      ]
      // Whichever branch arrives first.
      for place in name == hall.user ? [0, 1, 2] : [0, 2, 1] {
        let (history, text) = revisions[place]
        try await hall.graft("bookmarkedhotels", history, text, in: name)
      }
      #expect(try await hall.service.reconcile(in: name))
      #expect(
        try await hall.listText(in: name)
          == #"{"type":"bookmarkedhotels","hotels":["y","c","b"],"v":1.0}"#)
      #expect(try await hall.tree("bookmarkedhotels", in: name)?.conflicts == [])
    }
    let documents = try await (
      hall.document("bookmarkedhotels"), hall.document("bookmarkedhotels", in: hall.guest)
    )
    #expect(documents.0?.revision == documents.1?.revision)
    #expect(documents.0?.revision.generation == 3)
  }

  @Test func changeOnConflictingListsIsARevisionOfItsOwn() async throws {
    let hall = try Hall()
    try await hall.graft("bookmarkedhotels", ["1-a"], #"{"hotels":["x"]}"#)
    try await hall.graft("bookmarkedhotels", ["1-b"], #"{"hotels":["y"]}"#)
    try await hall.add(ids: "n")
    #expect(try await hall.document("bookmarkedhotels")?.revision.generation == 3)
    #expect(try await hall.listText() == #"{"hotels":["y","x","n"],"type":"bookmarkedhotels"}"#)
  }

  @Test func deletedListStartsAnewFromItsTombstone() async throws {
    let hall = try Hall()
    try await hall.add(ids: "a")
    let base = try #require(try await hall.document("bookmarkedhotels")?.revision)
    try await hall.graft(
      "bookmarkedhotels", ["2-d", base.description], "{}", isDeleted: true)
    #expect(try await hall.ids() == [])
    try await hall.add(ids: "b")
    #expect(try await hall.ids() == ["b"])
    #expect(try await hall.document("bookmarkedhotels")?.revision.generation == 3)
  }

  @Test func fullStoreCanStillBeEmptied() async throws {
    let hall = try Hall(limits: { _ in
      StoreLimits(documents: 9, bytes: 200, history: HistoryLimits(revisions: 20))
    })
    try await putHotels(hall, "a", "b")
    let long = (0..<3).map { "\"waiting\($0)\"" }.joined(separator: ",")
    try await hall.put("bookmarkedhotels", #"{"hotels":["a"]}"#)
    try await hall.graft("bookmarkedhotels", ["1-0"], "{\"hotels\":[\"b\",\(long)]}")
    #expect(try await hall.service.unbookmark(hotelID("a"), in: hall.user) != nil)
    #expect(try await hall.ids() == ["b"])
  }

  @Test(arguments: [
    #"{"type":"bookmarkedhotels"}"#, #"{"type":"bookmarkedhotels","hotels":{"a":1}}"#,
    #"{"type":"bookmarkedhotels","hotels":[[["a"]],{"b":[]},null,-1,""]}"#,
    #"{"type":"bookmarkedhotels","hotels":"a"}"#, #"{"type":7,"hotels":null}"#, "{}",
  ])
  func hostileListsAreEmptyLists(text: String) async throws {
    let hall = try Hall()
    try await hall.put("bookmarkedhotels", text)
    try await hall.put("other", text)
    #expect(try await hall.ids() == [])
    try await hall.add(ids: "a")
    #expect(try await hall.ids() == ["a"])
  }

  @Test func tenThousandIDsDoNotStandInTheWay() async throws {
    let hall = try Hall()
    let ids = (0..<10_000).map { "\"id\($0)\"" }.joined(separator: ",")
    try await hall.put("bookmarkedhotels", "{\"type\":\"bookmarkedhotels\",\"hotels\":[\(ids)]}")
    try await hall.add(ids: "a")
    #expect(try await hall.ids().first == "a")
    _ = try await hall.service.unbookmark(hotelID("a"), in: hall.user)
    #expect(try await hall.listText()?.contains("\"a\"") == false)
  }

  @Test func listsBeyondWhatIsReadAtOnceAreMergedInTheEnd() async throws {
    let hall = try Hall()
    for place in 0..<70 {
      try await putHotels(hall, "h\(place)")
      try await hall.put(
        "list\(place)", #"{"type":"bookmarkedhotels","hotels":["h\#(place)"]}"#)
    }
    #expect(try await hall.service.reconcile(in: hall.user))
    #expect(try await hall.ids().count == 70)
    #expect(try await hall.service.reconcile(in: hall.user) == false)
  }
}
