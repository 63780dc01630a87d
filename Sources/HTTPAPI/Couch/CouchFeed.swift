import CouchSync
import HTTPServer
import JSON
import Scheduling
import Stores
import Synchronization

/// How a `_changes` answer waits for changes, and how its rows are framed.
///
/// Source: CouchDB, "Changes feeds"; for `eventsource` the HTML standard, "Server-sent events".
struct CouchFeed: Sendable {
  /// The kinds of feeds.
  enum Kind: String, Sendable {
    /// The present rows, without waiting.
    case normal
    /// The same, but it waits for the first row if there is none.
    case longpoll
    /// One row per line, until the client closes the connection or no row comes for too long.
    case continuous
    /// The same in the form of server-sent events.
    case eventsource
  }

  /// The kind.
  let kind: Kind
  /// The time between two heartbeats; nil for none.
  let heartbeat: Duration?
  /// How long to wait for the next row; nil if there is a heartbeat.
  let timeout: Duration?

  /// The longest wait without a heartbeat and its default, in milliseconds. CouchDB's `changes_timeout` is 60,000, but
  /// nginx, Apache and load balancers close a connection that was silent for 60 seconds.
  static let longestWait = 50_000
  /// The shortest time between two heartbeats, in milliseconds.
  static let shortestBeat = 100
  /// The longest time between two heartbeats, in milliseconds, so that no proxy treats the connection as dead.
  static let longestBeat = 20_000

  /// Reads `feed`, `heartbeat` and `timeout` (milliseconds). A value beyond a bound becomes that bound.
  /// - Throws: 400 `query_parse_error`; for an invalid heartbeat `bad_request`, as CouchDB does.
  init(_ parameters: CouchParameters) throws {
    switch parameters["feed"] {
    case nil: kind = .normal
    case "live": kind = .continuous
    case let text?:
      guard let kind = Kind(rawValue: text) else {
        throw ServiceError.badQuery(
          "`feed` is `normal`, `longpoll`, `continuous`, `live` or `eventsource`")
      }
      self.kind = kind
    }
    heartbeat = try Self.beat(parameters)
    let wait = try parameters.count("timeout").map { min($0, Self.longestWait) }
    // As in CouchDB, a feed with a heartbeat waits without end.
    timeout = heartbeat == nil ? .milliseconds(wait ?? Self.longestWait) : nil
  }

  private static func beat(_ parameters: CouchParameters) throws -> Duration? {
    switch parameters["heartbeat"] {
    case nil: return nil
    case "true": return .milliseconds(longestBeat)
    case let text?:
      guard let beat = Int(text) else {
        throw ServiceError.badRequest(
          "Invalid heartbeat value. Expecting a positive integer value (in milliseconds).")
      }
      guard beat > 0 else {
        throw ServiceError.badRequest(
          "The heartbeat value should be a positive integer (in milliseconds).")
      }
      return .milliseconds(min(max(beat, shortestBeat), longestBeat))
    }
  }

  /// The caching rule of the answer: as in CouchDB `no-cache` for an event stream, otherwise `must-revalidate`.
  var cacheControl: String { kind == .eventsource ? "no-cache" : "must-revalidate" }

  /// Whether one page is the whole answer.
  func isAnswered(by page: ChangesPage, _ query: ChangesQuery) -> Bool {
    guard page.isComplete else { return false }
    switch kind {
    case .normal: return true
    case .longpoll: return !page.rows.isEmpty || query.limit == 0 || query.descending
    case .continuous, .eventsource: return false
    }
  }

  /// Whether no rows follow a complete page.
  /// - Parameter query: the query for the changes after that page.
  /// - Parameter hasRows: whether the answer has rows already.
  func isOver(_ query: ChangesQuery, hasRows: Bool) -> Bool {
    kind == .normal || (kind == .longpoll && hasRows) || query.limit == 0 || query.descending
  }

  /// The answer's content type.
  var contentType: String {
    kind == .eventsource ? "text/event-stream" : "application/json"
  }

  /// The bytes before the rows.
  var opening: [UInt8] { isArray ? ChangesPage.opening : [] }

  /// Rows in their frames.
  func frame(_ rows: ChangesRows) -> [UInt8] {
    guard !isArray else { return Array(rows.pieces.joined()) }
    var frames: [UInt8] = []
    frames.reserveCapacity(rows.byteCount + rows.count * 32)
    for row in rows { append(row, to: &frames) }
    return frames
  }

  /// The bytes between two pages of rows.
  var separator: [UInt8] { isArray ? ChangesRows.separator : [] }

  private func append(_ row: ArraySlice<UInt8>, to frames: inout [UInt8]) {
    if kind == .eventsource { frames += "data: ".utf8 }
    frames += row
    frames.append(0x0A)
    guard kind == .eventsource else { return }
    if let node = try? ParsedJSON(Array(row), limits: CouchLimits.bulk).root["seq"],
      let sequence = node.string
    {
      frames += "id: \(sequence)\n".utf8
    }
    frames.append(0x0A)
  }

