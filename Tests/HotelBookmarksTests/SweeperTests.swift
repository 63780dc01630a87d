import Accounts
import Documents
import Hotels
import IPAddresses
import Logging
import StoreTesting
import Stores
import Synchronization
import Testing

@testable import HotelBookmarks

/// The sweep over all stores. The clock advances by the time that the sweeper sleeps.
struct SweeperTests {
  @Test func guestsAreErasedOnceNoTokenCanBeLeft() async throws {
    let fixture = try await SweeperFixture(guests: 250)
    try await fixture.run(days: 1)
    let openings = fixture.engine.tally.opened
    try await fixture.run(days: 28)
    #expect(try await fixture.guests() == 250)
    // The sweeper opened no store only to find that it is not due.
    #expect(fixture.engine.tally.opened - openings < 30)
    try await fixture.run(days: 4)
    #expect(try await fixture.guests() == 0)
    // Only the accounts' store is open.
    #expect(fixture.engine.tally.open == 1)
  }

  @Test func adoptionThatFailedIsFinishedInTheNextRound() async throws {
    let fixture = try await SweeperFixture(guests: 1)
    guard case .guest(let guest) = try fixture.name(0) else { return }
    let principal = Principal(
      kind: .guest, id: guest, username: nil, store: try fixture.name(0))
    fixture.adoptions.fail.withLock { $0 = true }
    _ = try await fixture.accounts.signUp(
      username: "anna", password: Secret("long enough"), guest: principal,
      from: ClientAddress("127.0.0.1"))
    #expect(try await fixture.accounts.openAdoptions().all.count == 1)
    try await fixture.run(days: 1)
    #expect(try await fixture.accounts.openAdoptions().all.count == 1)
    fixture.adoptions.fail.withLock { $0 = false }
    try await fixture.run(days: 2)
    #expect(try await fixture.accounts.openAdoptions().all.isEmpty)
  }

  @Test func aRoundThatAnotherServerHasBegunIsNotBegunAgain() {
    let start = ContinuousClock.now
    let now = Timestamp(milliseconds: 1_800_000_000_000)
    var progress = SweepProgress(SweepState(at: now), since: start)
    #expect(progress.isDue(at: now))
    progress.learn(of: nil)
    #expect(progress.isDue(at: now))
    progress.learn(of: now.adding(seconds: -60))
    #expect(!progress.isDue(at: now))
    progress.learn(of: now.adding(seconds: -Sweeper.roundSeconds))
    #expect(!progress.isDue(at: now))
    #expect(progress.isDue(at: now.adding(seconds: Sweeper.roundSeconds)))
  }

  @Test func guestWhoseNoteIsMissingIsFoundAllTheSame() async throws {
    let fixture = try await SweeperFixture(guests: 3)
    try await fixture.run(days: 1)
    guard case .guest(let guest) = try fixture.name(1) else { return }
    try await fixture.stores.withStore(.system) { store in
      try await store.update { changes in
        changes.write(LocalEdit(LocalID(receipt: "guest-rest/" + guest.text), nil))
      }
    }
    let openings = fixture.engine.tally.opened
    try await fixture.run(days: 1)
    #expect(fixture.engine.tally.opened > openings)
    try await fixture.run(days: 31)
    #expect(try await fixture.guests() == 0)
  }

  @Test func guestWhoWasHereAgainIsFoundWhenTheNewTimeIsOver() async throws {
    let fixture = try await SweeperFixture(guests: 1)
    try await fixture.run(days: 29)
    try await fixture.use(0)
    try await fixture.run(days: 29)
    #expect(try await fixture.guests() == 1)
    try await fixture.run(days: 3)
    #expect(try await fixture.guests() == 0)
  }

