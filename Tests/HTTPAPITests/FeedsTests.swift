import Documents
import HTTPTypes
import Hummingbird
import IPAddresses
import NIOCore
import Scheduling
import StoreTesting
import Stores
import Synchronization
import Testing

@testable import HTTPAPI

/// The places of a server's feeds, and the clock that wakes and ends them.
@Suite(.timeLimit(.minutes(60))) struct FeedsTests {
  private let subscriptions = Subscriptions()
  private let feeds: Feeds

  init() { feeds = Feeds(of: subscriptions, now: { Timestamp(seconds: 0) }) }

  /// Counts the requests to close a reader's connection.
  private final class Record: Sendable {
    let closed = Atomic<Int>(0)
  }

  private func reader(
    of store: StoreName = .system, _ record: Record = Record(), waits: Bool = true,
    goodUntil: Timestamp? = nil
  ) -> Subscription {
    Subscription(
      to: .store(store), waits: waits,
      for: Subscription.Reader(
        author: .administrator, right: "a", goodUntil: goodUntil, mayRead: { true },
        closeConnection: { record.closed.add(1, ordering: .relaxed) }))
  }

  private func add(
    _ reader: Subscription, as principal: String = "p", from address: String? = nil
  ) throws -> Subscription {
    try feeds.add(reader, from: address.map { ClientAddress($0) }, as: principal)
    return reader
  }

  @Test func placeIsGivenBackOnce() async throws {
    var readers = try (0..<Feeds.perPrincipal).map { _ in try add(reader()) }
    #expect(throws: ServiceError.self) { try add(reader()) }
    // An answer that does not wait needs no place.
    let other = try add(reader(waits: false))
    #expect(feeds.count == Feeds.perPrincipal + 1 && feeds.waitingCount == Feeds.perPrincipal)
    feeds.remove(other)
    let first = readers.removeFirst()
    for _ in 0..<2 { feeds.remove(first) }
    #expect(feeds.count == Feeds.perPrincipal - 1)
    readers.append(try add(reader()))
    for reader in readers { feeds.remove(reader) }
    #expect(feeds.count == 0 && feeds.waitingCount == 0)
  }

  /// An answer that is never written, as for `HEAD`.
  @Test func answerThatIsDroppedGivesItsPlaceBack() async throws {
    struct Nothing: LongAnswerForm {
      mutating func next(after news: Subscription.News) async throws -> LongAnswerPart {
        LongAnswerPart(following: .nothing, closing: [])
      }
    }
    let reader = try add(reader())
    do { _ = LongAnswer(Nothing(), for: reader, in: feeds) }
    #expect(feeds.count == 0 && feeds.waitingCount == 0)
  }

  /// Counts what it holds.
  private final class Memory: MemoryAccount {
    let held = Atomic(0)
    func reserveAnswer(_ count: Int) -> Bool {
      held.store(count, ordering: .relaxed)
      return true
    }
    func releaseAnswer() { held.store(0, ordering: .relaxed) }
  }

  private struct Nowhere: ResponseBodyWriter {
    mutating func write(_ buffer: ByteBuffer) async throws {}
    consuming func finish(_ trailers: HTTPFields?) async throws {}
  }

  /// Hundreds of feeds of one address may wait for hours, each after a long list.
  @Test func answerThatWaitsHasGivenMemoryBack() async throws {
    struct Reading: LongAnswerForm {
      let rhythm = LongAnswerRhythm(timeout: .zero)
      mutating func next(after news: Subscription.News) async throws -> LongAnswerPart {
        #expect(Slice(of: Work.current).reserve(100))
        return LongAnswerPart(following: .news, closing: [])
      }
    }
    let (memory, work) = (Memory(), Work(ProcessorAccount(), in: Seats(stores: .forStores())))
    work.setMemory(memory)
    var writer: any ResponseBodyWriter = Nowhere()
    let answer = LongAnswer(Reading(), for: try add(reader()), in: feeds)
    try await Work.$current.withValue(work) { try await answer.write(to: &writer) }
    // Its wait was over at once, and nothing else gives it back before the end of the request.
    #expect(memory.held.load(ordering: .relaxed) == 0)
  }

  /// Regression: sixteen feeds per database could wait, so one member's devices could take all places.
  @Test func feedsCountForWhoeverReadsAndNotForTheStore() async throws {
    for _ in 0..<Feeds.perPrincipal { _ = try add(reader()) }
    let another = StoreName.named(try #require(DatabaseName("another")))
    #expect(throws: ServiceError.self) { try add(reader(of: another)) }
    _ = try add(reader(), as: "q")
    #expect(feeds.waitingCount == Feeds.perPrincipal + 1)
  }

  /// Regression: 40 users took all feeds, and everybody else got 429.
  @Test func whoeverHasMostLosesOneToANewcomer() async throws {
    var readers: [Subscription] = []
    for number in 0..<Feeds.total {
      let address = "192.0.2.\(number / Feeds.perAddress)"
      readers.append(
        try add(reader(), as: "u\(number / Feeds.perPrincipal)", from: address))
    }
    let late = try add(reader(), as: "late", from: "198.51.100.1")
    #expect(feeds.waitingCount == Feeds.total && late.end == nil)
    #expect(readers.filter { $0.end == .displaced }.count == 1)
    #expect(throws: ServiceError.self) { try add(reader(), as: "more", from: "192.0.2.0") }
  }

  @Test func momentsComeBeforeNewsAndTheFirstEndCounts() async throws {
    let reader = try add(reader())
    // Otherwise news could postpone it for ever.
    #expect(await reader.next(by: .now) == .due)
    #expect(await reader.news() != nil)
    reader.end(.clientLeft)
    reader.end(.erased)
    #expect(await reader.next(by: nil) == .end)
    #expect(reader.end == .clientLeft)
  }

  @Test func clockWakesAReaderAtItsMoment() async throws {
    let reader = try add(reader())
    let start = ContinuousClock.now
    _ = await reader.news()
    #expect(await reader.next(by: start + .milliseconds(250)) == .due)
    #expect(ContinuousClock.now - start >= .milliseconds(250))
  }

  @Test func rightEndsAtItsTime() async throws {
    let (ended, reader) = (
      try add(reader(goodUntil: Timestamp(seconds: 0))),
      try add(reader(goodUntil: Timestamp(seconds: 1)))
    )
    #expect(await ended.lastWake() == .end)
    #expect(ended.end == .notAllowed && reader.end == nil)
    reader.tick(.now, Timestamp(seconds: 1), longestWrite: Feeds.longestWrite)
    #expect(reader.end == .notAllowed)
  }

  @Test(.bug(id: "Y06")) func clientThatDoesNotReadIsCutOff() throws {
    let record = Record()
    let reader = reader(record)
    func tick(_ now: ContinuousClock.Instant) {
      reader.tick(now, Timestamp(seconds: 0), longestWrite: Feeds.longestWrite)
    }
    tick(.now + .seconds(3_600))
    #expect(record.closed.load(ordering: .relaxed) == 0)
    let start = ContinuousClock.now
    reader.note(isWriting: true)
    tick(start + Feeds.longestWrite - .seconds(1))
    #expect(record.closed.load(ordering: .relaxed) == 0)
    tick(.now + Feeds.longestWrite)
    #expect(record.closed.load(ordering: .relaxed) == 1)
    reader.note(isWriting: false)
    tick(.now + Feeds.longestWrite)
    #expect(record.closed.load(ordering: .relaxed) == 1)
    // Of an answer that is to end it holds up nobody.
    reader.note(isWriting: true)
    reader.end(.notAllowed)
    tick(.now + Subscription.grace)
    #expect(record.closed.load(ordering: .relaxed) == 2)
  }
}
