import CouchSync
import HTTPServer
import JSON
import Stores
import Synchronization

/// How `_changes` waits for what has not happened yet, and how its rows are framed.
///
/// Source: CouchDB, "Changes feeds"; for `eventsource` the HTML standard, "Server-sent events".
struct CouchFeed: Sendable {
  /// The kinds of feeds.
  enum Kind: String, Sendable {
    /// What there is; no waiting.
    case normal
    /// The same, but waits for the first row.
    case longpoll
    /// A row a line, until the client goes away or nothing happens for long.
    case continuous
    /// The same as events for browsers.
    case eventsource
  }

  /// The kind.
  let kind: Kind
  /// How often a sign of life is sent; nil for never.
  let heartbeat: Duration?
  /// How long to wait for the next row; nil for as long as there is a heartbeat.
  let timeout: Duration?

  /// The longest wait without a heartbeat, and the standard: CouchDB's `changes_timeout`.
  static let longestWait = 60_000
  /// The shortest time between two signs of life, in milliseconds.
  static let shortestBeat = 100
  /// The longest, so that nobody on the way takes the connection for dead.
  static let longestBeat = 60_000

  /// Reads `feed`, `heartbeat` and `timeout` (milliseconds); what is out of bounds counts as the bound.
  /// - Throws: 400 `query_parse_error`, for a heartbeat `bad_request` as CouchDB.
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
    // As in CouchDB, who sends signs of life waits for ever.
    timeout = heartbeat == nil ? .milliseconds(wait ?? Self.longestWait) : nil
  }

  private static func beat(_ parameters: CouchParameters) throws -> Duration? {
    switch parameters["heartbeat"] {
    case nil: return nil
    case "true": return .milliseconds(longestBeat)
    default:
      guard let beat = try? parameters.count("heartbeat"), beat > 0 else {
        throw ServiceError.badRequest(
          "The heartbeat value should be a positive integer (in milliseconds).")
      }
      return .milliseconds(min(max(beat, shortestBeat), longestBeat))
    }
  }

  /// What is said of keeping the answer; an event stream is none to be kept, as in CouchDB.
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

  /// The answer's type.
  var contentType: String {
    kind == .eventsource ? "text/event-stream" : "application/json"
  }

  /// What stands before the rows.
  var opening: [UInt8] { isArray ? ChangesPage.opening : [] }

  /// A row in its frame.
  /// - Parameter isFirst: whether none came before.
  func frame(_ row: [UInt8], isFirst: Bool) -> [UInt8] {
    switch kind {
    case .normal, .longpoll: return isFirst ? row : ChangesPage.separator + row
    case .continuous: return row + [0x0A]
    case .eventsource:
      var event = Array("data: ".utf8) + row + [0x0A]
      if let node = try? ParsedJSON(row, limits: CouchLimits.bulk).root["seq"],
        let sequence = node.string
      {
        event += "id: \(sequence)\n".utf8
      }
      return event + [0x0A]
    }
  }

  /// A sign of life.
  var beat: [UInt8] {
    kind == .eventsource ? Array("event: heartbeat\ndata: \n\n".utf8) : [0x0A]
  }

  /// What stands behind the rows.
  func closing(_ page: ChangesPage) -> [UInt8] {
    switch kind {
    case .normal, .longpoll: page.closing
    case .continuous: page.lastLine
    case .eventsource: []
    }
  }

  private var isArray: Bool { kind == .normal || kind == .longpoll }
}

/// Wakes the one who writes an answer of `_changes`: for a change, at a moment, or for the end. Changes are
/// coalesced, so that a slow client costs nothing but its own place.
final class CouchFeedSignal: Sendable {
  /// Why the writer is woken.
  enum Wake: Sendable, Equatable {
    /// Something was committed since the last such wake-up.
    case change
    /// The moment that the writer named has come.
    case due
    /// The answer is to end.
    case end
  }

  /// Why an answer ends before it is complete.
  enum End: Sendable {
    /// The client has closed the connection.
    case clientLeft
    /// The reader may read the store no longer.
    case notAllowed
    /// The store is gone.
    case erased
    /// The server stops.
    case stopping
  }

  /// How long one write to a client may take; one that reads more slowly is cut off: 60 seconds for
  /// ``CouchChangesStream/chunkBytes``.
  static let patience = Duration.seconds(RequestLimits.idleSeconds)
  /// How long a client that does not read may hold up the end of its answer.
  static let grace = Duration.seconds(1)

  /// Who reads.
  let reader: CouchFeedReader
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let state = Mutex(State())

  private struct State {
    /// The first page was read before anybody could tell of commits.
    var hasChanged = true
    /// Where something was committed, for an observer.
    var changed: Set<StoreName> = []
    /// Which stores are gone, for an observer.
    var lost: Set<StoreName> = []
    var end: End?
    var endMoment: ContinuousClock.Instant?
    var due: ContinuousClock.Instant?
    var writeMoment: ContinuousClock.Instant?

    /// Whether a write has taken too long.
    func isStuck(_ now: ContinuousClock.Instant) -> Bool {
      guard let writeMoment else { return false }
      if let endMoment { return now - endMoment >= grace }
      return now - writeMoment >= patience
    }
  }

  /// A signal that nobody has given.
  init(_ reader: CouchFeedReader) {
    self.reader = reader
    (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// Something was committed.
  func change() {
    state.withLock { $0.hasChanged = true }
    continuation.yield()
  }

  /// Something was committed in one of the stores that the reader reads.
  func change(in store: StoreName) {
    if reader.observes { state.withLock { _ = $0.changed.insert(store) } }
    change()
  }

  /// A store that the reader reads is gone. An observer goes on with the others, and finds out by itself.
  func lose(_ store: StoreName) {
    guard reader.observes else { return end(.erased) }
    state.withLock { _ = $0.lost.insert(store) }
    change()
  }

  /// Which stores are gone since this was asked last.
  func takeLost() -> Set<StoreName> {
    state.withLock { state in
      defer { state.lost = [] }
      return state.lost
    }
  }

  /// Where something was committed since this was asked last.
  func takeChanged() -> Set<StoreName> {
    state.withLock { state in
      defer { state.changed = [] }
      return state.changed
    }
  }

  /// The answer is to end; the first reason counts.
  func end(_ reason: End) {
    state.withLock { state in
      guard state.end == nil else { return }
      state.end = reason
      state.endMoment = .now
    }
    continuation.finish()
  }

  /// Why the answer is to end; nil while it may go on.
  var end: End? { state.withLock(\.end) }

  /// Time has passed: wakes the writer if its moment has come, and hangs up on a client that does not read.
  func tick(_ now: ContinuousClock.Instant) {
    let (isDue, isStuck) = state.withLock { state in
      let isDue = state.due.map { $0 <= now } ?? false
      if isDue { state.due = nil }
      return (isDue, state.isStuck(now))
    }
    if isStuck { reader.hangUp() }
    if isDue { continuation.yield() }
  }

  /// Waits.
  /// - Parameter due: the moment to be woken at; nil for none.
  func next(by due: ContinuousClock.Instant?) async -> Wake {
    var signals = stream.makeAsyncIterator()
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
      if await signals.next() == nil { return .end }
    }
  }

  /// A write to the client begins.
  func beginWrite() { state.withLock { $0.writeMoment = .now } }

  /// The write is done.
  func endWrite() { state.withLock { $0.writeMoment = nil } }
}
