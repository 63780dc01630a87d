/// A place among a server's feeds, held for as long as an answer is written. An answer whose body is never
/// written, as that of a `HEAD`, gives it back when it is forgotten.
final class CouchFeedPlace: Sendable {
  /// Wakes the writer.
  let signal: CouchFeedSignal
  private let feeds: CouchFeeds

  /// A place that ``CouchFeeds/enter(_:)`` gave.
  init(_ signal: CouchFeedSignal, in feeds: CouchFeeds) {
    self.signal = signal
    self.feeds = feeds
  }

  deinit { feeds.leave(signal) }

  /// Gives the place back.
  func leave() { feeds.leave(signal) }
}
