/// Readers of stores that other processes change, too. Notices of changes may be lost, so the positions of all stores with
/// readers are compared from time to time, and those that decide about rights more often.
extension DatabaseManager {
  /// How often the positions of stores are compared that decide who may read: twice a second. So a right that another
  /// process has ended is used for a second at most.
  static let rightsInterval = Duration.milliseconds(500)
  /// Every eighth time all positions are compared. So a waiting reader learns of a change within 5 seconds, even if every
  /// notice is lost.
  private static let roundsOfAll = 8
  /// How many stores are asked about at once.
  private static let positionsAtOnce = 500

  /// Whether other processes use the same stores.
  package var isShared: Bool { engine.isShared }

  /// Tells the readers whom a change of another process concerns.
  func take(_ change: RemoteChange) {
    switch change {
    case .changed(let name): subscriptions.wake(name)
    case .ended(let name): subscriptions.end(name)
    case .unknown: subscriptions.wakeAll()
    }
  }

  /// Compares positions until the task is cancelled.
  func findMissedChanges() async {
    var known: [StoreName: StorePosition?] = [:]
    var round = 0
    while (try? await clock.sleep(for: Self.rightsInterval)) != nil {
      round += 1
      let read = subscriptions.stores
      // Accounts and the members of lists are in the system store.
      let names = read.isEmpty ? [] : read.filter { $0 != .system } + [.system]
      let asked = round % Self.roundsOfAll == 0 ? names : names.filter(\.decidesRights)
      let present = Set(names)
      known = known.filter { present.contains($0.key) }
      for start in stride(from: 0, to: asked.count, by: Self.positionsAtOnce) {
        let page = Array(asked[start..<min(asked.count, start + Self.positionsAtOnce)])
        guard let found = try? await engine.positions(of: page), found.count == page.count else {
          // It is asked again later. Meanwhile each right is looked up.
          subscriptions.checkAllRights()
          continue
        }
        for (name, position) in zip(page, found) {
          compare(name, known[name], position)
          known[name] = position
        }
      }
    }
  }

  /// - Parameter former: the position at the last comparison; nil for a store whose readers may have missed a change
  ///   before.
  private func compare(_ name: StoreName, _ former: StorePosition??, _ present: StorePosition?) {
    if let former, former == present { return }
    if let former, let former, former.epoch != present?.epoch { return subscriptions.end(name) }
    if present != nil { subscriptions.wake(name) }
    if name == .system {
      subscriptions.checkAllRights()
    } else if name.decidesRights {
      subscriptions.checkRights(in: name)
    }
  }
}

extension StoreName {
  /// Whether documents of the store decide who may read: accounts, the members of lists, the security of a database.
  fileprivate var decidesRights: Bool {
    switch self {
    case .system, .named: true
    case .guest, .user, .list, .staged: false
    }
  }
}
