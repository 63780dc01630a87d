import Documents
import StoreTesting
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
      // A write removes purge records that are too old.
      try await fixture.add(ids: "other\(days)")
      try await fixture.add(ids: "a")
      #expect(try await fixture.document("a")?.revision.generation == generation)
    }
  }

  @Test(.bug(id: "Y04")) func copyThatHasReadATombstoneGoesOnWhenItIsForgotten() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "stays", "goes", "too")
    let slept = try #require(try await fixture.service.mirror(of: fixture.user, since: nil)).token
    _ = try await fixture.service.unbookmark(hotelID("goes"), in: fixture.user, as: .server)
    let seen = try #require(try await fixture.service.mirror(of: fixture.user, since: slept)).token
    fixture.clock.advance(seconds: 91 * 86_400)
    #expect(try await forget(fixture) == 1)
    #expect(try await fixture.service.mirror(of: fixture.user, since: slept) == nil)
    let next = try #require(try await fixture.service.mirror(of: fixture.user, since: seen))
    #expect(next.removed.isEmpty && next.order == nil)
    #expect(MirrorToken(next.token.description) == next.token)
    let anew = try #require(try await fixture.service.mirror(of: fixture.user, since: nil))
    #expect(anew.hotels.count == 2)
    // When a later tombstone is removed, tokens of devices that have read it, and first reads, stay valid.
    _ = try await fixture.service.unbookmark(hotelID("too"), in: fixture.user, as: .server)
    let last = try #require(try await fixture.service.mirror(of: fixture.user, since: anew.token))
    fixture.clock.advance(seconds: 91 * 86_400)
    #expect(try await forget(fixture) == 1)
    #expect(try await fixture.service.mirror(of: fixture.user, since: next.token) == nil)
    #expect(try await fixture.service.mirror(of: fixture.user, since: last.token) != nil)
  }

  @Test(.bug(id: "Y04")) func copyInTheMiddleOfItsFirstPagesGoesOn() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "stays", "goes")
    _ = try await fixture.service.unbookmark(hotelID("goes"), in: fixture.user, as: .server)
    fixture.clock.advance(seconds: 91 * 86_400)
    #expect(try await forget(fixture) == 1)
    // The token after a first page that did not contain everything.
    let token = try await fixture.stores.withExisting(fixture.user) { store in
      try await store.read { view in try MirrorToken(1, in: view) }
    }
    #expect(try await fixture.service.mirror(of: fixture.user, since: token) != nil)
  }

  private func forget(_ fixture: HotelFixture) async throws -> Int? {
    let limit = fixture.clock.now.adding(seconds: -90 * 86_400)
    return try await fixture.service.maintain(fixture.user, at: fixture.clock.now) { $0 <= limit }
      .removed[.tombstones]
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
