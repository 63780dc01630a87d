import Accounts
import CouchSync
import Hummingbird
import NIOCore
import ServiceLifecycle
import Stores

/// Writes a `_changes` answer that is longer than a page or that waits. It holds no lease while it waits; it
/// ends when the store is erased, when the server stops, and within a second when its reader may read no
/// longer.
struct CouchChangesStream: Sendable {
  /// The database.
  let store: CouchStore
  /// Says whether the reader still may read.
  let accounts: AccountService
  /// How to wait and to frame.
  let feed: CouchFeed
  /// What is asked.
  let query: ChangesQuery
  /// The first page.
  let page: ChangesPage

  /// How long a permission that has ended may be used, at most.
  private static let checkInterval = Duration.seconds(1)
  /// How exact waits are; a feed that wakes up more often gains nothing.
  private static let shortestTick = Duration.milliseconds(100)

  /// - Throws: 429 when so many feeds wait on the store that another is refused.
  func checkReaders() async throws(CouchError) {
    let readers = await store.stores.feed(for: store.owner.store).readerCount
    guard readers < CouchFeed.readersPerStore else {
      throw CouchError(
        429, "too_many_requests",
        "At most \(CouchFeed.readersPerStore) feeds may wait on a database at once")
    }
  }

  /// Writes everything.
  /// - Throws: what reading throws and what the connection throws; the answer is cut short then.
  func write(to writer: inout any ResponseBodyWriter) async throws {
    let signal = CouchFeedSignal()
    let producers = feed.kind == .normal ? [] : await producers(signal)
    defer { for producer in producers { producer.cancel() } }
    var signals = signal.stream.makeAsyncIterator()
    try await write(to: &writer, signal: signal, &signals)
    try await writer.finish(nil)
  }

  /// What wakes the writer: a commit, the clock, the end of the store or of the server.
  private func producers(_ signal: CouchFeedSignal) async -> [Task<Void, Never>] {
    let changes = await store.stores.feed(for: store.owner.store)
    let shortest = [Self.checkInterval, feed.heartbeat, feed.timeout].compactMap(\.self).min()
    let interval = max(shortest ?? Self.checkInterval, Self.shortestTick)
    return [
      Task {
        for await _ in changes.wakeUps() { signal.change() }
        signal.end()
      },
      Task {
        while (try? await Task.sleep(for: interval)) != nil { signal.tick() }
      },
      Task {
        // Throws when the feed is over before the server stops.
        try? await gracefulShutdown()
        signal.end()
      },
    ]
  }

  private func write(
    to writer: inout any ResponseBodyWriter, signal: CouchFeedSignal,
    _ signals: inout AsyncStream<Void>.Iterator
  ) async throws {
    var (query, page) = (query, page)
    var isFirst = true
    var moments = Moments()
    try await writer.write(ByteBuffer(bytes: feed.opening))
    while true {
      var bytes: [UInt8] = []
      for row in page.rows {
        bytes += feed.frame(row, isFirst: isFirst)
        isFirst = false
      }
      if !bytes.isEmpty { try await writer.write(ByteBuffer(bytes: bytes)) }
      if page.isComplete {
        query = query.later(than: page)
        let isOver =
          feed.kind == .normal || (feed.kind == .longpoll && !isFirst) || query.limit == 0
          || query.descending
        if isOver { break }
        guard try await isWoken(&writer, signal, &signals, &moments) else { break }
      } else {
        query = query.after(page)
      }
      page = try await read(query)
    }
    try await writer.write(ByteBuffer(bytes: feed.closing(page)))
  }

  private func read(_ query: ChangesQuery) async throws -> ChangesPage {
    try await CouchProblem.translating {
      try await store.reading { database throws(CouchError) in try await database.changes(query) }
    }
  }

  /// Waits for a change, with signs of life; false when the feed is to end.
  private func isWoken(
    _ writer: inout any ResponseBodyWriter, _ signal: CouchFeedSignal,
    _ signals: inout AsyncStream<Void>.Iterator, _ moments: inout Moments
  ) async throws -> Bool {
    let start = ContinuousClock.now
    while await signals.next() != nil {
      let now = ContinuousClock.now
      if now - moments.check >= Self.checkInterval {
        guard try await accounts.isStillGood(store.owner) else { return false }
        moments.check = now
      }
      if signal.takeChange() { return true }
      if let timeout = feed.timeout, now - start >= timeout { return false }
      if let heartbeat = feed.heartbeat, now - moments.beat >= heartbeat {
        try await writer.write(ByteBuffer(bytes: feed.beat))
        moments.beat = now
      }
    }
    return false
  }

  /// When what has to be done now and then was done last.
  private struct Moments {
    var check = ContinuousClock.now
    var beat = ContinuousClock.now
  }
}
