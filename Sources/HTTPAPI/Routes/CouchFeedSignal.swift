import Synchronization

/// Wakes the one who writes a feed, for a change, for a tick of the clock, or for the end. Signals are
/// coalesced, so that a slow client costs nothing but its own slot.
final class CouchFeedSignal: Sendable {
  /// One element for each time that there may be something to do; ends with the feed.
  let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let hasChanged = Mutex(false)

  /// A signal that nobody has given.
  init() {
    (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// Something was committed.
  func change() {
    hasChanged.withLock { $0 = true }
    continuation.yield()
  }

  /// Time has passed.
  func tick() { continuation.yield() }

  /// The feed is over.
  func end() { continuation.finish() }

  /// Whether something was committed since this was asked last.
  func takeChange() -> Bool {
    hasChanged.withLock { changed in
      defer { changed = false }
      return changed
    }
  }
}
