import Documents
import NIOConcurrencyHelpers

/// Tells the readers of one store that something was committed. A wake-up has no content: the reader reads
/// again by sequence number. Several wake-ups become one, so a slow reader costs one slot of a buffer and
/// misses no change.
package final class ChangeFeed: Sendable {
  private let readers = NIOLockedValueBox<Readers>(Readers())

  private struct Readers {
    var next: UInt64 = 0
    var open: [UInt64: AsyncStream<Void>.Continuation] = [:]
    var isFinished = false
  }

  package init() {}

  /// Wakes every reader that has no wake-up waiting.
  package func wake() {
    // The feed's lock is released first. Waking a task takes the task's lock. A thread that cancels the task holds the
    // task's lock and then takes the feed's lock to end the stream. In the other order, the two threads could block
    // each other.
    let open = readers.withLockedValue { Array($0.open.values) }
    for continuation in open { continuation.yield() }
  }

  /// A stream of wake-ups. The first one comes at once, so that a reader begins with a read.
  package func wakeUps() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let key: UInt64? = readers.withLockedValue { readers in
      guard !readers.isFinished else { return nil }
      readers.next += 1
      readers.open[readers.next] = continuation
      return readers.next
    }
    guard let key else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.readers.withLockedValue { readers in _ = readers.open.removeValue(forKey: key) }
    }
    continuation.yield()
    return stream
  }

  package var readerCount: Int { readers.withLockedValue { $0.open.count } }

  /// Ends every reader's stream, because the store is erased or the service stops.
  package func finish() {
    let open = readers.withLockedValue { readers in
      readers.isFinished = true
      defer { readers.open = [:] }
      return readers.open
    }
    for continuation in open.values { continuation.finish() }
  }
}

/// The feeds of all stores that are open or read. A store has the same feed object while it is closed and
/// opened again.
struct ChangeFeeds: Sendable {
  private var feeds: [StoreName: ChangeFeed] = [:]
  private var threshold = 64
  private var isFinished = false

  var count: Int { feeds.count }

  /// The feed of a store; the same object until it is finished.
  mutating func feed(for name: StoreName) -> ChangeFeed {
    if let feed = feeds[name] { return feed }
    let feed = ChangeFeed()
    guard !isFinished else {
      feed.finish()
      return feed
    }
    if feeds.count >= threshold {
      sweep()
      threshold = max(64, feeds.count * 2)
    }
    feeds[name] = feed
    return feed
  }

  /// Removes the feeds that have no reader and no other owner.
  mutating func sweep() {
    for name in Array(feeds.keys) {
      guard var feed = feeds.removeValue(forKey: name) else { continue }
      // No other thread can get a reference meanwhile, because the owner of this value holds a lock.
      if isKnownUniquelyReferenced(&feed), feed.readerCount == 0 { continue }
      feeds[name] = feed
    }
  }

  /// The feed of a store; nil when it was never requested.
  func known(_ name: StoreName) -> ChangeFeed? { feeds[name] }

  /// All feeds that have readers, in no particular order.
  var read: [(name: StoreName, feed: ChangeFeed)] {
    feeds.filter { $0.value.readerCount > 0 }.map { ($0.key, $0.value) }
  }

  /// Removes a store's feed. The caller finishes it.
  mutating func remove(_ name: StoreName) -> ChangeFeed? { feeds.removeValue(forKey: name) }

  /// Removes all feeds; later ones are finished from the start. The caller finishes the removed ones.
  mutating func removeAll() -> [ChangeFeed] {
    isFinished = true
    defer { feeds = [:] }
    return Array(feeds.values)
  }
}
