import Documents
import Hotels
import Stores
import Testing

/// A list that was merged hundreds of times works like one that never was, except for its marks.
@Suite struct ManyMergesTests {
  /// A phone that is always one change behind.
  @Test func hundredsOfConflictsLeaveAListThatCanBePulled() throws {
    var server = Replica()
    server.limits.revisions = 50
    try server.put(BookmarkList([]))
    for round in 0..<400 {
      let tree = try #require(server.tree)
      let winner = try #require(tree.winner?.revision)
      let parent = tree.history(of: winner).dropFirst().first ?? winner
      let phone = RevisionID(
        generation: parent.generation + 1, digest: "phone\(round)")
      let body = try BookmarkList([hotelID("p\(round % 10)")]).body()
      try server.tree?.graft([phone] + tree.history(of: parent), isDeleted: false)
      server.bodies[phone] = body
      try server.merge()
      #expect(server.isSettled)
      let known = Set((server.tree?.nodes ?? []).map(\.revision))
      server.bodies = server.bodies.filter { known.contains($0.key) }
    }
    let tree = try #require(server.tree)
    #expect(tree.leaves.count <= 65)
    #expect(tree.markCount == 400 - 64 - 1)
    #expect(try server.resolved.hotels.contains(hotelID("p9")))

    // A new device pulls all leaves and sees the same list.
    var device = Replica()
    try device.pull(from: server)
    #expect(try device.winner == server.winner)
    #expect(device.isSettled)
  }

  /// The phone has only its own branch, which the server has shrunk to a mark, and the phone merges by itself.
  @Test func phoneWhoseBranchIsAMarkComesToTheSameList() throws {
    var one = Replica()
    try one.put(BookmarkList([hotelID("a")]))
    var other = one
    try one.put(BookmarkList([hotelID("a"), hotelID("p")]))
    try other.put(BookmarkList([hotelID("a"), hotelID("s")]))
    let (first, second) = try (
      #require(one.tree?.winner?.revision), #require(other.tree?.winner?.revision)
    )
    // The phone has the losing branch.
    var (server, phone) = first > second ? (one, other) : (other, one)
    try server.pull(from: phone)
    try server.merge()
    server.now = server.now.adding(seconds: 91 * 86_400)
    // After that time, the next change shrinks the branch.
    server.tree?.shrinkClosedBranches(on: server.now.day)
    #expect(server.tree?.leaves.count == 1)

    try phone.pull(from: server)
    #expect(!phone.isSettled)
    try phone.merge()
    try server.pull(from: phone)
    try server.merge()
    #expect(server.isSettled && phone.isSettled)
    #expect(server.tree?.winner?.revision == phone.tree?.winner?.revision)
    #expect(try Set(server.winner.hotels) == Set(["a", "s", "p"].map { try hotelID($0) }))
  }

  @Test func mergedListKeepsToADocumentsLength() async throws {
    let fixture = try HotelFixture()
    func body(_ letter: Character) -> String {
      let ids = (0..<7_000).map { "\"\(String(repeating: letter, count: 80))\($0)\"" }
      return #"{"type":"bookmarkedhotels","hotels":[\#(ids.joined(separator: ","))]}"#
    }
    try await fixture.graft("bookmarkedhotels", ["1-a"], body("a"))
    try await fixture.graft("bookmarkedhotels", ["1-b"], body("b"))
    #expect(try await fixture.service.reconcile(in: fixture.user))
    let list = try BookmarkList(
      parsing: try #require(try await fixture.document("bookmarkedhotels")?.body))
    #expect(
      try await fixture.document("bookmarkedhotels")?.body.count ?? 0 <= BookmarkLimits.listBytes)
    // All ids of the winner stay. As many of the other ids as fit follow.
    #expect(list.hotels.prefix(7_000).allSatisfy { $0.text.hasPrefix("b") })
    #expect((7_001..<14_000).contains(list.hotels.count))
    #expect(try await fixture.service.reconcile(in: fixture.user) == false)
  }

  /// Four lists of 20,000 ids are more than are merged at once.
  @Test func longListsAreMergedOneAfterTheOther() async throws {
    let fixture = try HotelFixture()
    for letter in "abcd" {
      let ids = (0..<20_000).map { "\"\(letter)\($0)\"" }.joined(separator: ",")
      try await fixture.graft(
        "bookmarkedhotels", ["1-\(letter)"], #"{"type":"bookmarkedhotels","hotels":[\#(ids)]}"#)
    }
    #expect(try await fixture.service.reconcile(in: fixture.user))
    let document = try #require(try await fixture.document("bookmarkedhotels"))
    // Three of them first, and then the result with the fourth.
    #expect(document.revision.generation == 3)
    #expect(try BookmarkList(parsing: document.body).hotels.count == 80_000)
    #expect(try await fixture.service.reconcile(in: fixture.user) == false)
  }

  @Test func noRevisionOfAPeerEndsTheEditsOfAList() async throws {
    let fixture = try HotelFixture(follower: BookmarkMerge.follower(now: { Timestamp(seconds: 0) }))
    let (half, list) = (
      RevisionID.maximumPeerGeneration, #"{"type":"bookmarkedhotels","hotels":[]}"#
    )
    for generation in [RevisionID.maximumGeneration, RevisionID.maximumGeneration - 1, half + 1] {
      await #expect(throws: (any Error).self) {
        try await fixture.graft("bookmarkedhotels", ["\(generation)-a"], list)
      }
    }
    for digest in ["a", "b", "c"] {
      try await fixture.graft("bookmarkedhotels", ["\(half)-\(digest)"], list)
    }
    try await fixture.add(ids: "h")
    let known = try #require(try await fixture.document("bookmarkedhotels")?.revision)
    #expect(known.generation > half + 1)
    // Who has seen the edits goes on from them.
    let next = "\(known.generation + 1)-d"
    try await fixture.graft("bookmarkedhotels", [next, known.description], list)
    #expect(try await fixture.document("bookmarkedhotels")?.revision.description == next)
    try await fixture.add(ids: "i")
    #expect(try await fixture.ids() == ["i"])
  }
}
