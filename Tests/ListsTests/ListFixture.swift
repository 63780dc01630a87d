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
  /// - Parameter damaged: the ids of documents and local documents that can't be read.
  /// - Parameter action: runs before each read and update of a store; see `HookedStorage`.
  init(
    _ engine: MemoryEngine = MemoryEngine(), _ repetition: Repetition? = nil,
    without damaged: Set<String> = [],
    before action: (@Sendable (Int, any StoreStorage) async throws -> Void)? = nil
  ) throws {
    let clock = TestClock()
    let used: any StorageEngine =
      if let repetition {
        repetition.engine(over: engine)
      } else if let action {
        WrappedEngine(engine) { HookedStorage($0, before: action) }
      } else if damaged.isEmpty {
        engine
      } else {
        WrappedEngine(engine) { DamagedStorage($0, without: damaged) }
      }
    let stores = DatabaseManager(engine: used, maximumOpen: 8, now: { clock.now })
    var settings = AccountSettings()
    settings.scrypt = try #require(ScryptParameters(rounds: 2, blockSize: 1, parallelism: 1))
    accounts = AccountService(
      stores: stores, keys: try SigningKeys.temporary(now: clock.now), settings: settings,
      now: { clock.now }, hashing: { work in work() }, adoptGuest: { _, _, _ in true },
      lists: .ofLists(now: { clock.now }))
    lists = ListService(
      stores: stores, accounts: accounts,
      hotels: HotelService(stores: stores, now: { clock.now }), now: { clock.now })
    (self.engine, self.stores, self.clock) = (engine, stores, clock)
  }

  func account(_ name: String) async throws -> AccountID {
    try await accounts.addUser(username: name, password: Secret("correct horse"))
  }

  /// Makes a list called Rome for an account.
  func list(of owner: AccountID, _ name: String) async throws -> AccountID {
    let member = ListMember(
      account: owner, name: PersonName(name), role: .owner, joinedAt: clock.now)
    return try await lists.make(title: "Rome", markdown: "", owner: member, as: .server).id
  }

  /// Invites an account to a list by name, and accepts for it.
  func join(
    _ list: AccountID, _ account: AccountID, _ name: String, as role: ListRole = .editor,
    by owner: AccountID
  ) async throws {
    let outcome = try await lists.putMember(name, role: role, on: list, by: owner, as: .server)
    guard let invitation = outcome else {
      Issue.record("\(name) was a member")
      return
    }
    _ = try await lists.accept(invitation.id.text, by: account, name, as: .server)
  }

  /// Records members of a list, and users who are invited by name, that have no accounts.
  /// - Returns: the members.
  func fill(_ list: AccountID, members: Int, invited: Int) async throws -> [AccountID] {
    let ids = (0..<members + invited).map { number in
      var generator = SeededGenerator(seed: UInt64(number))
      return AccountID.random(using: &generator)
    }
    try await stores.update(.system, as: .server) { changes in
      for id in ids.prefix(members) {
        changes.note(
          ListKeys.member(id, of: list),
          ["name": .string(id.text), "role": "reader", "joinedAt": 0])
        changes.note(ListKeys.membership(id, list), ["role": "reader", "made": false])
      }
      for id in ids.dropFirst(members) {
        changes.note(ListKeys.invited(id, to: list), [:])
        changes.note(ListKeys.invitation(of: id, to: list), [:])
      }
    }
    return Array(ids.prefix(members))
  }

  private static let localID = LocalID(stored: LocalID.clientPrefix + "note")

  /// Writes a local document of a list's store for an account, without a look at its membership.
  func writeLocal(in list: AccountID, by account: AccountID) async throws {
    let context = WriteContext(author: .user(account))
    try await stores.update(.list(list), creating: false, as: context) { changes in
      changes.write(LocalEdit(Self.localID, LocalDocument(revision: 1, body: Array("{}".utf8))))
    }
  }

  /// The local document that ``writeLocal(in:by:)`` writes.
  func local(in list: AccountID) async throws -> LocalDocument? {
    try await stores.withExisting(.list(list)) { store in
      try await store.readInline { view in try view.local(Self.localID) }
    }
  }

  /// The ids of the system store's records that name a list.
  func records(of list: AccountID) async throws -> [String] {
    try await lists.directory.read(orAbsent: []) { view in
      try view.readableLocals(DocumentRange()) { id, _ in
        id.text.contains(list.text) ? id.text : nil
      }.values
    }
  }

  func document(_ list: AccountID) async throws -> ListDocument? {
    try await stores.withExisting(.list(list)) { store in
      try await store.read { view in try ListDocument(list, in: view) }
    }
  }
}
