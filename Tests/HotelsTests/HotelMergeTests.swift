import Documents
import StoreTesting
import Stores
import Testing

@testable import Hotels

/// Conflicting revisions of a hotel are merged as they arrive.
@Suite struct HotelMergeTests {
  private static let follower = BookmarkMerge.follower(now: { Timestamp(seconds: 1_800_000_000) })

  private func members(_ fixture: HotelFixture) async throws -> [String: String] {
    let document = try #require(try await fixture.document("h"))
    let root = try ParsedJSON(document.body, limits: .request).root
    return Dictionary(
      uniqueKeysWithValues: root.members.map { ($0.name, $0.value.string ?? "") })
  }

  @Test func whatEitherSideChangedSurvives() async throws {
    let fixture = try HotelFixture(follower: Self.follower)
    try await fixture.graft("h", ["1-a"], #"{"type":"hotel","name":"Inn","city":"Rye","gone":"x"}"#)
    try await fixture.graft(
      "h", ["2-b", "1-a"],
      #"{"type":"hotel","name":"Inn","city":"Rye","gone":"x","myNote":"quiet"}"#)
    try await fixture.graft(
      "h", ["2-c", "1-a"], #"{"type":"hotel","name":"The Inn","city":"Rye"}"#)
    #expect(
      try await members(fixture)
        == ["type": "hotel", "name": "The Inn", "city": "Rye", "myNote": "quiet"])
    let tree = try #require(try await fixture.tree("h"))
    #expect(tree.conflicts.isEmpty)
    #expect(tree.deletedConflicts.count == 1)
    let state = try await fixture.info()
    try await fixture.graft("h", ["2-b", "1-a"], #"{"type":"hotel","myNote":"quiet"}"#)
    #expect(try await fixture.info().lastSequence == state.lastSequence)
  }

  @Test func ofTwoValuesOfOneMemberTheWinnersStands() async throws {
    let fixture = try HotelFixture(follower: Self.follower)
    try await fixture.graft("h", ["1-a"], #"{"type":"hotel","myNote":"one"}"#)
    try await fixture.graft("h", ["1-b"], #"{"type":"hotel","myNote":"two","mine":"kept"}"#)
    try await fixture.graft("h", ["1-c"], #"{"type":"hotel","myNote":"three"}"#)
    #expect(
      try await members(fixture) == ["type": "hotel", "myNote": "two", "mine": "kept"])
    #expect(try await fixture.text("h", "1-a") == #"{"type":"hotel","myNote":"one"}"#)
  }

  /// A phone that does not know about the merge continues from its own revision. Its next change is newer than the
  /// merged revision.
  @Test func editOfAMergedBranchCountsAgainstThatBranch() async throws {
    let fixture = try HotelFixture(follower: Self.follower)
    try await fixture.graft("h", ["1-a"], #"{"type":"hotel","myNote":""}"#)
    try await fixture.graft("h", ["2-c", "1-a"], #"{"type":"hotel","myNote":"","mine":"c"}"#)
    try await fixture.graft("h", ["2-b", "1-a"], #"{"type":"hotel","myNote":"first"}"#)
    #expect(try await members(fixture)["myNote"] == "first")
    try await fixture.graft("h", ["3-b", "2-b", "1-a"], #"{"type":"hotel","myNote":"second"}"#)
    #expect(
      try await members(fixture) == ["type": "hotel", "myNote": "second", "mine": "c"])
  }

  @Test func seventyDevicesThatWereOfflineLeaveOneLeaf() async throws {
    let fixture = try HotelFixture(follower: Self.follower)
    try await fixture.graft("h", ["1-a"], #"{"type":"hotel","name":"Inn"}"#)
    for device in 0..<70 {
      try await fixture.graft(
        "h", ["2-d\(device)", "1-a"], #"{"type":"hotel","name":"Inn","of\#(device)":"x"}"#)
    }
    #expect(try await fixture.tree("h")?.conflicts.isEmpty == true)
    #expect(try await members(fixture).count == 72)
  }

  /// A replicator pushes all branches at once, from a server that does not merge.
  @Test func branchesThatComeTogetherAreMergedInParts() async throws {
    let fixture = try HotelFixture(follower: Self.follower)
    let id = DocumentID(stored: "h")
    try await fixture.stores.withStore(fixture.user) { store in
      try await store.update(loading: [id]) { changes in
        var edits = DocumentEdits(id, in: try changes.tree(id), limit: .standard)
        for device in 0..<200 {
          let text = Array(#"{"type":"hotel","of\#(device)":"x"}"#.utf8)
          _ = try edits.insert(
            [try RevisionID("2-d\(device)"), try RevisionID("1-a")],
            body: try DocumentBody(parsing: text), isDeleted: false, known: nil)
        }
        changes.write(edits.finish())
      }
    }
    #expect(try await fixture.tree("h")?.conflicts.isEmpty == true)
    #expect(try await members(fixture).count == 201)
  }

  @Test func whatIsNoHotelStaysBesideIt() async throws {
    let fixture = try HotelFixture(follower: Self.follower)
    try await fixture.graft("h", ["2-z"], #"{"type":"hotel","name":"Inn"}"#)
    try await fixture.graft("h", ["1-a"], #"{"type":"note"}"#)
    try await fixture.graft("h", ["1-b"], #"{"type":"hotel","city":"Rye"}"#)
    #expect(try await fixture.tree("h")?.conflicts.map(\.description) == ["1-a"])
    #expect(try await members(fixture) == ["type": "hotel", "name": "Inn", "city": "Rye"])
  }

  /// Large branches are merged in several updates. A branch that would make the hotel too large stays a conflict.
  @Test func aBranchThatMakesTheHotelTooLargeStays() async throws {
    let fixture = try HotelFixture(follower: Self.follower)
    let half = String(repeating: "x", count: BookmarkLimits.hotelBytes * 2 / 3)
    try await fixture.graft("h", ["2-z"], #"{"type":"hotel","one":"\#(half)"}"#)
    try await fixture.graft("h", ["1-a"], #"{"type":"hotel","two":"\#(half)"}"#)
    try await fixture.graft("h", ["1-b"], #"{"type":"hotel","city":"Rye"}"#)
    let large = String(repeating: "y", count: BookmarkLimits.hotelBytes)
    try await fixture.graft("h", ["1-c"], #"{"type":"hotel","three":"\#(large)"}"#)
    #expect(try await fixture.tree("h")?.conflicts.map(\.description) == ["1-c", "1-a"])
    #expect(try await members(fixture).keys.sorted() == ["city", "one", "type"])
  }

  @Test func branchesOfManyBytesAreMergedInSeveralUpdates() async throws {
    let fixture = try HotelFixture(follower: Self.follower)
    let text = String(repeating: "x", count: HotelMerge.bytesAtOnce / 8)
    let id = DocumentID(stored: "h")
    try await fixture.stores.withStore(fixture.user) { store in
      try await store.update(loading: [id]) { changes in
        var edits = DocumentEdits(id, in: try changes.tree(id), limit: .standard)
        for device in 0..<20 {
          let body = Array(#"{"type":"hotel","same":"\#(text)","of\#(device)":"x"}"#.utf8)
          _ = try edits.insert(
            [try RevisionID("1-d\(device)")], body: try DocumentBody(parsing: body),
            isDeleted: false, known: nil)
        }
        changes.write(edits.finish())
      }
    }
    #expect(try await fixture.tree("h")?.conflicts.isEmpty == true)
    #expect(try await members(fixture).count == 22)
    // One update for the branches, and one for each eight merged branches.
    #expect(try await fixture.info().lastSequence == 4)
  }
}