  /// A heartbeat.
  var beat: [UInt8] {
    kind == .eventsource ? Array("event: heartbeat\ndata: \n\n".utf8) : [0x0A]
  }

  /// The bytes after the rows.
  func closing(_ page: ChangesPage) -> [UInt8] {
    switch kind {
    case .normal, .longpoll: page.closing
    case .continuous: page.lastLine
    case .eventsource: []
    }
  }

  private var isArray: Bool { kind == .normal || kind == .longpoll }
}

/// Wakes the writer of a `_changes` answer: for a change, at a moment, or to end. Several changes become one wake-up,
/// so a slow client uses no more memory.
final class CouchFeedSignal: Sendable {
  /// Why the writer is woken.
  enum Wake: Sendable, Equatable {
    /// Something was committed since the last wake-up of this kind.
    case change
    /// The time for which the writer waited has come.
    case due
    /// The answer has to end.
    case end
  }

  /// Why an answer ends before it is complete.
  enum End: Sendable {
    /// The client has closed the connection.
    case clientLeft
    /// The reader may no longer read the store.
    case notAllowed
    /// The store is gone.
    case erased
    /// The server stops.
    case stopping
    /// Another address needed the place.
    case displaced
  }

  /// How long one write to a client may take before its connection is closed: 60 seconds for
  /// ``CouchChangesStream/chunkBytes``.
  static let writeTimeout = Duration.seconds(RequestLimits.idleSeconds)
  /// How long a client that does not read may delay the end of its answer.
  static let grace = Duration.seconds(1)

  /// The reader of the answer.
  let reader: CouchFeedReader
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let state = Mutex(State())

  private struct State {
    /// True at first, because the first page was read before this signal was notified of commits.
    var hasChanged = true
    /// The stores with new commits, for an observer.
    var changed: Set<StoreName> = []
    /// The stores that are gone, for an observer.
    var lost: Set<StoreName> = []
    var end: End?
    var endMoment: ContinuousClock.Instant?
    var due: ContinuousClock.Instant?
    var writeMoment: ContinuousClock.Instant?

    /// Whether a write takes too long.
    func isStuck(_ now: ContinuousClock.Instant) -> Bool {
      guard let writeMoment else { return false }
      if let endMoment { return now - endMoment >= grace }
      return now - writeMoment >= writeTimeout
    }
  }

  /// A signal with no wake-up yet.
  init(_ reader: CouchFeedReader) {
    self.reader = reader
    (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// Notes that something was committed.
  func change() {
    state.withLock { $0.hasChanged = true }
    continuation.yield()
  }

  /// Notes that something was committed in one of the reader's stores.
  func change(in store: StoreName) {
    if reader.observes { state.withLock { _ = $0.changed.insert(store) } }
    change()
  }

  /// Notes that a store of the reader's is gone. An observer continues with its other stores.
  func lose(_ store: StoreName) {
    guard reader.observes else { return end(.erased) }
    state.withLock { _ = $0.lost.insert(store) }
    change()
  }

  /// The stores that are gone since the last call.
  func takeLost() -> Set<StoreName> {
    state.withLock { state in
      defer { state.lost = [] }
      return state.lost
    }
  }

  /// The stores with commits since the last call.
  func takeChanged() -> Set<StoreName> {
    state.withLock { state in
      defer { state.changed = [] }
      return state.changed
    }
  }

  /// Ends the answer; only the first reason counts.
  func end(_ reason: End) {
    state.withLock { state in
      guard state.end == nil else { return }
      state.end = reason
      state.endMoment = .now
    }
    continuation.finish()
  }

  /// Why the answer has to end; nil while it may continue.
  var end: End? { state.withLock(\.end) }

  /// Checks the time: wakes the writer at its moment, and closes the connection of a client that does not read.
  func tick(_ now: ContinuousClock.Instant) {
    let (isDue, isStuck) = state.withLock { state in
      let isDue = state.due.map { $0 <= now } ?? false
      if isDue { state.due = nil }
      return (isDue, state.isStuck(now))
    }
    if isStuck { reader.closeConnection() }
    if isDue { continuation.yield() }
  }

  /// Waits for a wake-up.
  /// - Parameter due: the moment of a wake-up without a change; nil for none.
  func next(by due: ContinuousClock.Instant?) async -> Wake {
    while true {
      let wake: Wake? = state.withLock { state in
        if state.end != nil { return .end }
        if let due, due <= .now { return .due }
        if state.hasChanged {
          state.hasChanged = false
          return .change
        }
        state.due = due
        return nil
      }
      if let wake { return wake }
      let signal: Void? = await Work.waiting {
        var signals = stream.makeAsyncIterator()
        return await signals.next()
      }
      if signal == nil { return .end }
    }
  }

  /// Notes that a write to the client begins.
  func beginWrite() { state.withLock { $0.writeMoment = .now } }

  /// Notes that the write has ended.
  func endWrite() { state.withLock { $0.writeMoment = nil } }
}
