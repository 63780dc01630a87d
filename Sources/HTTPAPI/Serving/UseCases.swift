package import Accounts
package import Documents
package import Hotels
package import Lists
package import Stores

/// Bookmarks, accounts and shared lists over the same stores, connected with each other.
package struct UseCases: Sendable {
  package let stores: DatabaseManager
  package let hotels: HotelService
  package let accounts: AccountService
  package let lists: ListService
  /// The clock.
  package let now: @Sendable () -> Timestamp

  /// Connects them: a guest who signs up takes the bookmarks along, and an erased account ends its lists.
  /// - Parameter ownedListBytes: how many bytes all lists of a user may have.
  /// - Parameter uptime: the clock of limits in time, which no change of the system's time affects.
  /// - Parameter hashing: runs the hash of a password.
  /// - Parameter issuerDocuments: reads the documents of issuers; nil where none is trusted.
  package init(
    over stores: DatabaseManager, keys: SigningKeys, settings: AccountSettings,
    ownedListBytes: Int64 = ListLimits.ownedBytes, now: @escaping @Sendable () -> Timestamp,
    uptime: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    hashing: @escaping AccountService.BlockingRun, issuerDocuments: (any IssuerDocuments)? = nil
  ) {
    let hotels = HotelService(stores: stores, now: now)
    accounts = AccountService(
      stores: stores, keys: keys, settings: settings, now: now, uptime: uptime, hashing: hashing,
      adoptGuest: { guest, user, claim in
        try await hotels.adopt(guest: .guest(guest), into: .user(user), claim: claim).isWhole
      }, lists: .ofLists(now: now), issuerDocuments: issuerDocuments)
    lists = ListService(
      stores: stores, accounts: accounts, hotels: hotels, ownedBytes: ownedListBytes, now: now)
    self.stores = stores
    self.hotels = hotels
    self.now = now
  }
}
