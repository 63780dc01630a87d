import Documents
import Stores
import TestSupport
import Testing

@testable import Hotels

@Suite struct MirrorPurgeTests {
  @Test(.bug(id: "Y04")) func copyOfADeviceThatSleptOverAPurgeHasToBeginAgain() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "stays", "goes")
    let token = try #require(try await fixture.service.mirror(of: fixture.user, since: nil)).token
    let before = try await fixture.service.mirror(of: fixture.user, since: token)
    #expect(before != nil)
    try await purge("goes", fixture)
    let late = try await fixture.service.mirror(of: fixture.user, since: token)
    #expect(late == nil)
    let anew = try #require(try await fixture.service.mirror(of: fixture.user, since: nil))
    #expect(anew.hotels.count == 1)
  }

  @Test(.bug(id: "Y04")) func bookmarkOfAPurgedHotelIsANewRevisionForNinetyDays() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a")
    for (generation, days) in [(2, 0), (3, 89), (1, 91)] {
      try await purge("a", fixture)
      fixture.clock.advance(seconds: Int64(days) * 86_400)
      // A write lets what is past its time go.
      try await fixture.add(ids: "other\(days)")
      try await fixture.add(ids: "a")
      #expect(try await fixture.document("a")?.revision.generation == generation)
    }
  }

  private func purge(_ text: String, _ fixture: HotelFixture) async throws {
    let id = DocumentID(stored: text)
    try await fixture.stores.withExisting(fixture.user) { store in
      try await store.update(loading: [id]) { changes in
        changes.purge(Purge(id: id, tree: RevisionTree()))
      }
    }
  }
}
