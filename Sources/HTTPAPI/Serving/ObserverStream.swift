import Documents
import HTTPServer
import HTTPTypes
import Hummingbird
import JSON
import Lists
import NIOCore
import Scheduling
import Stores
import Synchronization

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
