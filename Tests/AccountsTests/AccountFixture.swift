import IPAddresses
import StoreTesting
import Stores
import Synchronization
import TestSupport
import Testing

@testable import Accounts

/// An account service over the engine in memory, with a clock that the test controls and cheap password hashes.
final class AccountFixture: Sendable {
  let engine: MemoryEngine
  let keys: SigningKeys
  let clock: TestClock
  let settings: AccountSettings
  let adoptions = Adoptions()
  let manager: DatabaseManager
  let service: AccountService
  private let documents: (any IssuerDocuments)?
  private let hashes = HashCount()

  /// The client's address unless a test specifies another one.
  static let home = ClientAddress("192.0.2.1")
  static let abroad = ClientAddress("198.51.100.7")
  /// A valid password for tests that need any password.
  static let password = Secret("correct horse")

  /// The number of passwords that were hashed.
  var hashCount: Int { hashes.count }

  private init(
    engine: MemoryEngine, keys: SigningKeys, clock: TestClock, settings: AccountSettings,
    documents: (any IssuerDocuments)?, without damaged: Set<String> = []
  ) {
    self.documents = documents
    self.engine = engine
    self.keys = keys
    self.clock = clock
    self.settings = settings
    let used = WrappedEngine(engine) { storage in
      damaged.isEmpty ? storage : DamagedStorage(storage, without: damaged)
    }
    manager = DatabaseManager(engine: used, maximumOpen: 8, now: { clock.now })
    service = AccountService(
      stores: manager, keys: keys, settings: settings, now: { clock.now },
      uptime: { clock.uptime },
      hashing: { [hashes] work in
        hashes.add()
        return work()
      },
      adoptGuest: { [adoptions] guest, user, _ in
        try adoptions.adopt(guest, user)
      }, lists: .none, issuerDocuments: documents)
  }

  /// A service without any user.
  static func make(
    documents: (any IssuerDocuments)? = nil,
    _ change: (inout AccountSettings) throws -> Void = { _ in }
  ) async throws -> AccountFixture {
    var settings = AccountSettings()
    settings.scrypt = try #require(ScryptParameters(rounds: 2, blockSize: 1, parallelism: 1))
    try change(&settings)
    let clock = TestClock()
    return AccountFixture(
      engine: MemoryEngine(), keys: try SigningKeys.temporary(now: clock.now), clock: clock,
      settings: settings, documents: documents)
  }

  /// The service after a stop and a start, over the same stores and keys.
  /// - Parameter damaged: the ids of documents and local documents that can't be read.
  func restarted(
    without damaged: Set<String> = [], _ change: (inout AccountSettings) throws -> Void = { _ in }
  ) async throws -> AccountFixture {
    await manager.close()
    var settings = settings
    try change(&settings)
    return AccountFixture(
      engine: engine, keys: keys, clock: clock, settings: settings, documents: documents,
      without: damaged)
  }

  /// Signs up a user with the usual password.
  func signUp(_ name: String, guest: Principal? = nil) async throws -> Session {
    try await service.signUp(
      username: name, password: Self.password, guest: guest, from: Self.home)
  }

  /// Logs a user in with the usual password.
  func logIn(_ name: String, guestToken: String? = nil) async throws -> Session {
    try await service.logIn(
      username: name, password: Self.password, guestToken: guestToken, from: Self.home)
  }

  func guest() async throws -> (principal: Principal, token: String) {
    let token = try await service.createGuest(from: Self.home).token.token.exposed
    return (try await service.authenticate(bearer: token), token)
  }
}

/// A counter that several tasks may increment.
private final class HashCount: Sendable {
  private let value = Mutex(0)

  var count: Int { value.withLock { $0 } }

  func add() { value.withLock { $0 += 1 } }
}

/// The code of the error that `work` throws; nil if it succeeds.
func failure(_ work: () async throws -> Void) async throws -> ServiceError.Code? {
  do {
    try await work()
    return nil
  } catch let error as ServiceError {
    return error.code
  }
}
