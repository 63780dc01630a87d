import Documents
import Hotels
import Testing

@Suite struct BookmarkMergeTests {
  /// Two copies with the same list as their common ancestor.
  private func fork(_ base: BookmarkList) throws -> (Replica, Replica) {
    var first = Replica()
    try first.put(base)
    return (first, first)
  }

  @Test func addsAndRemovesOfBothSidesSurvive() throws {
    var (phone, tablet) = try fork(list("a", "b", "c"))
    try phone.put(list("a", "c", "p"))
    try tablet.put(list("b", "c", "t"))
    try phone.pull(from: tablet)
    let merged = try phone.resolved
    #expect(merged.texts.first == "c")
    #expect(Set(merged.texts) == ["c", "p", "t"])
  }

  @Test func oneSideThatChangedHasTheLastWordOnOrder() throws {
    var (phone, tablet) = try fork(list("a", "b"))
    try phone.put(list("b", "a"))
    try tablet.put(list("a", "b"))
    try tablet.put(list("a", "b"))
    try phone.pull(from: tablet)
    #expect(try phone.resolved.texts == ["b", "a"])
  }

  @Test func withoutTheCommonListNothingIsLost() throws {
    var (phone, tablet) = try fork(list("a", "b"))
    try phone.put(list("a"))
    try tablet.put(list("b", "t"))
    try phone.pull(from: tablet)
    phone.bodies = phone.bodies.filter { $0.key.generation > 1 }
    #expect(Set(try phone.resolved.texts) == ["a", "b", "t"])
  }

  @Test func listsMadeIndependentlyAreUnited() throws {
    var (phone, tablet) = (Replica(), Replica())
    try phone.put(list("a", "p"))
    try tablet.put(list("t", "a"))
    try phone.pull(from: tablet)
    let merged = try phone.resolved
    #expect(Set(merged.texts) == ["a", "p", "t"])
    #expect(merged.hotels.count == 3)
  }

  @Test func mergeLeavesOneLiveLeafBelowTheWinner() throws {
    var (phone, tablet) = try fork(list("a"))
    try phone.put(list("a", "p"))
    try tablet.put(list("a", "t"))
    try phone.pull(from: tablet)
    let winner = try #require(phone.tree?.winner?.revision)
    try phone.merge()
    let tree = try #require(phone.tree)
    let merged = try #require(tree.winner)
    #expect(!merged.isDeleted)
    #expect(tree.conflicts.isEmpty)
    #expect(tree.deletedConflicts.count == 1)
    #expect(tree.history(of: merged.revision).dropFirst().first == winner)
    #expect(Set(try phone.winner.texts) == ["a", "p", "t"])
  }

  @Test func branchThatGoesOnAfterItsMergeCountsWithItsDifferencesOnly() throws {
    var (server, phone) = try fork(list("a"))
    try server.put(list("a", "s"))
    try server.put(list("a", "s", "s2"))
    try phone.put(list("a", "p"))
    try server.pull(from: phone)
    try server.merge()
    // The server's user removes the hotel that the phone had added. The phone does not know this yet.
    try server.put(list("a", "s", "s2"))
    try phone.put(list("a", "p", "q"))
    try server.pull(from: phone)
    #expect(Set(try server.resolved.texts) == ["a", "s", "s2", "q"])
  }

  /// Each revision with the name costs a digest for each tombstone that has it. A peer can send thousands of both.
  @Test(arguments: [BookmarkMerge.namesakes - 1, BookmarkMerge.namesakes])
  func tombstoneNamesOneOfFewRevisions(forged: Int) throws {
    var (server, phone) = try fork(list("a"))
    try server.put(list("a", "s"))
    try server.put(list("a", "s", "s2"))
    try phone.put(list("a", "p"))
    try server.pull(from: phone)
    try server.merge()
    let merged = try #require(server.tree?.winner?.revision)
    try server.put(list("a", "s", "s2"))
    try phone.put(list("a", "p", "q"))
    try server.pull(from: phone)
    for number in 0..<forged {
      let namesake = merged.digest.text.prefix(16) + "\(number)"
      try server.tree?.graft(
        [
          RevisionID(generation: 2, digest: "end\(number)"),
          RevisionID(generation: 1, digest: String(namesake)),
        ], isDeleted: true)
    }
    let isFound = forged < BookmarkMerge.namesakes
    #expect(Set(try server.resolved.texts) == Set(["a", "s", "s2", "q"] + (isFound ? [] : ["p"])))
  }

  /// The tombstone of a losing branch only proves that its list is contained in the revision that it names. If that
  /// revision later loses against another branch, the list must not count as known there.
  @Test func mergedBranchThatWinsLaterLosesNothing() throws {
    var (server, phone) = try fork(list("a"))
    var tablet = server
    try server.put(list("a", "s"))
    try server.put(list("a", "s", "s2"))
    try phone.put(list("a", "p"))
    try server.pull(from: phone)
    try server.merge()
    for step in 0..<4 {
      var texts = try phone.winner
      texts.append([try hotelID("q\(step)")])
      try phone.put(texts)
    }
    try server.pull(from: phone)
    try server.merge()
    try tablet.put(list("a", "t"))
    try server.pull(from: tablet)
    #expect(
      Set(try server.resolved.texts) == ["a", "s", "s2", "p", "q0", "q1", "q2", "q3", "t"])
  }

  @Test func deletedListIsNoSide() throws {
    var (phone, tablet) = try fork(list("a", "b"))
    let base = try #require(phone.tree?.winner?.revision)
    let deletion = try Edit.delete(BookmarkList.documentID, in: phone.tree, base: base)
    phone.tree = deletion.tree
    try tablet.put(list("b", "t"))
    try phone.pull(from: tablet)
    #expect(try phone.resolved.texts == ["b", "t"])
  }

  @Test func deletedDocumentHasNoSide() throws {
    var phone = Replica()
    try phone.put(list("a"))
    let base = try #require(phone.tree?.winner?.revision)
    let tree = try Edit.delete(BookmarkList.documentID, in: phone.tree, base: base).tree
    #expect(try BookmarkMerge.resolve(tree) { _ in try list("never asked") } == nil)
  }

  @Test func asManyLeavesAsThereCanBeAreMerged() throws {
    var trunk = Replica()
    for count in 0..<50 { try trunk.put(list("a", "b\(count)")) }
    var all = trunk
    for branch in 0..<HistoryLimits.standard.liveLeaves {
      var copy = trunk
      for step in 0..<3 { try copy.put(list("a", "x\(branch)", "y\(step)")) }
      try all.pull(from: copy)
    }
    for _ in 0..<9 where !all.isSettled {
      #expect(try !all.resolved.texts.contains("b49"))
      try all.merge()
    }
    #expect(all.isSettled)
    let texts = try all.resolved.texts
    #expect(texts.count == 1 + HistoryLimits.standard.liveLeaves + 1)
    #expect(!texts.contains("b49"))
  }
}
