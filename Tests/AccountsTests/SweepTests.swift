import Documents
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import Accounts

/// What goes once no token can lead to it any more, and what stays.
struct SweepTests {
  private static let day: Int64 = 86_400

  /// A service that sweeps as the days pass.
  private final class Broom {
    var fixture: AccountFixture
    var state: SweepState

    init() async throws {
      fixture = try await AccountFixture.make()
      state = SweepState(at: fixture.clock.now)
    }

    /// Lets days pass in which the server runs.
    func pass(days: Int64) {
      for _ in 0..<days {
        fixture.clock.advance(seconds: SweepTests.day)
        state.advance(to: fixture.clock.now, afterRunning: SweepTests.day)
      }
    }

    /// Sweeps all guests, nobody of whom is here now.
    /// - Returns: how many stores were erased.
    func sweep() async throws -> Int {
      fixture = try await fixture.restarted()
      let waiting = try await fixture.service.guestsOnTheirWay()
      var count = 0
      for case .guest(let id) in try await guests()
      where try await fixture.service.sweep(guest: id, by: state, onTheirWay: waiting) {
        count += 1
      }
      return count
    }

    /// Sweeps the notes.
    func sweepNotes() async throws -> Remains {
      let waiting = try await fixture.service.guestsOnTheirWay()
      return try await fixture.service.sweepNotes(after: nil, by: state, onTheirWay: waiting)
        .remains
    }

    func guests() async throws -> [StoreName] {
      try await fixture.engine.names(in: "guest", after: nil, limit: 10)
    }

    /// A guest with something in the store.
    func guest() async throws -> (principal: Principal, token: String) {
      let guest = try await fixture.guest()
      try await write(guest.principal.store)
      return guest
    }

    func write(_ name: StoreName) async throws {
      let body = try DocumentBody(["type": "hotel"])
      _ = try await fixture.manager.withStore(name) { store throws(StoreError) in
        try await store.put(DocumentID(stored: "hotel"), base: nil, body: body)
      }
    }

    /// The documents of the system store, tombstones included.
    func notes() async throws -> Int {
      try await fixture.manager.withStore(.system) { store throws(StoreError) in
        try await store.read { view throws(StoreError) in
          try view.count(DocumentRange(includesDeleted: true), among: 99).count
        }
      }
    }
  }

  @Test func guestsStoreGoesAWeekAfterTheLastTokenEnded() async throws {
    let broom = try await Broom()
    _ = try await broom.guest()
    #expect(try await broom.sweep() == 0)
    broom.pass(days: 36)
    #expect(try await broom.sweep() == 0)
    broom.pass(days: 1)
    #expect(try await broom.sweep() == 1)
    #expect(try await broom.guests().isEmpty)
  }

  @Test func storeThatTheSweeperNeverSawCountsFromThenOn() async throws {
    let broom = try await Broom()
    broom.pass(days: 29)
    _ = try await broom.guest()
    broom.pass(days: 25)
    #expect(try await broom.sweep() == 0)
    broom.pass(days: 36)
    #expect(try await broom.sweep() == 0)
    broom.pass(days: 1)
    #expect(try await broom.sweep() == 1)
  }

  @Test func renewedTokenKeepsTheStoreForAnotherLife() async throws {
    let broom = try await Broom()
    let guest = try await broom.guest()
    #expect(try await broom.sweep() == 0)
    broom.pass(days: 29)
    let renewed = try #require(await broom.fixture.service.renewed(guest.principal))
    broom.pass(days: 29)
    #expect(try await broom.sweep() == 0)
    let again = try await broom.fixture.service.authenticate(bearer: renewed.token.exposed)
    #expect(again.id == guest.principal.id)
    broom.pass(days: 8)
    #expect(try await broom.sweep() == 1)
  }

  @Test func renewalThatCannotBeNotedIsNone() async throws {
    let broom = try await Broom()
    let guest = try await broom.guest()
    broom.pass(days: 29)
    broom.fixture.engine.failWrites(
      to: guest.principal.store, with: StoreError(.storage, "The disk is gone"))
    #expect(await broom.fixture.service.renewed(guest.principal) == nil)
  }

