import StoreTesting
import Stores
import Synchronization
import TestSupport
import Testing

@testable import Accounts

/// Several processes over the same accounts: here, several services over one manager of stores.
@Suite struct SharedAccountsTests {
  private let clock = TestClock()
  private let manager: DatabaseManager
  private let secrets: SharedSecrets
  private let scrypt: ScryptParameters
  private let hashCount = Counter()

  private final class Counter: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }

    func add() { value.withLock { $0 += 1 } }
  }

  init() throws {
    let clock = clock
    manager = DatabaseManager(engine: MemoryEngine(), maximumOpen: 8, now: { clock.now })
    secrets = SharedSecrets(stores: manager)
    scrypt = try #require(ScryptParameters(rounds: 2, blockSize: 1, parallelism: 1))
  }

  /// A service as another process would have it.
  private func process() async throws -> AccountService {
    var settings = AccountSettings()
    settings.scrypt = scrypt
    settings.isShared = true
    let (clock, hashCount) = (clock, hashCount)
    return AccountService(
      stores: manager, keys: try await SigningKeys.open(in: secrets, now: clock.now),
      settings: settings, now: { clock.now }, uptime: { clock.uptime },
      hashing: { work in
        hashCount.add()
        return work()
      },
      adoptGuest: { _, _, _ in true }, lists: .none)
  }

  private func signUp(at service: AccountService) async throws -> Session {
    try await service.signUp(
      username: "demo", password: AccountFixture.password, guest: nil, from: AccountFixture.home)
  }

  private func isRefused(_ session: Session, at service: AccountService) async throws -> Bool {
    let code = try await failure {
      _ = try await service.authenticate(bearer: session.token.token.exposed)
    }
    return code == .invalidToken
  }

  @Test func tokensOfOneProcessAreGoodAtAllOthers() async throws {
    let (first, second) = (try await process(), try await process())
    let session = try await signUp(at: first)
    #expect(try await !isRefused(session, at: second))
  }

  @Test func aLogOutHoldsEverywhereAfterASecond() async throws {
    let (first, second) = (try await process(), try await process())
    let session = try await signUp(at: first)
    #expect(try await !isRefused(session, at: second))
    #expect(try await second.isStillValid(session.principal))
    try await first.logOut(session.principal)
    clock.advance(seconds: 2)
    #expect(try await isRefused(session, at: second))
    #expect(try await !second.isStillValid(session.principal))
  }

  @Test func aGuestsSignUpHoldsAtOnceForAWriteThatAsksExactly() async throws {
    let (first, second) = (try await process(), try await process())
    let token = try await first.createGuest(from: AccountFixture.home).token.token.exposed
    let guest = try await second.authenticate(bearer: token)
    #expect(try await second.isStillValid(guest))
    _ = try await first.signUp(
      username: "demo", password: AccountFixture.password, guest: guest,
      from: AccountFixture.home)
    // Another process may rely on what it has looked up for a second, but no acknowledgement may.
    #expect(try await second.isStillValid(guest))
    #expect(try await !second.isStillValid(guest, isExact: true))
  }

  @Test func aVerifiedPasswordIsLookedAtEachSecondAndNotHashed() async throws {
    let (first, second) = (try await process(), try await process())
    let session = try await signUp(at: first)
    func authenticate() async throws {
      _ = try await second.authenticate(
        username: "demo", password: AccountFixture.password, from: AccountFixture.home)
    }
    try await authenticate()
    let hashes = hashCount.count
    for _ in 0..<5 {
      clock.advance(seconds: 2)
      try await authenticate()
    }
    #expect(hashCount.count == hashes)
    _ = try await first.changePassword(
      of: session.principal, from: AccountFixture.password, to: Secret("another horse"),
      at: AccountFixture.home)
    clock.advance(seconds: 2)
    #expect(try await failure { try await authenticate() } == .badCredentials)
  }

  @Test func aKeyThatAnotherProcessHasJustMadeIsFoundAtOnce() async throws {
    let (first, second) = (try await process(), try await process())
    _ = try await first.createGuest(from: AccountFixture.home)
    let keys = try await SigningKeys.open(in: secrets, now: clock.now)
    try await keys.rotate(now: clock.now)
    try await first.keys.reload()
    let fresh = try await first.createGuest(from: AccountFixture.home).token.token.exposed
    #expect(try await second.authenticate(bearer: fresh).kind == .guest)
    #expect(second.keys.current?.id == keys.current?.id)
  }

  @Test func rotationsOfTwoProcessesKeepBothKeys() async throws {
    let (first, second) = (try await process(), try await process())
    let before = try #require(first.keys.current?.id)
    try await first.keys.rotate(now: clock.now)
    try await second.keys.rotate(now: clock.now)
    try await first.keys.reload()
    let made = try #require(second.keys.current?.id)
    #expect(first.keys.current?.id == made)
    #expect(first.keys.key(before, at: clock.now) != nil)
    try await first.keys.rotate(now: clock.now, endingAll: true)
    try await second.keys.reload()
    #expect(second.keys.key(before, at: clock.now) == nil)
    #expect(second.keys.key(made, at: clock.now) == nil)
    #expect(second.keys.current?.id == first.keys.current?.id)
  }

  @Test func oneProcessMakesTheAdministratorsPasswordAndAllShareItsEpoch() async throws {
    let administrator = SharedAdministrator(secrets, scrypt: scrypt)
    // Two processes start at once, and a third one fails before it shows its password.
    let (first, epoch) = try await administrator.password()
    let (second, _) = try await administrator.password()
    let (failed, _) = try await administrator.password()
    #expect(first.fresh != nil && second.fresh != nil && failed.fresh != nil)
    #expect(try await administrator.storedPassword() == nil)
    #expect(try await administrator.store(first))
    #expect(try await !administrator.store(second))
    let (later, other) = try await administrator.password()
    #expect(later.fresh == nil && epoch == other)
    #expect(later.hash.value == first.hash.value)
    let stored = try await administrator.storedPassword()
    #expect(stored?.epoch == epoch && stored?.hash == first.hash)
    _ = try await administrator.reset()
    let (third, last) = try await administrator.password()
    #expect(third.fresh == nil && last != epoch)
    #expect(try await administrator.storedPassword()?.epoch == last)
  }

  @Test func theEpochDependsOnTheOperatorsPassword() async throws {
    let administrator = SharedAdministrator(secrets, scrypt: scrypt)
    let epoch = try await administrator.epoch(of: Secret("one password"))
    #expect(try await administrator.epoch(of: Secret("one password")) == epoch)
    #expect(try await administrator.epoch(of: Secret("another one")) != epoch)
  }
}
