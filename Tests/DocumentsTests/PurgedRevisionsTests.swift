import Documents
import Testing

struct PurgedRevisionsTests {
  private static let today = 20_000

  private func purged(
    _ drawn: String, _ leaves: String, on day: Int = today
  ) throws -> PurgedRevisions {
    let tree = try TreeDrawing.tree(drawn)
    var purged = PurgedRevisions()
    purged.add(
      from: tree, leaving: tree.purging(Set(try RevisionID.list(leaves))), on: day)
    return purged
  }

  @Test(arguments: [
    ("1-a*", "1-a", "1-a", ""), ("1-a(2-b(3-c†*))", "3-c", "1-a 2-b 3-c", "4-d 2-c"),
    ("1-a(2-b(3-c) 2-d(3-e*))", "3-c", "2-b 3-c", "3-e 2-d"),
    ("1-a(2-b 2-c(3-d 3-e*))", "3-d 3-e 2-b", "1-a 2-b 2-c 3-d 3-e", "4-e"),
    ("1-a*", "", "", "1-a"),
  ])
  func whatIsPurgedIsKnownAndNothingElse(
    drawn: String, leaves: String, known: String, unknown: String
  ) throws {
    let purged = try purged(drawn, leaves)
    for revision in try RevisionID.list(known) { #expect(purged.knows(revision)) }
    for revision in try RevisionID.list(unknown) { #expect(!purged.knows(revision)) }
  }

  @Test func twoRevisionsTakeOneMarkOf46Bytes() throws {
    #expect(try purged("1-a(2-b(3-c(4-d*)))", "4-d").bytes.count == 2 * 46)
    #expect(try purged("1-a(2-b(3-c*))", "3-c").bytes.count == 2 * 46)
    #expect(try purged("1-a(2-b*)", "2-b").bytes.count == 46)
  }

  @Test func marksAreReadBackAndOtherBytesRefused() throws {
    let purged = try purged("1-a(2-b*)", "2-b")
    #expect(try PurgedRevisions(purged.bytes) == purged)
    #expect(try PurgedRevisions([]) == PurgedRevisions())
    #expect(throws: DocumentError.self) { try PurgedRevisions(purged.bytes.dropLast()) }
    #expect(throws: DocumentError.self) { try PurgedRevisions([9] + purged.bytes.dropFirst()) }
  }

  @Test func latestIsTheHighestOfAll() throws {
    let word = RevisionDigest("0123456789abcdef0123456789abcdef")
    var tree = RevisionTree()
    let (root, leaf) = (
      RevisionID(generation: 6, digest: "x"), RevisionID(generation: 7, digest: word)
    )
    try tree.insert(root, below: nil, isDeleted: false)
    try tree.insert(leaf, below: root, isDeleted: true)
    var purged = PurgedRevisions()
    #expect(purged.latest == nil)
    purged.add(from: tree, leaving: tree.purging([leaf]), on: Self.today)
    #expect(purged.latest == leaf)
    // A revision of the maximum generation is left out, because no edit can follow it.
    var last = RevisionTree()
    let end = RevisionID(generation: RevisionID.maximumGeneration, digest: word)
    try last.insert(end, below: nil, isDeleted: false)
    purged.add(from: last, leaving: RevisionTree(), on: Self.today)
    #expect(purged.latest == leaf)
  }

  @Test func aMarkIsKeptForNinetyDays() throws {
    var purged = try purged("1-a*", "1-a")
    let other = try TreeDrawing.tree("1-b*")
    purged.add(from: other, leaving: RevisionTree(), on: Self.today + 90)
    #expect(purged.knows(try RevisionID("1-a")))
    purged.add(from: other, leaving: RevisionTree(), on: Self.today + 91)
    #expect(!purged.knows(try RevisionID("1-a")))
    #expect(purged.knows(try RevisionID("1-b")))
  }

  @Test func newDocumentGoesOnFromThePurgedOne() throws {
    let tree = try TreeDrawing.tree("1-a(2-b†*)")
    var purged = PurgedRevisions()
    purged.add(from: tree, leaving: RevisionTree(), on: Self.today)
    let id = try DocumentID("d")
    let mutation = try Edit.put(id, in: nil, base: nil, after: purged.latest, body: .empty)
    #expect(mutation.revision.generation == 3)
    #expect(mutation.tree.history(of: mutation.revision).count == 2)
    #expect(mutation.tree.leaves.count == 1)
    // An edit that names a base must continue from that base.
    #expect(throws: DocumentError.self) {
      try Edit.put(id, in: nil, base: RevisionID("2-b"), after: purged.latest, body: .empty)
    }
  }
}