  @Test func tombstonesGoAfterTheirDays() async throws {
    let fixture = try await SweeperFixture(guests: 0)
    let user = StoreName.user(try #require(AccountID(String(repeating: "a", count: 32))))
    let id = DocumentID(stored: "hotel_1")
    try await fixture.stores.withStore(user) { store in
      let revision = try await store.put(id, base: nil, body: .empty)
      try await store.delete(id, base: revision)
    }
    try await fixture.run(days: 89)
    func tombstones() async throws -> Int64 {
      try await fixture.stores.withExisting(user) { store in
        try await store.read { view in try view.info().deletedCount }
      }
    }
    #expect(try await tombstones() == 1)
    try await fixture.run(days: 3)
    #expect(try await tombstones() == 0)
  }

  @Test func roundTakesNoSlotFromWhoeverHasAStoreOpen() async throws {
    let fixture = try await SweeperFixture(guests: 20)
    let name = try fixture.name(1)
    try await fixture.stores.withStore(name) { _ in }
    try await fixture.run(days: 1)
    #expect(fixture.stores.isInUse(name))
    #expect(fixture.stores.openCount == 2)
  }

  @Test func roundWhosePositionCannotBeSavedVisitsNoStoreAgain() async throws {
    let fixture = try await SweeperFixture(guests: 0)
    for number in 0..<250 {
      guard case .guest(let id) = try fixture.name(number) else { return }
      try await fixture.stores.withStore(.user(id)) { _ in }
    }
    try await fixture.stores.withStore(.system) { _ in }
    fixture.engine.failWrites(to: .system, with: ServiceError(.storageFull, ""))
    let sweeper = fixture.sweeper(stopsAfter: 1_000, eachSleep: 60)
    await sweeper.run()
    #expect((250...251).contains(sweeper.counts.storeCount))
  }

  @Test func cancelledWalkEndsAndGoesOnWhereItWas() async throws {
    let fixture = try await SweeperFixture(guests: 250)
    // The sweep stops in the second hundred of names, after ten minutes.
    let sweeper = fixture.sweeper(stopsAfter: 132, eachSleep: 60)
    await sweeper.run()
    #expect(sweeper.counts.storeCount == 130)
    let state = try await fixture.accounts.sweepState()
    #expect(state.position == (try fixture.name(99).key))
  }

  /// Stores in memory, and a clock.
  private final class SweeperFixture: Sendable {
    let engine = MemoryEngine()
    let stores: DatabaseManager
    let accounts: AccountService
    let hotels: HotelService
    let adoptions = Adoptions()
    private let clock = ManualClock()

    init(guests: Int) async throws {
      let clock = clock
      let adoptions = adoptions
      stores = DatabaseManager(engine: engine, maximumOpen: 8, now: { clock.now })
      var settings = AccountSettings()
      settings.guestLifetime = 30 * 86_400
      accounts = AccountService(
        stores: stores, keys: try SigningKeys.temporary(now: clock.now),
        settings: settings, now: { clock.now }, hashing: { $0() },
        adoptGuest: { _, _, _ in
          if adoptions.fail.withLock({ $0 }) { throw ServiceError(.storageFull, "") }
          return true
        }, lists: .none)
      hotels = HotelService(stores: stores, now: { clock.now })
      for number in 0..<guests {
        let storage = try #require(await engine.open(name(number), creating: true))
        await storage.close()
      }
    }

    func name(_ number: Int) throws -> StoreName {
      let digits = String(number)
      return .guest(
        try #require(AccountID(String(repeating: "0", count: 32 - digits.utf8.count) + digits)))
    }

    /// Records that a guest is active now, as the renewal of a token does.
    func use(_ number: Int) async throws {
      let body = Array("{\"at\":\(clock.now.milliseconds)}".utf8)
      let storage = try #require(await engine.open(name(number), creating: false))
      try await storage.update(loading: [], at: clock.now) { changes in
        let note = LocalDocument(revision: 2, body: body)
        changes.write(LocalEdit(LocalID(receipt: "used"), note))
      }
      await storage.close()
    }

    func guests() async throws -> Int {
      try await engine.names(in: "guest", after: nil, limit: 1_000).count
    }

    func run(days: Int64) async throws {
      let end = clock.seconds + days * 86_400
      await sweeper(until: end, eachSleep: 60).run()
    }

    func sweeper(
      stopsAfter count: Int = .max, until end: Int64 = .max, eachSleep seconds: Int64
    ) -> Sweeper {
      let (clock, sleeps) = (clock, ManualClock())
      return Sweeper(
        accounts: accounts, hotels: hotels, engine: engine, counts: SweepCounts(),
        logger: Logger(label: "test"), tombstoneSeconds: 90 * 86_400, now: { clock.now },
        uptime: { clock.uptime },
        sleep: { _ in
          clock.advance(seconds)
          sleeps.advance(1)
          return sleeps.seconds <= count && clock.seconds < end
        })
    }
  }

  /// Replaces the code that copies a guest's data.
  private final class Adoptions: Sendable {
    let fail = Mutex(false)
  }

  /// A wall clock and an uptime that advance together.
  private final class ManualClock: Sendable {
    private let elapsed = Mutex<Int64>(0)
    private let start = ContinuousClock.now

    var seconds: Int64 { elapsed.withLock { $0 } }
    var now: Timestamp { Timestamp(seconds: 1_800_000_000 + seconds) }
    var uptime: ContinuousClock.Instant { start + .seconds(seconds) }

    func advance(_ seconds: Int64) { elapsed.withLock { $0 += seconds } }
  }
}
