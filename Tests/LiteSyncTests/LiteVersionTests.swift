import Documents
import Testing

@testable import LiteSync

@Suite struct LiteVersionTests {
  private static let maker = "dGhlIG1ha2VyIG9mIGl0IQ"
  private static let other = "YW5vdGhlciBtYWtlciBvZg"
  private static let encoding = LiteVersion.treeMaker

  @Test func aVersionIsInItsDigestAndComesBack() throws {
    let version = try #require(LiteVersion("18ea3cf2a0b40000@\(Self.maker)"))
    let revision = RevisionID(generation: 3, digest: version.digest)
    #expect(revision.digest.text == "18ea3cf2a0b40000746865206d616b6572206f6620697421")
    #expect(LiteVersion(revision) == version)
    #expect(version.text == "18ea3cf2a0b40000@\(Self.maker)")
  }

  @Test(arguments: [
    "", "@", "1@\(maker)x", "1@\(maker.dropLast())", "0@\(maker)", "G@\(maker)", "1A@\(maker)",
    "12345678123456781@\(maker)", "1@AAAAAAAAAAAAAAAAAAAAAA", "1@dGhlIG1ha2VyIG9mIGl0IR",
  ])
  func textsThatAreNoVersionAreRefused(_ text: String) {
    #expect(LiteVersion(text) == nil)
  }

  @Test func aRevisionOfATreeIsAVersionWithItsGenerationAndTenDigits() {
    let digest = String(repeating: "b", count: 32)
    let revision = RevisionID(generation: 26, digest: digest)
    #expect(LiteVersion(revision).text == "1abbbbbbbbbb@Revision+Tree+Encoding")
    #expect(LiteRevision.text(revision, in: .trees) == "26-\(digest)")
  }

  /// After an upgrade version 4 keeps a revision of version 3 so in a conflict. It was refused, and lost.
  @Test func aVersionOfATreeThatIsNotKnownBecomesARevision() throws {
    let version = try #require(LiteVersion("300aaaaaaaa@\(Self.encoding)"))
    let first = version.revision(below: nil)
    #expect(first.generation == 3 && LiteVersion(first) == version)
    let child = version.revision(below: try RevisionID("3-cccccccccc"))
    #expect(LiteVersion(child).text == "400aaaaaaaa@\(Self.encoding)")
    #expect(child.digest == first.digest && child.digest.text.utf8.count == 32)
    let least = try #require(LiteVersion("1@\(Self.encoding)")).revision(below: nil)
    #expect(least.generation == 1)
    // The device takes nothing that is older than what it has.
    let long = try #require(LiteVersion("900aaaaaaaa@\(Self.encoding)"))
    let base = try RevisionID("3-cccccccccc")
    #expect(LiteVersion(long.revision(below: base)) == long)
    #expect(long.revision(below: base, gap: 4).generation == 4)
  }

  @Test func aDigestThatIsNoHexadecimalNumberIsReplacedByOne() throws {
    let tree = try tree("1-a", "2-b")
    let text = LiteRevision.text(RevisionID(generation: 2, digest: "b"), in: .trees)
    #expect(text.utf8.count == 34)
    // LiteCore's own tests have a short one. Under another name its device saw a conflict with it.
    let short = RevisionID(generation: 2, digest: "f00d")
    #expect(LiteRevision.text(short, in: .trees) == "2-f00d")
    #expect(LiteRevision.text(short, in: .vectors) == "2f00d000000@\(Self.encoding)")
    #expect(LiteRevision.text(RevisionID(generation: 2, digest: "F00D"), in: .trees) != "2-F00D")
    var names = LiteNames(tree)
    let found = [text, "2-b", "2-c"].map { names.find($0)?.description }
    #expect(found == ["2-b", "2-b", nil])
    let version = LiteRevision.text(RevisionID(generation: 1, digest: "a"), in: .vectors)
    let first = names.find(version)?.description
    #expect(first == "1-a")
  }

  @Test func aMakerHasSeenItsOwnOlderVersions() throws {
    let first = try #require(LiteVersion("10@\(Self.maker)"))
    let tree = try tree("1-a", "2-\(first.digest.text)")
    var names = LiteNames(tree)
    let seen = names.seen(by: ["20@\(Self.maker)"])
    #expect(seen.map(\.generation) == [2])
    let unseen = names.seen(by: ["0f@\(Self.maker)", "20@\(Self.other)"])
    #expect(unseen.isEmpty)
  }

