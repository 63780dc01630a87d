import CouchSync
import Hummingbird
import Lanes
import NIOCore
import Stores

/// Writes a `_changes` answer that is longer than a page or that waits. It holds no lease while it waits; it
/// ends when the client goes away, when the store is erased, when the server stops, and within a second when
/// its reader may read no longer.
struct CouchChangesStream: Sendable {
  /// Bytes that are written at a time: as much as the slowest client must take in
  /// ``CouchFeedSignal/patience``.
  static let chunkBytes = 64 << 10

  /// The database.
  let store: CouchStore
  /// How to wait and to frame.
  let feed: CouchFeed
  /// The place among the feeds.
  let place: CouchFeedPlace
  /// What is asked.
  let query: ChangesQuery
  /// The first page.
  let page: ChangesPage

  /// An answer that can't be finished and must not look as if it were.
  private struct Cut: Error {}

  /// When what counts was written last.
  private struct Moments {
    var row = ContinuousClock.now
    var write = ContinuousClock.now
  }

  /// Writes everything.
  /// - Throws: what reading throws and what the connection throws; the answer is cut short then.
  @concurrent func write(to writer: inout any ResponseBodyWriter) async throws {
    defer { place.leave() }
    try await writePages(to: &writer)
    try await writer.finish(nil)
  }

  @concurrent private func writePages(to writer: inout any ResponseBodyWriter) async throws {
    var (query, page) = (query, page)
    var isFirst = true
    var moments = Moments()
    // Also without bytes: the head is sent with it.
    try await writer.write(ByteBuffer(bytes: feed.opening))
    while true {
      if !page.rows.isEmpty {
        try await write(page.rows, isFirst: isFirst, to: &writer)
        isFirst = false
        moments = Moments()
      }
      if page.isComplete {
        query = query.later(than: page)
        if isOver(query, hasRows: !isFirst) { break }
        guard try await isWoken(&writer, &moments) else { break }
        Work.current?.beginAnew()
      } else {
        query = query.after(page)
        guard try await mayGoOn(&writer, &moments) else { break }
      }
      let next: ChangesPage
      do { next = try await read(query) } catch
        where ServiceError(error)?.couch.status == 404
      {
        // The store has gone, or the permission has, since it was looked for.
        if feed.kind == .normal { throw Cut() }
        break
      }
      if next.isRewound {
        // Another store has come in its place. The client asks again with its last token, and is told.
        if feed.kind == .normal { throw Cut() }
        break
      }
      page = next
    }
    try await send(feed.closing(page), to: &writer)
  }

  /// Whether nothing is left of what was asked for.
  private func isOver(_ query: ChangesQuery, hasRows: Bool) -> Bool {
    feed.kind == .normal || (feed.kind == .longpoll && hasRows) || query.limit == 0
      || query.descending
  }

  private func read(_ query: ChangesQuery) async throws -> ChangesPage {
    try await store.reading { database in try await database.changes(query) }
  }

  /// Waits for a change, with signs of life; false when the feed is to end.
  @concurrent private func isWoken(
    _ writer: inout any ResponseBodyWriter, _ moments: inout Moments
  ) async throws -> Bool {
    while true {
      switch await place.signal.next(by: due(moments)) {
      case .change: return true
      case .end: return false
      case .due:
        guard feed.heartbeat != nil else { return false }
        try await beat(&writer, &moments)
      }
    }
  }

  /// Gives a sign of life in time between two pages; false when the feed is to end.
  /// - Throws: ``Cut`` for an answer that is no feed: it would look complete.
  @concurrent private func mayGoOn(
    _ writer: inout any ResponseBodyWriter, _ moments: inout Moments
  ) async throws -> Bool {
    if place.signal.end != nil {
      if feed.kind == .normal { throw Cut() }
      return false
    }
    if feed.heartbeat != nil, let due = due(moments), due <= .now {
      try await beat(&writer, &moments)
    }
    return true
  }

  /// When to give a sign of life, or else to give up.
  private func due(_ moments: Moments) -> ContinuousClock.Instant? {
    feed.heartbeat.map { moments.write + $0 } ?? feed.timeout.map { moments.row + $0 }
  }

  @concurrent private func beat(
    _ writer: inout any ResponseBodyWriter, _ moments: inout Moments
  ) async throws {
    try await send(feed.beat, to: &writer)
    moments.write = .now
  }

  @concurrent private func write(
    _ rows: [[UInt8]], isFirst: Bool, to writer: inout any ResponseBodyWriter
  ) async throws {
    var bytes: [UInt8] = []
    for (place, row) in rows.enumerated() {
      bytes += feed.frame(row, isFirst: isFirst && place == 0)
      if bytes.count >= Self.chunkBytes {
        try await send(bytes, isRows: true, to: &writer)
        bytes.removeAll(keepingCapacity: true)
      }
    }
    try await send(bytes, isRows: true, to: &writer)
  }

  /// Writes in pieces, each of which the client has to take in time.
  /// - Throws: ``Cut`` for rows that the reader may read no longer.
  @concurrent private func send(
    _ bytes: [UInt8], isRows: Bool = false, to writer: inout any ResponseBodyWriter
  ) async throws {
    var rest = ByteBuffer(bytes: bytes)
    while let piece = rest.readSlice(length: min(rest.readableBytes, Self.chunkBytes)),
      piece.readableBytes > 0
    {
      if isRows, case .notAllowed = place.signal.end { throw Cut() }
      place.signal.beginWrite()
      defer { place.signal.endWrite() }
      Work.current?.moves(bytes: piece.readableBytes)
      try await writer.write(piece)
    }
  }
}
