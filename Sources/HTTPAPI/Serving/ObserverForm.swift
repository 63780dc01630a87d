import Lists
import Stores

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