  @Test func aVectorHasTheNewestVersionOfEachMaker() throws {
    let one = try #require(LiteVersion("10@\(Self.maker)")).digest.text
    let two = try #require(LiteVersion("20@\(Self.other)")).digest.text
    let three = try #require(LiteVersion("30@\(Self.maker)")).digest.text
    let tree = try tree("1-\(one)", "2-\(two)", "3-\(three)")
    let winner = RevisionID(generation: 3, digest: three)
    let vector = LiteRevision.text(LiteRevision.vector(of: winner, in: tree))
    #expect(vector == "30@\(Self.maker); 20@\(Self.other)")
  }

  @Test func branchesThatWereClosedBelongToAVector() throws {
    let branch = try #require(LiteVersion("20@\(Self.other)")).digest.text
    var tree = try tree("1-a", "2-b", "3-c")
    let base = RevisionID(generation: 1, digest: "a")
    let (leaf, tombstone) = (
      RevisionID(generation: 2, digest: branch), RevisionID(generation: 3, digest: "d")
    )
    try tree.insert(leaf, below: base, isDeleted: false)
    let winner = RevisionID(generation: 3, digest: "c")
    #expect(LiteRevision.vector(of: winner, in: tree).count == 1)
    try tree.insert(tombstone, below: leaf, isDeleted: true)
    #expect(LiteRevision.vector(of: winner, in: tree).last?.text == "20@\(Self.other)")
  }

  /// A device that has the branch would keep what was deleted, and its edits would be conflicts for ever.
  @Test func aWinnerIsNewerThanABranchThatWonBeforeItWasClosed() throws {
    var tree = try tree("1-a", "2-b", "3-aaaaaaaaaa")
    let (base, leaf) = (try RevisionID("2-b"), try RevisionID("3-bbbbbbbbbb"))
    try tree.insert(leaf, below: base, isDeleted: false)
    #expect(LiteRevision.text(leaf, of: tree, in: .vectors) == "3bbbbbbbbbb@\(Self.encoding)")
    try tree.insert(try RevisionID("4-dddddddddd"), below: leaf, isDeleted: true)
    let winner = try #require(tree.winner?.revision)
    let text = LiteRevision.text(winner, of: tree, in: .vectors)
    #expect(text == "4dddddddde0@\(Self.encoding)")
    var names = LiteNames(tree)
    let found = [text, "3aaaaaaaaaa@\(Self.encoding)"].map { names.find($0)?.description }
    #expect(found == ["3-aaaaaaaaaa", "3-aaaaaaaaaa"])
    let child = try RevisionID("4-aaaaaaaaaa")
    try tree.insert(child, below: winner, isDeleted: false)
    let next = LiteRevision.text(child, of: tree, in: .vectors)
    #expect(next == "4dddddddde1@\(Self.encoding)")
  }

  /// Version 4 keeps its own version then, and says by its vector alone that it has seen the other one.
  @Test func aVersionThatIsKeptInAConflictIsWrittenBelowTheWinner() throws {
    let kept = try #require(LiteVersion("10@\(Self.maker)"))
    var tree = try tree("1-a", "2-b", "3-cccccccccc")
    let (base, leaf) = (try RevisionID("1-a"), RevisionID(generation: 2, digest: kept.digest))
    try tree.insert(leaf, below: base, isDeleted: false)
    let winner = try #require(tree.winner?.revision)
    let theirs = LiteRevision.text(winner, of: tree, in: .vectors)
    var names = LiteNames(tree)
    let written = [[], [kept.text], [theirs]].map { former in
      names.findWritten(kept.text, former: former)
    }
    #expect(written == [leaf, leaf, nil])
    let child = RevisionID(generation: 4, digest: kept.digest)
    try tree.insert(child, below: winner, isDeleted: false)
    try tree.insert(RevisionID("5-dddddddddd"), below: child, isDeleted: false)
    names = LiteNames(tree)
    #expect(names.findWritten(kept.text, former: [theirs]) == child)
    // The same with a revision that another client made.
    var other = try self.tree("1-a", "2-b", "3-\(kept.digest.text)")
    try other.insert(RevisionID("2-eeeeeeeeee"), below: base, isDeleted: false)
    names = LiteNames(other)
    let former = [[], [kept.text]].map { former in
      names.findWritten("2eeeeeeeeee@\(Self.encoding)", former: former)?.description
    }
    #expect(former == ["2-eeeeeeeeee", nil])
  }

  /// A tree of one branch.
  private func tree(_ revisions: String...) throws -> RevisionTree {
    var tree = RevisionTree()
    var parent: RevisionID?
    for text in revisions {
      let revision = try RevisionID(text)
      try tree.insert(revision, below: parent, isDeleted: false)
      parent = revision
    }
    return tree
  }
}
