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
