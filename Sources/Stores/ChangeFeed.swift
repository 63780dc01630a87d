package import Documents
import NIOConcurrencyHelpers

/// Tells the readers of one store that something was committed, and nothing more: a wake-up carries
/// no payload and is coalesced, so that a slow reader costs one slot and loses no change (it
/// re-reads by sequence number).
package final class ChangeFeed: Sendable {
  private let readers = NIOLockedValueBox<Readers>(Readers())

  private struct Readers {
    var next: UInt64 = 0
    var open: [UInt64: AsyncStream<Void>.Continuation] = [:]
    var isFinished = false
  }

  /// A feed without readers.
  package init() {}

  /// Wakes every reader that is not awake already.
  package func wake() {
    // Outside the lock: to wake a task takes the task's own lock, which whoever cancels it holds while this
    // stream's end takes ours.
    let open = readers.withLockedValue { Array($0.open.values) }
    for continuation in open { continuation.yield() }
  }

  /// A stream of wake-ups; the first is there at once, so that a reader begins by reading.
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

  /// How many readers there are.
  package var readerCount: Int { readers.withLockedValue { $0.open.count } }

  /// Ends every reader's stream: the store is erased or the service stops.
  package func finish() {
    let open = readers.withLockedValue { readers in
      readers.isFinished = true
      defer { readers.open = [:] }
      return readers.open
    }
    for continuation in open.values { continuation.finish() }
  }
}

/// The feeds of all stores that are open or read: one object a name, however often the store is
/// closed and opened meanwhile.
struct ChangeFeeds: Sendable {
  private var feeds: [StoreName: ChangeFeed] = [:]
  private var threshold = 64
  private var isFinished = false

  /// How many feeds are kept.
  var count: Int { feeds.count }

  /// The feed of a store, one and the same until it is finished.
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

  /// Forgets the feeds that nobody holds, reads or can wake.
  mutating func sweep() {
    for name in Array(feeds.keys) {
      guard var feed = feeds.removeValue(forKey: name) else { continue }
      // Nobody else can come by a reference meanwhile: this value's owner holds a lock.
      if isKnownUniquelyReferenced(&feed), feed.readerCount == 0 { continue }
      feeds[name] = feed
    }
  }

  /// Forgets a store's feed; the caller finishes it.
  mutating func remove(_ name: StoreName) -> ChangeFeed? { feeds.removeValue(forKey: name) }

  /// Forgets every feed, for good; the caller finishes them.
  mutating func removeAll() -> [ChangeFeed] {
    isFinished = true
    defer { feeds = [:] }
    return Array(feeds.values)
  }
}

/// A rule that follows commits into any store, whatever route they took: where a commit concerns it, it
/// runs before the commit is acknowledged, and may commit more.
package struct CommitFollower: Sendable {
  /// Whether a mutation concerns it. Asked inside the transaction, so it must be quick; what it commits
  /// itself must not concern it for ever.
  package let concerns: @Sendable (Mutation) -> Bool
  /// Runs after such a commit, with the documents that concern it. What it throws is left to the next time: the commit before it stands.
  package let follow: @Sendable (DocumentStore, [DocumentID]) async throws -> Void
  /// Puts together again what can be derived, after revisions were lost to damage.
  package let restore: @Sendable (DocumentStore, [Damage]) async throws -> Void

  /// A rule that follows commits.
  package init(
    concerns: @escaping @Sendable (Mutation) -> Bool,
    follow: @escaping @Sendable (DocumentStore, [DocumentID]) async throws -> Void,
    restore: @escaping @Sendable (DocumentStore, [Damage]) async throws -> Void = {
      _, _ in
    }
  ) {
    self.concerns = concerns
    self.follow = follow
    self.restore = restore
  }

  /// None.
  package static let none = CommitFollower(concerns: { _ in false }, follow: { _, _ in })
}
