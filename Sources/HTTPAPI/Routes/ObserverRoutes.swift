import Accounts
import Documents
import HTTPServer
import HTTPTypes
import Hummingbird
import Lanes
import Lists
import NIOCore
import Stores
import Synchronization

/// A stream of changes: one for the caller's own store and all of the caller's lists.
///
/// Source: the HTML standard, "Server-sent events".
extension HTTPService {
  /// `GET /v1/changes`.
  var observerRoutes: [Route] {
    [Route(.get, "/v1/changes", access: .person, isFeed: true, run: observe)]
  }

  private func observe(_ call: Call, _ person: Principal) async throws -> Response {
    let query = try call.query("id", "type", "list", "since", "timeout")
    let timeout = try query["timeout"].map { _ in
      Duration.milliseconds(try query.int("timeout", in: 0...86_400_000, default: 0))
    }
    let observer = try await observer(query, call, person)
    let registration = try await feeds.add(reader(call, person))
    for store in observer.stores where store != person.store { await registration.follow(store) }
    DisconnectHandler.onDisconnect(of: call.context.channel) { [signal = registration.signal] in
      signal.end(.clientLeft)
    }
    let memberships = MembershipFlag()
    let watcher =
      person.kind == .user
      ? lists.memberships.watch(person.id) { [signal = registration.signal] in
        memberships.raise()
        signal.change()
      } : nil
    let stream = ObserverStream(
      observer: observer, registration: registration, memberships: memberships, watcher: watcher,
      timeout: timeout)
    return Response(
      status: .ok,
      headers: [
        .contentType: "text/event-stream", .cacheControl: "no-cache", .accelBuffering: "no",
      ],
      body: ResponseBody { writer in try await stream.write(to: &writer) })
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
    case "now":
      return try await .fromNow(lists, account: account, own: person.store, filter)
    case "0":
      return try await .fromStart(lists, account: account, own: person.store, filter)
    default:
      guard let token = ObserverToken(since) else {
        throw Problem(
          .badRequest, "invalid_parameter",
          "Last-Event-ID or since must be the id of an event of this stream, 0 or now")
      }
      return try await .going(
        on: token, lists, account: account, own: person.store, filter)
    }
  }

  private func reader(_ call: Call, _ person: Principal) -> CouchFeedReader {
    let channel = call.context.channel
    let own = CouchStore(
      stores: stores, accounts: accounts, lists: lists, name: person.store,
      database: person.storeName, caller: person)
    var reader = CouchFeedReader(
      store: person.store, waits: true, principal: own.principal,
      address: call.address, permission: own.permission,
      mayRead: { try await own.isStillAllowed() },
      closeConnection: { channel.close(promise: nil) })
    reader.observes = true
    return reader
  }
}

/// Whether a person's memberships of lists may have changed since the last check.
final class MembershipFlag: Sendable {
  private let isRaised = Atomic(true)

  /// Notes that they may have changed.
  func raise() { isRaised.store(true, ordering: .releasing) }

  /// Returns the flag and clears it.
  func take() -> Bool { isRaised.exchange(false, ordering: .acquiringAndReleasing) }
}

/// Writes an observer's events until the client closes the connection, the permission ends or the server stops.
struct ObserverStream: Sendable {
  /// The time between two heartbeats while nothing happens.
  static let heartbeat = Duration.seconds(15)
  /// How long a browser waits before it connects again, in milliseconds.
  static let retryMilliseconds = 1_000

  /// The observer, with its position.
  let observer: Observer
  /// The slot among the feeds.
  let registration: CouchFeedRegistration
  /// Whether lists may have been joined or left.
  let memberships: MembershipFlag
  /// Raises that flag; nil for a guest.
  let watcher: MembershipWatcher?
  /// How long the stream lasts without an event; nil for no limit.
  let timeout: Duration?

