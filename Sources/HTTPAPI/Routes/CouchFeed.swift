import CouchSync
import Documents

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
  init(_ parameters: CouchParameters) throws(CouchError) {
    switch parameters["feed"] {
    case nil: kind = .normal
    case "live": kind = .continuous
    case let text?:
      guard let kind = Kind(rawValue: text) else {
        throw .badQuery("`feed` is `normal`, `longpoll`, `continuous`, `live` or `eventsource`")
      }
      self.kind = kind
    }
    heartbeat = try Self.beat(parameters)
    let wait = try parameters.count("timeout").map { min($0, Self.longestWait) }
    // As in CouchDB, who sends signs of life waits for ever.
    timeout = heartbeat == nil ? .milliseconds(wait ?? Self.longestWait) : nil
  }

  private static func beat(_ parameters: CouchParameters) throws(CouchError) -> Duration? {
    switch parameters["heartbeat"] {
    case nil: return nil
    case "true": return .milliseconds(longestBeat)
    default:
      guard let beat = try? parameters.count("heartbeat"), beat > 0 else {
        throw .badRequest("The heartbeat value should be a positive integer (in milliseconds).")
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
