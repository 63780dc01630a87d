import CouchSync
import Hummingbird
import NIOCore
import Scheduling
import Stores
import Synchronization

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
  let firstPage: FirstPage

  /// The first page until it is written, because a feed that waits for long keeps its stream.
  final class FirstPage: Sendable {
    private let page: Mutex<ChangesPage?>

    /// Holds a page.
    init(_ page: ChangesPage) { self.page = Mutex(page) }

    /// Returns the page and forgets it.
    /// - Throws: ``IncompleteAnswer`` the second time.
    fileprivate func take() throws -> ChangesPage {
      let page = page.withLock { page in
        defer { page = nil }
        return page
      }
      guard let page else { throw IncompleteAnswer() }
      return page
    }
  }

  /// Ends the answer early, so that it does not look complete.
  private struct IncompleteAnswer: Error {}

  /// When the last row was written, and when anything was written last.
  private struct Moments {
    var row = ContinuousClock.now
    var write = ContinuousClock.now
  }

  /// What is known of the changes after a page. A reference, because the waiting task keeps it.
  private final class Position: Sendable {
    /// The query for the next page.
    let query: ChangesQuery
    /// Whether the rows of the present answer are complete, and the answer waits for further changes.
    let isComplete: Bool
    /// Whether no rows follow.
    let isLast: Bool
    /// The bytes after the rows, if no rows follow.
    let closing: [UInt8]

    init(after page: ChangesPage, of query: ChangesQuery, in feed: CouchFeed, hasRows: Bool) {
      isComplete = page.isComplete
      self.query = isComplete ? query.later(than: page) : query.after(page)
      isLast = isComplete && feed.isOver(self.query, hasRows: hasRows)
      closing = feed.closing(page)
    }
  }

  /// Writes the whole answer. Pages are read in child tasks, so that the waiting task keeps little memory.
  /// - Throws: the errors of reading and of the connection; the answer is then incomplete.
  @concurrent func write(to writer: inout any ResponseBodyWriter) async throws {
    defer { registration.cancel() }
    // An empty write also sends the head.
    try await writer.write(ByteBuffer(bytes: feed.opening))
    var (hasRows, moments) = (false, Moments())
    var (rows, position) = framed(try firstPage.take(), of: query, hasRows: false)
    while true {
      if !rows.isEmpty {
        try await send(rows, after: hasRows ? feed.separator : [], isRows: true, to: &writer)
        (rows, hasRows, moments) = ([], true, Moments())
      }
      if position.isLast { break }
      if position.isComplete {
        guard try await isWoken(&writer, &moments) else { break }
        Work.current?.resetCost()
      } else {
        guard try await mayContinue(&writer, &moments) else { break }
      }
      let next = try await inChildTask { [self, position, hasRows] in
        try await page(after: position, hasRows: hasRows)
      }
      guard let next else { break }
      (rows, position) = next
    }
    try await send(position.closing, to: &writer)
    try await writer.finish(nil)
  }

  private func framed(
    _ page: ChangesPage, of query: ChangesQuery, hasRows: Bool
  ) -> (rows: [UInt8], Position) {
    (
      page.rows.isEmpty ? [] : feed.frame(page.rows),
      Position(after: page, of: query, in: feed, hasRows: hasRows || !page.rows.isEmpty)
    )
  }

  /// Reads the next page; nil if the answer has to end.
  /// - Throws: the errors of reading; ``IncompleteAnswer`` for an answer of kind `normal`, which would look complete.
  private func page(
    after position: Position, hasRows: Bool
  ) async throws -> (rows: [UInt8], Position)? {
    do {
      let page = try await store.read { database in try await database.changes(position.query) }
      // Rewound: a new store has the same name. The client asks again with its last token, and the answer to that says
      // so.
      if !page.isRewound { return framed(page, of: position.query, hasRows: hasRows) }
    } catch let error
      where [403, 404].contains(ErrorTable.problem(for: error, in: .couch).status.code)
    {
      // Since the last check the store or the permission is gone.
    }
    if feed.kind == .normal { throw IncompleteAnswer() }
    return nil
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
