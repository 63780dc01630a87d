import CouchSync
import Hummingbird
import Lanes
import NIOCore
import Stores

/// Writes a `_changes` answer that waits or is longer than a page. It holds no lease while it waits. It ends when the
/// client closes the connection, when the store is erased, when the server stops, and within a second after the
/// reader's permission ends.
struct CouchChangesStream: Sendable {
  /// Bytes that are written at a time. A client has to read them within ``CouchFeedSignal/writeTimeout``.
  static let chunkBytes = 64 << 10

  /// The database.
  let store: CouchStore
  /// How to wait and how to frame rows.
  let feed: CouchFeed
  /// The slot among the feeds.
  let registration: CouchFeedRegistration
  /// The client's query.
  let query: ChangesQuery
  /// The first page.
  let page: ChangesPage

  /// Ends the answer early, so that it does not look complete.
  private struct IncompleteAnswer: Error {}

  /// When the last row was written, and when anything was written last.
  private struct Moments {
    var row = ContinuousClock.now
    var write = ContinuousClock.now
  }

  /// Writes the whole answer.
  /// - Throws: the errors of reading and of the connection; the answer is then incomplete.
  @concurrent func write(to writer: inout any ResponseBodyWriter) async throws {
    defer { registration.cancel() }
    try await writePages(to: &writer)
    try await writer.finish(nil)
  }

  @concurrent private func writePages(to writer: inout any ResponseBodyWriter) async throws {
    var (query, page) = (query, page)
    var isFirst = true
    var moments = Moments()
    // An empty write also sends the head.
    try await writer.write(ByteBuffer(bytes: feed.opening))
    while true {
      if !page.rows.isEmpty {
        let separator = isFirst ? [] : feed.separator
        try await send(feed.frame(page.rows), after: separator, isRows: true, to: &writer)
        isFirst = false
        moments = Moments()
      }
      if page.isComplete {
        query = query.later(than: page)
        if isOver(query, hasRows: !isFirst) { break }
        guard try await isWoken(&writer, &moments) else { break }
        Work.current?.resetCost()
      } else {
        query = query.after(page)
        guard try await mayContinue(&writer, &moments) else { break }
      }
      let next: ChangesPage
      do { next = try await read(query) } catch
        where ServiceError(error)?.couch.status == 404
      {
        // Since the last check the store or the permission is gone.
        if feed.kind == .normal { throw IncompleteAnswer() }
        break
      }
      if next.isRewound {
        // A new store has the same name. The client asks again with its last token, and the answer to that says so.
        if feed.kind == .normal { throw IncompleteAnswer() }
        break
      }
      page = next
    }
    try await send(feed.closing(page), to: &writer)
  }

  /// Whether the query is completely answered.
  private func isOver(_ query: ChangesQuery, hasRows: Bool) -> Bool {
    feed.kind == .normal || (feed.kind == .longpoll && hasRows) || query.limit == 0
      || query.descending
  }

  private func read(_ query: ChangesQuery) async throws -> ChangesPage {
    try await store.reading { database in try await database.changes(query) }
  }

  /// Waits for a change and sends heartbeats meanwhile. It returns false if the feed has to end.
  @concurrent private func isWoken(
    _ writer: inout any ResponseBodyWriter, _ moments: inout Moments
  ) async throws -> Bool {
    while true {
      switch await registration.signal.next(by: due(moments)) {
      case .change: return true
      case .end: return false
      case .due:
        guard feed.heartbeat != nil else { return false }
        try await beat(&writer, &moments)
      }
    }
  }

  /// Sends a heartbeat between two pages if one is due. It returns false if the feed has to end.
  /// - Throws: ``IncompleteAnswer`` for an answer of kind `normal`, which would look complete.
  @concurrent private func mayContinue(
    _ writer: inout any ResponseBodyWriter, _ moments: inout Moments
  ) async throws -> Bool {
    if registration.signal.end != nil {
      if feed.kind == .normal { throw IncompleteAnswer() }
      return false
    }
    if feed.heartbeat != nil, let due = due(moments), due <= .now {
      try await beat(&writer, &moments)
    }
    return true
  }

  /// When to send the next heartbeat, or to end the feed if it has none.
  private func due(_ moments: Moments) -> ContinuousClock.Instant? {
    feed.heartbeat.map { moments.write + $0 } ?? feed.timeout.map { moments.row + $0 }
  }

  @concurrent private func beat(
    _ writer: inout any ResponseBodyWriter, _ moments: inout Moments
  ) async throws {
    try await send(feed.beat, to: &writer)
    moments.write = .now
  }

  /// Writes in pieces. The client has to read each of them in time.
  /// - Parameter prefix: a few bytes that come first.
  /// - Throws: ``IncompleteAnswer`` for rows that the reader may no longer read.
  @concurrent private func send(
    _ bytes: [UInt8], after prefix: [UInt8] = [], isRows: Bool = false,
    to writer: inout any ResponseBodyWriter
  ) async throws {
    for start in stride(from: 0, to: bytes.count, by: Self.chunkBytes) {
      var piece = ByteBuffer(bytes: start == 0 ? prefix : [])
      piece.writeBytes(bytes[start..<min(start + Self.chunkBytes, bytes.count)])
      if isRows, case .notAllowed = registration.signal.end { throw IncompleteAnswer() }
      registration.signal.beginWrite()
      defer { registration.signal.endWrite() }
      Work.current?.addMovedBytes(piece.readableBytes)
      try await writer.write(piece)
    }
  }
}
