import Accounts
import Documents
import Hotels
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import Lists

/// Lists over stores in memory, with accounts that are ids and names.
struct ListFixture: Sendable {
  let engine: MemoryEngine
  let stores: DatabaseManager
  let accounts: AccountService
  let lists: ListService
  let clock: TestClock

  /// Nothing yet, over an engine that may have something.
  init(_ engine: MemoryEngine = MemoryEngine()) throws {
    let clock = TestClock()
    let stores = DatabaseManager(engine: engine, maximumOpen: 8, now: { clock.now })
    var settings = AccountSettings()
    settings.scrypt = try #require(ScryptParameters(rounds: 2, blockSize: 1, parallelism: 1))
    accounts = AccountService(
      stores: stores, keys: try SigningKeys.temporary(now: clock.now), settings: settings,
      now: { clock.now }, hashing: { work in work() }, adoptGuest: { _, _ in true },
      lists: .ofLists)
    lists = ListService(
      stores: stores, accounts: accounts,
      hotels: HotelService(stores: stores, now: { clock.now }), now: { clock.now })
    (self.engine, self.stores, self.clock) = (engine, stores, clock)
  }

  /// An account of a name.
  func account(_ name: String) async throws -> AccountID {
    try await accounts.addUser(username: name, password: Secret("correct horse"))
  }

  /// A list of an account, called Rome.
  func list(of owner: AccountID, _ name: String) async throws -> AccountID {
    let member = ListMember(account: owner, username: name, role: .owner, joinedAt: clock.now)
    return try await lists.make(title: "Rome", markdown: "", owner: member).id
  }

  /// What the list's own document says.
  func document(_ list: AccountID) async throws -> ListDocument? {
    try await stores.withExisting(.list(list)) { store in
      try await store.read { view in try ListDocument(list, in: view) }
    }
  }
}