  /// Writes the whole stream.
  /// - Throws: the errors of reading and of the connection; the client connects again with the id of its last event.
  @concurrent func write(to writer: inout any ResponseBodyWriter) async throws {
    defer { registration.cancel() }
    var observer = observer
    // Clients don't report an event without data, but they keep its id. A client that connects again before the first
    // change misses nothing.
    try await send(
      "retry: \(Self.retryMilliseconds)\nid: \(observer.text)\n\n", to: &writer)
    var followed = Set(observer.stores)
    var changed = followed
    var lastEvent = ContinuousClock.now
    while registration.signal.end == nil {
      if memberships.take() {
        let events: [ObserverEvent]
        (observer, events) = try await inChildTask { [observer] in
          var next = observer
          let events = try await next.readMemberships()
          return (next, events)
        }
        let stores = Set(observer.stores)
        for store in followed.subtracting(stores) { registration.unfollow(store) }
        for store in stores.subtracting(followed) { await registration.follow(store) }
        changed.formUnion(stores.subtracting(followed))
        followed = stores
        try await send(events, to: &writer)
        if !events.isEmpty { lastEvent = .now }
      }
      for store in changed where followed.contains(store) {
        if try await read(store, of: &observer, to: &writer) { lastEvent = .now }
      }
      if observer.isOver { break }
      Work.current?.resetCost()
      guard try await isWoken(&writer, by: timeout.map { lastEvent + $0 }) else { break }
      changed = registration.signal.takeChanged()
      // A new store may have the same name.
      for store in registration.signal.takeLost() where followed.contains(store) {
        await registration.follow(store)
        changed.insert(store)
      }
    }
    try await writer.finish(nil)
  }

  /// - Returns: whether there were events.
  @concurrent private func read(
    _ store: StoreName, of observer: inout Observer, to writer: inout any ResponseBodyWriter
  ) async throws -> Bool {
    var hasEvents = false
    while registration.signal.end == nil {
      let (events, isComplete): ([ObserverEvent], Bool)
      (observer, events, isComplete) = try await inChildTask { [observer] in
        var next = observer
        let (events, isComplete) = try await next.read(store)
        return (next, events, isComplete)
      }
      try await send(events, to: &writer)
      hasEvents = hasEvents || !events.isEmpty
      if isComplete { break }
      try await Slice.giveWay()
    }
    return hasEvents
  }

  /// Waits for a change and sends heartbeats meanwhile. It returns false if the stream has to end.
  /// - Parameter end: when the stream ends without a change; nil for no limit.
  @concurrent private func isWoken(
    _ writer: inout any ResponseBodyWriter, by end: ContinuousClock.Instant?
  ) async throws -> Bool {
    while true {
      let beat = ContinuousClock.now + Self.heartbeat
      switch await registration.signal.next(by: min(beat, end ?? beat)) {
      case .change: return true
      case .end: return false
      case .due:
        if let end, end <= .now { return false }
        try await send(": heartbeat\n\n", to: &writer)
      }
    }
  }

  @concurrent private func send(
    _ events: [ObserverEvent], to writer: inout any ResponseBodyWriter
  ) async throws {
    var buffer = ByteBuffer()
    for event in events {
      buffer.writeString("event: \(event.name.rawValue)\nid: \(event.token)\ndata: ")
      buffer.writeBytes(event.data)
      buffer.writeString("\n\n")
    }
    try await send(buffer, to: &writer)
  }

  @concurrent private func send(
    _ text: String, to writer: inout any ResponseBodyWriter
  ) async throws {
    try await send(ByteBuffer(string: text), to: &writer)
  }

  /// Writes in pieces. The client has to read each of them in time.
  @concurrent private func send(
    _ bytes: ByteBuffer, to writer: inout any ResponseBodyWriter
  ) async throws {
    var rest = bytes
    while rest.readableBytes > 0,
      let piece = rest.readSlice(
        length: min(rest.readableBytes, CouchChangesStream.chunkBytes))
    {
      if case .notAllowed = registration.signal.end { return }
      registration.signal.beginWrite()
      defer { registration.signal.endWrite() }
      Work.current?.addMovedBytes(piece.readableBytes)
      try await writer.write(piece)
    }
  }
}
