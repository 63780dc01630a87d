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
    let id = DocumentID(stored: "goes")
    try await hall.stores.withExisting(hall.user) { store throws(StoreError) in
      _ = try await store.update([id]) { _ throws(StoreError) in
        var decision = Decision(value: ())
        decision.purges = [Purge(id: id, tree: RevisionTree())]
        return decision
      }
    }
    let late = try await hall.service.mirror(of: hall.user, since: token)
    #expect(late == nil)
    let anew = try #require(try await hall.service.mirror(of: hall.user, since: nil))
    #expect(anew.hotels.count == 1)
  }
}