  @Test func f21ClockThatRunsAheadErasesNobody() async throws {
    let broom = try await Broom()
    let guest = try await broom.guest()
    #expect(try await broom.sweep() == 0)
    broom.pass(days: 5)
    for step in [36, 3_650] {
      broom.fixture.clock.step(seconds: Int64(step) * Self.day)
      broom.state.advance(to: broom.fixture.clock.now, afterRunning: Self.day)
      #expect(try await broom.sweep() == 0)
      broom.fixture.clock.step(seconds: -Int64(step) * Self.day)
      broom.state.advance(to: broom.fixture.clock.now, afterRunning: Self.day)
      #expect(try await broom.sweep() == 0)
    }
    #expect(
      try await broom.fixture.service.authenticate(bearer: guest.token).id == guest.principal.id)
  }

  @Test func f21StoreMadeUnderAClockThatWasBehindIsNotOldOnceItIsRight() async throws {
    let broom = try await Broom()
    broom.fixture.clock.step(seconds: -20_000 * Self.day)
    _ = try await broom.guest()
    #expect(try await broom.sweep() == 0)
    broom.fixture.clock.step(seconds: 20_000 * Self.day)
    #expect(try await broom.sweep() == 0)
  }

  @Test func storeInUseStays() async throws {
    let broom = try await Broom()
    let guest = try await broom.guest()
    #expect(try await broom.sweep() == 0)
    broom.pass(days: 40)
    try await broom.fixture.manager.withExisting(guest.principal.store) { _ in
      let erased = try await broom.fixture.service.sweep(
        guest: guest.principal.id, by: broom.state, onTheirWay: [])
      #expect(!erased)
    }
    #expect(try await broom.sweep() == 1)
  }

  @Test func guestOnTheWayIntoAnAccountStaysUntilAllHasArrived() async throws {
    let broom = try await Broom()
    let guest = try await broom.guest()
    broom.fixture.adoptions.leaveSomething(true)
    _ = try await broom.fixture.signUp("demo", guest: guest.principal)
    #expect(try await broom.sweep() == 0)
    broom.pass(days: 400)
    #expect(try await broom.sweep() == 0)
    #expect(try await broom.sweepNotes().kept[.adoptions] == 1)
    // The next log-in takes the rest over.
    _ = try await broom.fixture.logIn("demo")
    #expect(try await broom.fixture.service.guestsOnTheirWay().isEmpty)
    #expect(try await broom.sweep() == 1)
    #expect(try await broom.sweepNotes().removed[.adoptions] == 1)
  }

  @Test func noteOnAGuestOutlivesTheTokenAndTheStore() async throws {
    let broom = try await Broom()
    let guest = try await broom.guest()
    _ = try await broom.fixture.signUp("demo", guest: guest.principal)
    broom.pass(days: 36)
    #expect(try await broom.sweepNotes().kept[.adoptions] == 1)
    broom.pass(days: 2)
    // The store is there as yet.
    #expect(try await broom.sweepNotes().removed[.adoptions] == 0)
    #expect(try await broom.sweep() == 0)
    broom.pass(days: 37)
    #expect(try await broom.sweep() == 1)
    #expect(try await broom.sweepNotes().removed[.adoptions] == 1)
    #expect(try await broom.notes() == 1)
  }

  @Test func nothingIsLeftOfErasedNames() async throws {
    let broom = try await Broom()
    for name in ["one", "two"] {
      try await broom.fixture.service.erase(try await broom.fixture.signUp(name).principal)
    }
    let kept = try await broom.fixture.signUp("kept")
    #expect(try await broom.notes() == 5)
    #expect(try await broom.sweepNotes().removed[.names] == 4)
    #expect(try await broom.notes() == 1)
    #expect(try await broom.fixture.logIn("kept").principal.id == kept.principal.id)
    _ = try await broom.fixture.signUp("one")
  }

  @Test func erasedAccountTakesTheGuestsStoresWithIt() async throws {
    let broom = try await Broom()
    let (guest, other) = (try await broom.guest(), try await broom.guest())
    let session = try await broom.fixture.signUp("demo", guest: guest.principal)
    try await broom.write(session.principal.store)
    try await broom.fixture.service.erase(session.principal)
    #expect(try await broom.guests() == [other.principal.store])
  }

  @Test func f04InterruptedErasureTakesTheGuestsStoresAtTheNextStart() async throws {
    let broom = try await Broom()
    let guest = try await broom.guest()
    let session = try await broom.fixture.signUp("demo", guest: guest.principal)
    // What a crash after the first step leaves behind; the account has no store of its own.
    _ = try await broom.fixture.service.accounts.endUser(
      UserName("demo"), id: session.principal.id)
    broom.fixture = try await broom.fixture.restarted()
    #expect(try await broom.guests() == [guest.principal.store])
    #expect(try await broom.fixture.service.finishErasures().isEmpty)
    #expect(try await broom.guests().isEmpty)
  }
}
