import NIOConcurrencyHelpers

/// Feeds of stores that other processes change, too. Notices of changes may be lost, so the positions of all stores
/// with readers are compared from time to time.
extension DatabaseManager {
  /// How often positions are compared: every 4 seconds. So a waiting feed learns of a change within 5 seconds, even
  /// if every notice is lost.
  static let positionInterval = Duration.seconds(4)
  /// How many stores are asked about at once.
  private static let positionsAtOnce = 500

  /// Whether other processes use the same stores.
  package var isShared: Bool { engine.isShared }

  /// Where the feed of a store of a shared engine is; nil for an absent store.
  /// - Throws: the errors of the engine.
  package func position(of name: StoreName) async throws -> StorePosition? {
    try await engine.positions(of: [name]).first ?? nil
  }

  /// Wakes or ends the feeds that a change of another process concerns.
  func take(_ change: RemoteChange) {
    switch change {
    case .changed(let name): state.withLockedValue { $0.feeds.known(name) }?.wake()
    case .ended(let name): end(name)
    case .unknown:
      for (_, feed) in state.withLockedValue({ $0.feeds.read }) { feed.wake() }
    }
  }

  /// Compares positions until the task is cancelled.
  func findMissedChanges() async {
    var known: [StoreName: StorePosition] = [:]
    while (try? await clock.sleep(for: Self.positionInterval)) != nil {
      let feeds = state.withLockedValue { $0.feeds.read }
      var present: [StoreName: StorePosition] = [:]
      var index = 0
      while index < feeds.count {
        let page = feeds[index..<min(feeds.count, index + Self.positionsAtOnce)]
        index = page.endIndex
        // A database that does not answer is asked again later.
        guard let found = try? await engine.positions(of: page.map(\.name)),
          found.count == page.count
        else {
          for (name, _) in page { present[name] = known[name] }
          continue
        }
        for (entry, position) in zip(page, found) {
          compare(entry.name, entry.feed, known[entry.name], position)
          present[entry.name] = position
        }
      }
      known = present
    }
  }

  /// - Parameter former: the position at the last comparison; nil for a feed without one, whose reader may have
  ///   missed a change before.
  private func compare(
    _ name: StoreName, _ feed: ChangeFeed, _ former: StorePosition?, _ present: StorePosition?
  ) {
    guard former != present || former == nil else { return }
    if let former, former.epoch != present?.epoch { return end(name) }
    if present != nil { feed.wake() }
  }

  private func end(_ name: StoreName) {
    state.withLockedValue { $0.feeds.remove(name) }?.finish()
  }
}
