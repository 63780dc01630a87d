import Documents
import Hotels
import Stores
import Testing

/// The authors of revisions that no client wrote.
@Suite struct AuthorTests {
  private func author(_ id: String, _ fixture: HotelFixture) async throws -> Author? {
    try await fixture.stores.withExisting(fixture.user) { store in
      try await store.history(of: DocumentID(stored: id), limit: 1)
    }?.revisions.first?.kept?.arrival?.author
  }

  private func user(_ fixture: HotelFixture) throws -> Author {
    guard case .user(let id) = fixture.user else { throw ServiceError.absent }
    return .user(id)
  }

  @Test func aMergeIsTheServersWhoeverBroughtTheConflict() async throws {
    let follower = BookmarkMerge.follower(now: { Timestamp(seconds: 1_800_000_000) })
    let fixture = try HotelFixture(follower: follower)
    let user = try user(fixture)
    try await fixture.graft("bookmarkedhotels", ["1-a"], #"{"hotels":["x"]}"#, by: user)
    #expect(try await author("bookmarkedhotels", fixture) == user)
    try await fixture.graft("bookmarkedhotels", ["1-b"], #"{"hotels":["y"]}"#, by: user)
    #expect(try await author("bookmarkedhotels", fixture) == .server)
  }

  @Test func newerFactsAreTheServers() async throws {
    let fixture = try HotelFixture()
    let user = try user(fixture)
    let known = try hotel(#"{"id":"a","n":1}"#)
    _ = try await fixture.service.bookmark(
      HotelAddition(known: known.id, shown: known), in: fixture.user,
      as: WriteContext(author: user))
    #expect(try await author("a", fixture) == user)
    let newer = try hotel(#"{"id":"a","n":2}"#)
    #expect(try await fixture.service.refresh([newer], in: fixture.user) == 1)
    #expect(try await author("a", fixture) == .server)
  }

  @Test func whatCameFromAGuestIsTheUsers() async throws {
    let fixture = try HotelFixture()
    try await fixture.add(ids: "a", in: fixture.guest)
    _ = try await fixture.service.adopt(guest: fixture.guest, into: fixture.user)
    #expect(try await author("a", fixture) == (try user(fixture)))
  }
}
