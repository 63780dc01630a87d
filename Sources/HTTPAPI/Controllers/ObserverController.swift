import Accounts
import Documents
import HTTPTypes
import Hummingbird
import Lists
import Stores

/// A stream of changes: one for the caller's own store and all of the caller's lists.
///
/// Source: the HTML standard, "Server-sent events".
struct ObserverController: Sendable {
  let lists: ListService
  /// The streams that are being written.
  let feeds: Feeds
  /// Gives each person their own store.
  let databases: CouchDatabaseAccess

  var routes: [Route] { [Route(.get, "/v1/changes", access: .person, run: observe)] }

  private func observe(_ call: Call, _ person: Principal) async throws -> Response {
    let query = try call.query("id", "type", "list", "since", "timeout")
    let timeout = try query["timeout"].map { _ in
      Duration.milliseconds(try query.int("timeout", in: 0...86_400_000, default: 0))
    }
    let observer = try await observer(query, call, person)
    return try feeds.response(
      ObserverForm(observer, timeout: timeout), to: call,
      from: databases.own(of: person, as: call.writeContext),
      as: .person(reading: Set(observer.stores)), waits: true,
      [.contentType: "text/event-stream", .cacheControl: "no-cache"])
  }

  private func observer(
    _ query: QueryParameters, _ call: Call, _ person: Principal
  ) async throws -> Observer {
    var list: AccountID?
    if let text = query["list"] {
      guard person.kind == .user, let id = AccountID(text) else { throw Problem.notFound }
      list = id
    }
    let filter = Observer.Filter(
      id: try query["id"].map { try DocumentID($0) },
      type: try query.text("type", maximumBytes: DocumentID.maximumBytes), list: list)
    let account = person.kind == .user ? person.id : nil
    let since = call[.lastEventID].flatMap { $0.isEmpty ? nil : $0 } ?? query["since"] ?? "now"
    switch since {
    case "now": return try await .fromNow(lists, account: account, own: person.store, filter)
    case "0": return try await .fromStart(lists, account: account, own: person.store, filter)
    default:
      guard let token = ObserverToken(since) else {
        throw Problem.invalidParameter(
          "Last-Event-ID or since must be the id of an event of this stream, 0 or now")
      }
      return try await .going(on: token, lists, account: account, own: person.store, filter)
    }
  }
}

/// An observer's events, until it has left the only observed list.
struct ObserverForm: LongAnswerForm {
  /// The time between two heartbeats while nothing happens.
  private static let heartbeat = Duration.seconds(15)
  /// How long a browser waits before it connects again, in milliseconds.
  private static let retryMilliseconds = 1_000

  let rhythm: LongAnswerRhythm
  /// The observer, with its position.
  private var observer: Observer
  private var hasBegun = false
  private var unread: Set<StoreName>
  /// Whether lists may have been joined or left.
  private var hasOtherRights = true

  /// - Parameter timeout: how long the stream lasts without an event; nil for no limit.
  init(_ observer: Observer, timeout: Duration?) {
    self.observer = observer
    unread = Set(observer.stores)
    rhythm = LongAnswerRhythm(
      heartbeat: Self.heartbeat, beat: Array(": heartbeat\n\n".utf8), timeout: timeout)
  }

  mutating func next(after news: Subscription.News) async throws -> LongAnswerPart {
    unread.formUnion(news.stores)
    hasOtherRights = hasOtherRights || news.rights
    guard hasBegun else {
      hasBegun = true
      // Clients don't report an event without data, but they keep its id. A client that connects again before the first
      // change misses nothing.
      let head = "retry: \(Self.retryMilliseconds)\nid: \(observer.text)\n\n"
      return LongAnswerPart(pieces: [Array(head.utf8)], following: .more, closing: [])
    }
    var events: [ObserverEvent] = []
    var stores: Set<StoreName>?
    if hasOtherRights {
      let former = Set(observer.stores)
      events = try await observer.readMemberships()
      let present = Set(observer.stores)
      unread = unread.union(present.subtracting(former)).intersection(present)
      hasOtherRights = false
      if present != former { stores = present }
    } else if let store = unread.first {
      let (found, isComplete) = try await observer.read(store)
      events = found
      if isComplete { unread.remove(store) }
    }
    let following: LongAnswerPart.Following =
      !unread.isEmpty ? .more : observer.isOver ? .nothing : .news
    return LongAnswerPart(
      pieces: events.map(Self.text), following: following, closing: [], stores: stores)
  }

  private static func text(_ event: ObserverEvent) -> [UInt8] {
    Array("event: \(event.name.rawValue)\nid: \(event.token)\ndata: ".utf8) + event.data
      + Array("\n\n".utf8)
  }
}
