import Accounts
import Documents
import IPAddresses
import StoreTesting
import Stores
import Synchronization
import Testing

@testable import HTTPAPI

/// The registrations of a server's feeds, and what wakes and ends their writers.
@Suite(.timeLimit(.minutes(60))) struct CouchFeedsTests {
  private let stores = DatabaseManager(
    engine: MemoryEngine(), maximumOpen: 4, now: { Timestamp(seconds: 0) })

  /// Counts the checks of a reader's permission and the requests to close its connection.
  private final class Record: Sendable {
    let asked = Atomic<Int>(0)
    let closed = Atomic<Int>(0)
    let isGood = Atomic<Bool>(true)
  }

  private func reader(
    _ record: Record, permission: String = "a", waits: Bool = true, principal: String = "p",
    address: String? = nil, database: String = "db"
  ) throws -> CouchFeedReader {
    CouchFeedReader(
      store: .named(try #require(DatabaseName(database))), waits: waits, principal: principal,
      address: address.map { ClientAddress($0) }, permission: permission,
      mayRead: {
        record.asked.add(1, ordering: .relaxed)
        return record.isGood.load(ordering: .relaxed)
      },
      closeConnection: { record.closed.add(1, ordering: .relaxed) })
  }

  @Test func registrationEndsOnceHoweverItIsCancelled() async throws {
    let feeds = CouchFeeds(stores: stores)
    let record = Record()
    var registrations: [CouchFeedRegistration] = []
    for _ in 0..<CouchFeeds.perPrincipal {
      registrations.append(try await feeds.add(reader(record)))
    }
    await #expect(throws: ServiceError.self) { try await feeds.add(reader(record)) }
    // An answer that does not wait needs none of them.
    let other = try await feeds.add(reader(record, waits: false))
    #expect(feeds.count == CouchFeeds.perPrincipal + 1)
    other.cancel()
    registrations[0].cancel()
    registrations[0].cancel()
    registrations.removeFirst()
    #expect(feeds.count == CouchFeeds.perPrincipal - 1)
    registrations.removeLast()
    #expect(feeds.count == CouchFeeds.perPrincipal - 2)
    registrations.append(try await feeds.add(reader(record)))
    registrations = []
    #expect(feeds.count == 0)
  }

  /// Regression: sixteen feeds per database could wait, so one member's devices could take all places.
  @Test func feedsCountForWhoeverReadsAndNotForTheStore() async throws {
    let feeds = CouchFeeds(stores: stores)
    let record = Record()
    var registrations: [CouchFeedRegistration] = []
    for _ in 0..<CouchFeeds.perPrincipal {
      registrations.append(try await feeds.add(reader(record)))
    }
    await #expect(throws: ServiceError.self) {
      try await feeds.add(reader(record, database: "another"))
    }
    registrations.append(try await feeds.add(reader(record, principal: "q")))
    #expect(registrations.count == CouchFeeds.perPrincipal + 1)
  }

  /// Regression: 40 users took all feeds, and everybody else got 429.
  @Test func whoeverHasMostLosesOneToANewcomer() async throws {
    let feeds = CouchFeeds(stores: stores)
    let record = Record()
    var registrations: [CouchFeedRegistration] = []
    for number in 0..<CouchFeeds.total {
      let address = "192.0.2.\(number / CouchFeeds.perAddress)"
      registrations.append(
        try await feeds.add(
          reader(record, principal: "u\(number / CouchFeeds.perPrincipal)", address: address)))
    }
    let late = try await feeds.add(reader(record, principal: "late", address: "198.51.100.1"))
    #expect(feeds.waitingCount == CouchFeeds.total && late.signal.end == nil)
    #expect(registrations.filter { $0.signal.end == .displaced }.count == 1)
    await #expect(throws: ServiceError.self) {
      try await feeds.add(reader(record, principal: "more", address: "192.0.2.0"))
    }
  }

  @Test func commitWakesEveryReaderOfTheStore() async throws {
    let feeds = CouchFeeds(stores: stores)
    let record = Record()
    let name = try reader(record).store
    let registrations = [try await feeds.add(reader(record)), try await feeds.add(reader(record))]
    for registration in registrations {
      #expect(await registration.signal.next(by: nil) == .change)
    }
    // The store's feed wakes its readers once as they come.
    for registration in registrations {
      _ = await registration.signal.next(by: .now + .milliseconds(200))
    }
    try await write("a", to: name)
    for registration in registrations {
      #expect(await registration.signal.next(by: .now + .seconds(600)) == .change)
    }
    _ = try await stores.erase(name)
    for registration in registrations { #expect(await Self.lastWake(of: registration) == .end) }
    for registration in registrations { #expect(registration.signal.end == .erased) }
  }

  @Test func storeThatIsMadeAnewWakesItsReadersBesideOneThatLingers() async throws {
    let feeds = CouchFeeds(stores: stores)
    let record = Record()
    let lingering = try await feeds.add(reader(record))
    let name = lingering.signal.reader.store
    try await write("a", to: name)
    _ = try await stores.erase(name)
    #expect(await Self.lastWake(of: lingering) == .end)
    try await write("b", to: name)
    let registration = try await feeds.add(reader(record))
    while await registration.signal.next(by: .now + .milliseconds(200)) == .change {}
    try await write("c", to: name)
    #expect(await registration.signal.next(by: .now + .seconds(600)) == .change)
    #expect(registration.signal.end == nil)
    #expect(feeds.count == 2)
    lingering.cancel()
  }

  private func write(_ id: String, to store: StoreName) async throws {
    _ = try await stores.withStore(store) { store in
      try await store.put(DocumentID(id), base: nil, body: .empty)
    }
  }

  /// What comes after all changes: on a busy machine one of them may come late.
  private static func lastWake(of registration: CouchFeedRegistration) async -> CouchFeedSignal.Wake
  {
    var wake = CouchFeedSignal.Wake.change
    while wake == .change { wake = await registration.signal.next(by: .now + .seconds(600)) }
    return wake
  }

  @Test func permissionIsAskedOnceForReadersWhoShareIt() async throws {
    let feeds = CouchFeeds(stores: stores)
    let (shared, own) = (Record(), Record())
    let registrations = [
      try await feeds.add(reader(shared)), try await feeds.add(reader(shared)),
      try await feeds.add(reader(own, permission: "b")),
    ]
    while own.asked.load(ordering: .relaxed) < 2 { try await Task.sleep(for: .milliseconds(10)) }
    let ofBoth = shared.asked.load(ordering: .relaxed)
    #expect(ofBoth <= own.asked.load(ordering: .relaxed) + 1)
    shared.isGood.store(false, ordering: .relaxed)
    for registration in registrations.prefix(2) {
      #expect(await Self.lastWake(of: registration) == .end)
      #expect(registration.signal.end == .notAllowed)
    }
    #expect(registrations[2].signal.end == nil)
  }

  @Test func changesAreCoalescedAndMomentsComeInTime() async throws {
    let feeds = CouchFeeds(stores: stores)
    let signal = try await feeds.add(reader(Record())).signal
    for _ in 0..<100 { signal.change() }
    #expect(await signal.next(by: nil) == .change)
    let signalled = CouchFeedSignal(try reader(Record()))
    _ = await signalled.next(by: nil)
    // A deadline that is reached comes before changes; otherwise changes could postpone it for ever.
    signalled.change()
    #expect(await signalled.next(by: .now) == .due)
    #expect(await signalled.next(by: nil) == .change)
    signalled.end(.clientLeft)
    signalled.end(.erased)
    #expect(await signalled.next(by: nil) == .end)
    #expect(signalled.end == .clientLeft)
  }

  @Test func clockWakesAWriterAtItsMoment() async throws {
    let feeds = CouchFeeds(stores: stores)
    let registration = try await feeds.add(reader(Record()))
    let start = ContinuousClock.now
    var wake = CouchFeedSignal.Wake.change
    while wake == .change { wake = await registration.signal.next(by: start + .milliseconds(250)) }
    #expect(wake == .due)
    #expect(ContinuousClock.now - start >= .milliseconds(250))
  }

  @Test(.bug(id: "Y06")) func clientThatDoesNotReadIsCutOff() throws {
    let record = Record()
    let signal = CouchFeedSignal(try reader(record))
    let start = ContinuousClock.now
    signal.tick(start + .seconds(3_600))
    #expect(record.closed.load(ordering: .relaxed) == 0)
    signal.beginWrite()
    signal.tick(start + CouchFeedSignal.writeTimeout - .seconds(1))
    #expect(record.closed.load(ordering: .relaxed) == 0)
    signal.tick(.now + CouchFeedSignal.writeTimeout)
    #expect(record.closed.load(ordering: .relaxed) == 1)
    signal.endWrite()
    signal.tick(.now + CouchFeedSignal.writeTimeout)
    #expect(record.closed.load(ordering: .relaxed) == 1)
    // Of an answer that is to end it holds up nobody.
    signal.beginWrite()
    signal.end(.notAllowed)
    signal.tick(.now + CouchFeedSignal.grace)
    #expect(record.closed.load(ordering: .relaxed) == 2)
  }
}
