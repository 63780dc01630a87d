import Documents
import Stores
import Testing

@testable import Hotels

@Suite struct MirrorPurgeTests {
  @Test func y04CopyOfADeviceThatSleptOverAPurgeHasToBeginAgain() async throws {
    let hall = try Hall()
    try await hall.add(ids: "stays", "goes")
    let token = try #require(try await hall.service.mirror(of: hall.user, since: nil)).token
    let before = try await hall.service.mirror(of: hall.user, since: token)
    #expect(before != nil)
    try await purge("goes", hall)
    let late = try await hall.service.mirror(of: hall.user, since: token)
    #expect(late == nil)
    let anew = try #require(try await hall.service.mirror(of: hall.user, since: nil))
    #expect(anew.hotels.count == 1)
  }

  @Test func y04BookmarkOfAPurgedHotelIsANewRevisionForNinetyDays() async throws {
    let hall = try Hall()
    try await hall.add(ids: "a")
    for (generation, days) in [(2, 0), (3, 89), (1, 91)] {
      try await purge("a", hall)
      hall.clock.turn(bySeconds: Int64(days) * 86_400)
      // A write lets what is past its time go.
      try await hall.add(ids: "other\(days)")
      try await hall.add(ids: "a")
      #expect(try await hall.document("a")?.revision.generation == generation)
    }
  }

  private func purge(_ text: String, _ hall: Hall) async throws {
    let id = DocumentID(stored: text)
    try await hall.stores.withExisting(hall.user) { store throws(StoreError) in
      _ = try await store.update([id]) { _ throws(StoreError) in
        var decision = Decision(value: ())
        decision.purges = [Purge(id: id, tree: RevisionTree())]
        return decision
      }
    }
  }
}
