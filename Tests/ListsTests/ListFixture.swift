import Accounts
import Documents
import Hotels
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import Lists

/// Lists over stores in memory. The accounts have ids and names only.
struct ListFixture: Sendable {
  let engine: MemoryEngine
  let stores: DatabaseManager
  let accounts: AccountService
  let lists: ListService
  let clock: TestClock

  /// A fixture without lists, over an engine that may already have data.
  /// - Parameter repetition: runs the engine's closures several times.
  init(_ engine: MemoryEngine = MemoryEngine(), _ repetition: Repetition? = nil) throws {
    let clock = TestClock()
    let used: any StorageEngine =
      if let repetition { repetition.engine(over: engine) } else { engine }
    let stores = DatabaseManager(engine: used, maximumOpen: 8, now: { clock.now })
    var settings = AccountSettings()
    settings.scrypt = try #require(ScryptParameters(rounds: 2, blockSize: 1, parallelism: 1))
    accounts = AccountService(
      stores: stores, keys: try SigningKeys.temporary(now: clock.now), settings: settings,
      now: { clock.now }, hashing: { work in work() }, adoptGuest: { _, _, _ in true },
      lists: .ofLists)
    lists = ListService(
      stores: stores, accounts: accounts,
      hotels: HotelService(stores: stores, now: { clock.now }), now: { clock.now })
    (self.engine, self.stores, self.clock) = (engine, stores, clock)
  }

  /// Makes an account with a name.
  func account(_ name: String) async throws -> AccountID {
    try await accounts.addUser(username: name, password: Secret("correct horse"))
  }

  /// Makes a list called Rome for an account.
  func list(of owner: AccountID, _ name: String) async throws -> AccountID {
    let member = ListMember(account: owner, username: name, role: .owner, joinedAt: clock.now)
    return try await lists.make(title: "Rome", markdown: "", owner: member).id
  }

  /// Invites an account to a list by name, and accepts for it.
  func join(
    _ list: AccountID, _ account: AccountID, _ name: String, as role: ListRole = .editor,
    by owner: AccountID
  ) async throws {
    let outcome = try await lists.putMember(name, role: role, on: list, by: owner)
    guard case .invited(let invitation) = outcome else {
      Issue.record("\(name) was a member")
      return
    }
    _ = try await lists.accept(invitation.id.text, by: account, name)
  }

  /// The list's own document.
  func document(_ list: AccountID) async throws -> ListDocument? {
    try await stores.withExisting(.list(list)) { store in
      try await store.read { view in try ListDocument(list, in: view) }
    }
  }
}
