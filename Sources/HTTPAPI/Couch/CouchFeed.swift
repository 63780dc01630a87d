import CouchSync
import Stores

/// How a `_changes` answer waits for changes, and what is around its rows.
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
  /// - Throws: 400 `bad_request` with CouchDB's words; for a malformed `timeout` `query_parse_error`.
  init(_ parameters: CouchParameters) throws {
    switch parameters["feed"] {
    case nil: kind = .normal
    case "live": kind = .continuous
    case let text?:
      guard let kind = Kind(rawValue: text) else {
        throw ServiceError.badRequest(
          "Supported `feed` types: normal, continuous, live, longpoll, eventsource")
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
    page.isComplete && isArray && isOver(query, hasRows: !page.rows.isEmpty)
  }

  /// Whether no rows follow a complete page.
  /// - Parameter query: the query for the changes after that page.
  /// - Parameter hasRows: whether the answer has rows already.
  func isOver(_ query: ChangesQuery, hasRows: Bool) -> Bool {
    kind == .normal || (kind == .longpoll && hasRows) || query.limit == 0 || query.descending
  }

  /// The answer's content type.
  var contentType: String { kind == .eventsource ? "text/event-stream" : "application/json" }

  /// The bytes before the rows.
  var opening: [UInt8] { isArray ? ChangesPage.opening : [] }

  /// The bytes between two pages of rows.
  var separator: [UInt8] { isArray ? ChangesRows.separator : [] }

  /// What is around the rows.
  var frame: ChangesRows.Frame {
    switch kind {
    case .normal, .longpoll: .array
    case .continuous: .lines
    case .eventsource: .events
    }
  }

  /// A heartbeat.
  var beat: [UInt8] { kind == .eventsource ? Array("event: heartbeat\ndata: \n\n".utf8) : [0x0A] }

  /// The bytes after the rows.
  func closing(_ page: ChangesPage) -> [UInt8] {
    switch kind {
    case .normal, .longpoll: page.closing
    case .continuous: page.lastLine
    case .eventsource: []
    }
  }

  private var isArray: Bool { frame == .array }
}
