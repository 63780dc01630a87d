import Documents
import Stores
import Testing

@testable import PostgresEngine

@Suite struct BodySizesTests {
  @Test func generationsBetweenTheOldAndTheNewAreNotRead() throws {
    let kept = StoreLimits.storedAncestors
    #expect(BodySizes.unread(at: 100, before: 1) == 101 - kept..<100)
    #expect(BodySizes.unread(at: 100, before: kept).isEmpty)
    #expect(BodySizes.unread(at: 1, before: 1).isEmpty)
    #expect(BodySizes.unread(at: 5, before: 1) == 1..<5)
    #expect(BodySizes.unread(at: 100, before: 10 * kept).isEmpty)
    let sizes = BodySizes(without: 81..<100)
    #expect(sizes.isKnown(below: 81) && !sizes.isKnown(below: 82) && !sizes.isKnown(below: .max))
    for (revision, isKnown) in [("80-a", true), ("81-a", false), ("99-a", false), ("100-a", true)] {
      #expect(try sizes.isKnown(RevisionID(revision)) == isKnown)
    }
    #expect(BodySizes().isKnown(below: .max))
  }

  /// Edits of one document that come one by one, and at once, so that they share transactions.
  @Test(arguments: [1, 7, 60]) func bodiesThatAreTooOldAreRemovedAndCounted(
    atOnce: Int
  ) async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let store = try await node.store()
      for _ in 0..<(60 / atOnce) {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<atOnce { group.addTask { try await store.increment("a") } }
          try await group.waitForAll()
        }
      }
      let edits = 60 / atOnce * atOnce
      #expect(try await store.body("a") == "{\"n\":\(edits)}")
      #expect(
        try fixture.execute("SELECT generation FROM bodies ORDER BY generation")
          == (edits - StoreLimits.storedAncestors..<edits).map { Int64($0) })
      let bytes = try fixture.execute("SELECT sum(length(body))::int8 FROM bodies")
      #expect(try fixture.execute("SELECT kept FROM stores WHERE number <> 0") == bytes)
    }
  }
}
